package kagewasm_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	kagewasm "github.com/kagewasm/kagewasm"
	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/models"
)

// wordCounter counts words, so that tests can see their figures.
type wordCounter struct{}

func (wordCounter) Text(s string) int { return len(strings.Fields(s)) }

func (c wordCounter) Message(m *abi.Message) int {
	n := 1 + c.Text(m.Text())
	for _, call := range m.ToolCalls {
		n += 1 + c.Text(call.Arguments)
	}
	return n
}

// fakePlugin answers hooks with functions, and remembers what it was asked.
type fakePlugin struct {
	name  string
	roles []abi.PluginRole
	pre   func(*abi.Input) (*abi.Output, error)
	post  func(*abi.Input) (*abi.Output, error)
	turn  func(*abi.Input) (*abi.Output, error)
	// granted are its capabilities.
	granted []abi.Capability

	mu    sync.Mutex
	asked []*abi.Input
}

func (p *fakePlugin) Manifest() *abi.Manifest {
	return &abi.Manifest{Name: p.name, Version: "1", ABI: abi.Version, Roles: p.roles}
}

func (p *fakePlugin) Digest() string { return "" }

func (p *fakePlugin) Granted(c abi.Capability) bool { return slices.Contains(p.granted, c) }

func (p *fakePlugin) Hooks() []abi.Hook {
	var hooks []abi.Hook
	if p.pre != nil {
		hooks = append(hooks, abi.HookPreCompact)
	}
	if p.post != nil {
		hooks = append(hooks, abi.HookPostCompact)
	}
	if p.turn != nil {
		hooks = append(hooks, abi.HookTurnEnd)
	}
	return hooks
}

func (p *fakePlugin) Call(_ context.Context, in *abi.Input) (*abi.Output, abi.CallStats, error) {
	p.mu.Lock()
	p.asked = append(p.asked, in)
	p.mu.Unlock()
	handle := map[abi.Hook]func(*abi.Input) (*abi.Output, error){
		abi.HookPreCompact: p.pre, abi.HookPostCompact: p.post, abi.HookTurnEnd: p.turn,
	}[in.Hook]
	out, err := handle(in)
	return out, abi.CallStats{MS: 1}, err
}

func (p *fakePlugin) calls(h abi.Hook) (list []*abi.Input) {
	for _, in := range p.asked {
		if in.Hook == h {
			list = append(list, in)
		}
	}
	return list
}

func answers(out *abi.Output) func(*abi.Input) (*abi.Output, error) {
	return func(*abi.Input) (*abi.Output, error) { return out, nil }
}

func fails(code abi.Code) func(*abi.Input) (*abi.Output, error) {
	return func(*abi.Input) (*abi.Output, error) {
		return nil, &abi.Error{Code: code, Phase: abi.PhaseCall, Message: "on purpose"}
	}
}

// memory is a Memory that tests can look into.
type memory map[string]string

func (m memory) Set(_ context.Context, ns, key, value string) error {
	m[ns+"/"+key] = value
	return nil
}

func newCompactor(t *testing.T, opts kagewasm.Options) *kagewasm.Compactor {
	t.Helper()
	if opts.Counter == nil {
		opts.Counter = wordCounter{}
	}
	if opts.TooLong == nil {
		opts.TooLong = models.TooLong
	}
	opts.Now = func() time.Time { return time.Date(2026, 3, 14, 15, 9, 26, 0, time.UTC) }
	c, err := kagewasm.New(opts)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func compact(t *testing.T, c *kagewasm.Compactor, req kagewasm.Request) *kagewasm.Result {
	t.Helper()
	r, err := c.Compact(context.Background(), req)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// request is a session in a window of that many words.
func request(window int, msgs []abi.Message) kagewasm.Request {
	return kagewasm.Request{Session: abi.Session{ID: "s1", ContextWindow: &window}, Messages: msgs}
}

// chat is a system prompt, a goal, and n exchanges of a tool call with its
// result (about 24 words each), and a last word from the person.
func chat(n int) []abi.Message {
	msgs := []abi.Message{
		{ID: "sys", Role: abi.RoleSystem, Content: abi.Text("You are careful.")},
		{ID: "goal", Role: abi.RoleUser, Content: abi.Text("Make the tests pass.")},
	}
	for i := range n {
		call := fmt.Sprintf("c%d", i)
		msgs = append(msgs,
			abi.Message{ID: fmt.Sprintf("a%d", i), Role: abi.RoleAssistant, Content: abi.Text(fmt.Sprintf("Looking at step %d of the work now.", i)),
				ToolCalls: []abi.ToolCall{{ID: call, Name: "run", Arguments: fmt.Sprintf(`{"command": "go test ./step%d"}`, i)}}},
			abi.Message{ID: fmt.Sprintf("t%d", i), Role: abi.RoleTool, ToolCallID: call, Content: abi.Text(fmt.Sprintf("ok step%d in pkg/step%d/run.go at line %d", i, i, 100+i))})
	}
	return append(msgs, abi.Message{ID: "last", Role: abi.RoleUser, Content: abi.Text("Go on please.")})
}

func ids(msgs []abi.Message) string {
	list := make([]string, len(msgs))
	for i := range msgs {
		list[i] = msgs[i].ID
	}
	return strings.Join(list, " ")
}

func has(msgs []abi.Message, id string) bool {
	for i := range msgs {
		if msgs[i].ID == id {
			return true
		}
	}
	return false
}

func ptr[T any](v T) *T { return &v }
