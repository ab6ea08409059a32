package memory

import (
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/strategies/ledger"
	"github.com/kagewasm/kagewasm/strategies/redact"
)

// maxText is how much of a message is retained, in bytes: what is longer is
// pasted. maxCall is how much of a tool call, and maxResult of what came of it.
const (
	maxText   = 16 << 10
	maxCall   = 200
	maxResult = 400
)

// read is what each message says that is worth keeping, without secrets: the
// words of people and of the agent, and where the knobs ask for it what tools
// were called for. It is empty for all others: what a harness, a summary or a
// memory says is nobody's word.
//
// Messages come without their bodies, and those alone are fetched that matter:
// most of a session is what tools said.
func (p *pass) read() []string {
	if p.texts != nil {
		return p.texts
	}
	p.texts = make([]string, len(p.msgs))
	calls := newCalls(p.set.toolCalls)
	var ids []string
	index := make(map[string]int)
	for i := range p.msgs {
		if m := &p.msgs[i]; isSaid(m) || calls.wants(m) {
			ids, index[m.ID] = append(ids, m.ID), i
		}
	}
	for m, err := range p.Bodies(ids...) {
		if err != nil {
			p.warn("reading the session", err)
			break
		}
		i := index[m.ID]
		calls.add(m, i)
		if isSaid(&m.Message) {
			p.texts[i] = worth(m.Text())
		}
	}
	for i, lines := range calls.lines() {
		p.texts[i] = clip(strings.TrimSpace(p.texts[i]+"\n"+redacted(lines)), maxText)
	}
	return p.texts
}

// isSaid reports whether a message is a person's or the agent's own word.
func isSaid(m *abi.Message) bool {
	return m.Kind == "" && (m.Role == abi.RoleUser || m.Role == abi.RoleAssistant)
}

// worth is a text as it is kept.
func worth(text string) string {
	text = strings.TrimSpace(abi.Defuse(text))
	if _, framed := abi.Unfence(text); framed {
		return "" // a summary or a memory that lost its kind on the way
	}
	return clip(redacted(text), maxText)
}

// redactor takes secrets out of texts. A guest is a new instance in every
// call, so it is made when first needed.
var redactor = sync.OnceValue(func() *redact.Redactor {
	r, err := redact.New(nil)
	if err != nil {
		panic(err) // the defaults compile, or no test passes
	}
	return r
})

func redacted(text string) string {
	text, _ = redactor().Redact(text)
	return text
}

// oneLine is a text on one line.
func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

// clip is at most the first n bytes of s, and says that there were more.
func clip(s string, n int) string {
	const more = "…"
	if len(s) <= n {
		return s
	}
	for n = max(0, n-len(more)); n > 0 && !utf8.RuneStart(s[n]); n-- {
	}
	return s[:n] + more
}

// calls gathers tool calls: a line for each, with the beginning of what came of
// it.
type calls struct {
	on   bool
	at   map[int]int    // the message that makes the calls, by unit
	list map[int][]line // by unit
}

type line struct{ id, call, result string }

func newCalls(on bool) *calls {
	return &calls{on: on, at: make(map[int]int), list: make(map[int][]line)}
}

// wants reports whether a message tells of a tool call.
func (c *calls) wants(m *abi.Message) bool {
	return c.on && (m.Role == abi.RoleTool || len(m.ToolCalls) > 0)
}

func (c *calls) add(m *abi.InputMessage, i int) {
	if !c.wants(&m.Message) {
		return
	}
	for _, call := range m.ToolCalls {
		c.at[m.Unit] = i
		c.list[m.Unit] = append(c.list[m.Unit], line{id: call.ID, call: call.Name + ": " + clip(oneLine(ledger.Subject(call.Arguments)), maxCall)})
	}
	if m.Role == abi.RoleTool {
		for k := range c.list[m.Unit] {
			if l := &c.list[m.Unit][k]; l.id == m.ToolCallID && l.result == "" {
				l.result = clip(oneLine(abi.Defuse(clip(m.Text(), 4*maxResult))), maxResult)
				break
			}
		}
	}
}

// lines are the calls of each message that made some.
func (c *calls) lines() map[int]string {
	of := make(map[int]string)
	for unit, list := range c.list {
		var b strings.Builder
		for _, l := range list {
			b.WriteString("[" + l.call + "]")
			if l.result != "" {
				b.WriteString(" → " + l.result)
			}
			b.WriteString("\n")
		}
		of[c.at[unit]] = strings.TrimSpace(b.String())
	}
	return of
}
