package cassette

import (
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"sync"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/clip"
	"github.com/kagewasm/kagewasm/internal/lists"
	"github.com/kagewasm/kagewasm/internal/set"
)

// Player answers calls from a recording, and from nowhere else. It is a
// runtime.Cassette.
type Player struct {
	name    string
	entries []entry
	lines   []int // of the file

	mu     sync.Mutex
	next   map[string][]int // entries by key: the next one to answer with is first
	missed []Miss
}

// Miss is a call that was not recorded.
type Miss struct {
	Op      abi.Op          `json:"op"`
	Request json.RawMessage `json:"request"`
	// Line of the nearest recorded call of the op in the file, 0 where there is
	// none, and what this one differs in from it.
	Line        int      `json:"line,omitempty"`
	Differences []string `json:"differences,omitempty"`
}

func (p *Player) add(e entry, line int) error {
	k, err := key(e.Op, e.Request)
	if err != nil {
		return err
	}
	p.next[k] = append(p.next[k], len(p.entries))
	p.entries, p.lines = append(p.entries, e), append(p.lines, line)
	return nil
}

// Answer answers from the recording.
func (p *Player) Answer(op abi.Op, request json.RawMessage, _ func() abi.HostResponse) abi.HostResponse {
	k, err := key(op, request)
	if err != nil {
		return abi.HostResponse{Error: abi.AsError(err)}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	list := p.next[k]
	if len(list) == 0 {
		m := p.miss(op, request)
		p.missed = append(p.missed, m)
		return abi.HostResponse{Error: m.err(p.name)}
	}
	if len(list) > 1 {
		p.next[k] = list[1:]
	}
	return p.entries[list[0]].answer()
}

// Missed returns the calls that were not recorded, in their order.
func (p *Player) Missed() []Miss {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.missed)
}

// Ops returns the ops that were recorded.
func (p *Player) Ops() map[abi.Op]bool {
	return set.Of(lists.Map(p.entries, func(e entry) abi.Op { return e.Op })...)
}

// Origins returns where the recorded HTTP requests went, as runtime.Grants names
// it. Requests without a valid URL are left out.
func (p *Player) Origins() []string {
	var list []string
	for _, e := range p.entries {
		var r abi.HTTPRequest
		if e.Op != abi.OpHTTP || json.Unmarshal(e.Request, &r) != nil {
			continue
		}
		if u, err := url.Parse(r.URL); err == nil && u.Host != "" && (u.Scheme == "http" || u.Scheme == "https") {
			list = append(list, u.Scheme+"://"+u.Host)
		}
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// miss finds the recorded call that is most like this one. The mutex is held.
func (p *Player) miss(op abi.Op, request json.RawMessage) Miss {
	m := Miss{Op: op, Request: request}
	asked, err := decode(request)
	if err != nil {
		return m
	}
	for i, e := range p.entries {
		recorded, err := decode(e.Request)
		if e.Op != op || err != nil {
			continue
		}
		if d := differences("", recorded, asked); m.Line == 0 || len(d) < len(m.Differences) {
			m.Line, m.Differences = p.lines[i], d
		}
	}
	return m
}

// An error names at most maxDifferences differences.
const maxDifferences = 3

func (m *Miss) err(name string) *abi.Error {
	return &abi.Error{
		Code: abi.CodeNotRecorded, Op: string(m.Op), Message: fmt.Sprintf("this call is not in the recording %s: %s", name,
			m.nearest()),
		Hint: "record again (--record FILE), or put the call into the file",
	}
}

// nearest says what is recorded instead.
func (m *Miss) nearest() string {
	if m.Line == 0 {
		return "it has none of this op"
	}
	shown := m.Differences[:min(len(m.Differences), maxDifferences)]
	text := fmt.Sprintf("the nearest is on line %d, but %s", m.Line, strings.Join(shown, ", and "))
	if more := len(m.Differences) - len(shown); more > 0 {
		text += fmt.Sprintf(", and %d more differences", more)
	}
	return text
}

// At most maxRequest characters of a request are shown.
const maxRequest = 120

// String says what was asked, and what is recorded instead.
func (m Miss) String() string {
	return fmt.Sprintf("%s %s: %s", m.Op, clip.CutChars(string(m.Request), maxRequest, "…"), m.nearest())
}
