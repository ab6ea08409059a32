package demogen

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/kagewasm/kagewasm/abi"
)

// player turns events into messages. Its clock moves with what is said: the
// same script gives the same session.
type player struct {
	tree  Tree
	clock time.Time
	seed  string // of the ids of calls
	msgs  []abi.Message
	// pending are the results of the calls of the last say: they stand after
	// it, in the order of the calls.
	pending []result
	calls   int
	// until stops the player before the event on that line; 0 is the end.
	until int
}

type result struct {
	text  string
	ok    bool
	took  time.Duration
	never bool // the call is never answered
}

// play runs a script.
func (p *player) play(script []byte) error {
	for _, e := range parse(script) {
		if p.until > 0 && e.line >= p.until {
			break
		}
		if err := p.step(&e); err != nil {
			return fmt.Errorf("line %d: %s: %w", e.line, e.verb, err)
		}
	}
	p.answer()
	return nil
}

func (p *player) step(e *event) error {
	switch e.verb {
	case "meta", "system", "user", "say":
		p.answer()
		return p.message(e)
	}
	if n := len(p.msgs); n == 0 || p.msgs[n-1].Role != abi.RoleAssistant {
		return errors.New("no say above it")
	}
	if arg := e.unknown(); arg != "" {
		return fmt.Errorf("%s means nothing", arg)
	}
	return p.call(e)
}

// message adds a message. "+3m" among the arguments is how long it took.
func (p *player) message(e *event) error {
	m := abi.Message{Role: abi.Role(e.verb), Content: abi.Text(e.body)}
	wait := time.Duration(0)
	switch e.verb {
	case "meta":
		m.Role, m.Kind = abi.RoleUser, abi.KindMeta
	case "say":
		m.Role = abi.RoleAssistant
		wait = 4*time.Second + time.Duration(len(e.body))*31*time.Millisecond
	}
	for _, arg := range e.args {
		if !strings.HasPrefix(arg, "+") {
			continue
		}
		var err error
		if wait, err = time.ParseDuration(arg[1:]); err != nil {
			return err
		}
	}
	p.add(m, wait)
	return nil
}

func (p *player) add(m abi.Message, wait time.Duration) {
	p.clock = p.clock.Add(wait)
	m.ID = fmt.Sprintf("msg_%03d", len(p.msgs)+1)
	m.Timestamp = p.clock.Format("2006-01-02T15:04:05.000Z07:00")
	p.msgs = append(p.msgs, m)
}

// answer adds the results of the last say's calls.
func (p *player) answer() {
	if len(p.pending) == 0 {
		return
	}
	calls := p.msgs[len(p.msgs)-1].ToolCalls
	for i, r := range p.pending {
		if r.never {
			continue
		}
		m := abi.Message{Role: abi.RoleTool, ToolCallID: calls[i].ID, Name: calls[i].Name, IsError: !r.ok, Content: abi.Text(r.text)}
		p.add(m, r.took)
	}
	p.pending = nil
}

// callID is the id of the nth call, the same in every run.
func (p *player) callID(n int) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%s/%d", p.seed, n))
	return fmt.Sprintf("call_%x", sum[:6])
}
