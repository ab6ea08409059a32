package kagewasm_test

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	kagewasm "github.com/kagewasm/kagewasm"
	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/features"
	"github.com/kagewasm/kagewasm/internal/hosttest"
	"github.com/kagewasm/kagewasm/strategies"
)

// pinner pins and releases what a test says, by the number of the compaction.
type pinner struct {
	pins, releases map[int][]string
	n              int
}

func (p *pinner) plugin(name string) *fakePlugin {
	return &fakePlugin{Name: name, Pre: func(*abi.Input) (*abi.Output, error) {
		p.n++
		return &abi.Output{AlwaysKeep: p.pins[p.n], Release: p.releases[p.n]}, nil
	}}
}

// chain compacts a session so many times, with as many new messages between, and
// returns the results.
func chain(t *testing.T, n int, req func(i int, r *kagewasm.Request), list ...*fakePlugin) (all []*kagewasm.Result) {
	t.Helper()
	c := newCompactor(t, kagewasm.Options{Plugins: hosttest.Plugins(list...)})
	msgs := chat(60)
	for i := range n {
		r := request(500, msgs)
		if req != nil {
			req(i+1, &r)
		}
		result := compact(t, c, r)
		if !result.Report.Compacted {
			t.Fatalf("compaction %d: %s", i+1, result.Report.Reason)
		}
		all = append(all, result)
		msgs = append(slices.Clip(result.Messages), renamed(chat(60)[2:], fmt.Sprintf("n%d-", i))...)
	}
	return all
}

// TestPinsOfPluginsLast: what a plugin pinned once is there after five
// compactions, byte for byte, and its whole unit with it.
func TestPinsOfPluginsLast(t *testing.T) {
	features.Proves(t, "K10", "complaint 8")
	was := chat(60)
	for i, r := range chain(t, 5, nil, (&pinner{pins: map[int][]string{1: {"t30"}}}).plugin("rules")) {
		t.Run(fmt.Sprintf("compaction %d", i+1), func(t *testing.T) {
			for _, m := range was {
				if m.ID != "a30" && m.ID != "t30" {
					continue
				}
				at := slices.IndexFunc(r.Messages, func(o abi.Message) bool { return o.ID == m.ID })
				if at < 0 || !reflect.DeepEqual(r.Messages[at], m) {
					t.Errorf("%s is gone, or another one", m.ID)
				}
			}
			if !slices.Contains(r.Report.Pinned, "t30") {
				t.Errorf("the report does not say that it is pinned: %v", r.Report.Pinned)
			}
		})
	}
}

// TestPinsEnd: a pin ends where the plugin that made it takes it back, or the
// request does, and not before.
func TestPinsEnd(t *testing.T) {
	features.Proves(t, "K10")
	pinned := map[int][]string{1: {"t30"}}
	for name, c := range map[string]struct {
		why     string
		plugins []*fakePlugin
		req     func(i int, r *kagewasm.Request)
		last    int // the last compaction after which the message is there
		warning string
	}{
		"by the plugin": {"what the plugin releases may go",
			[]*fakePlugin{(&pinner{pins: pinned, releases: map[int][]string{3: {"t30"}}}).plugin("rules")}, nil, 2, ""},
		"by another plugin": {"a plugin releases what it pinned itself, and no more",
			[]*fakePlugin{(&pinner{pins: pinned}).plugin("rules"),
				(&pinner{releases: map[int][]string{2: {"t30"}, 3: {"t30"}}}).plugin("other")}, nil, 4,
			`release of "t30": the plugin has not pinned it`},
		"one of two": {"what two pinned stays as long as one of them wants it",
			[]*fakePlugin{(&pinner{pins: pinned}).plugin("rules"),
				(&pinner{pins: map[int][]string{2: {"t30"}}, releases: map[int][]string{3: {"t30"}}}).plugin("other")}, nil, 4, ""},
		"by the request": {"a person has the last word, also where the plugin pins it again",
			[]*fakePlugin{(&pinner{pins: map[int][]string{1: {"t30"}, 3: {"t30"}}}).plugin("rules")},
			func(i int, r *kagewasm.Request) {
				if i == 3 {
					r.Release = []string{"t30"}
				}
			}, 2, `always_keep of "t30": the request releases it`},
	} {
		t.Run(name, func(t *testing.T) {
			results, warned := chain(t, 4, c.req, c.plugins...), false
			for i, r := range results {
				if has(r.Messages, "t30") != (i+1 <= c.last) {
					t.Errorf("%s: after compaction %d it is there: %v", c.why, i+1, has(r.Messages, "t30"))
				}
				for _, h := range r.Report.Hooks {
					warned = warned || slices.Contains(h.Warnings, c.warning)
				}
			}
			if c.warning != "" && !warned {
				t.Errorf("nobody was told: %s", c.warning)
			}
		})
	}
}

// TestReleaseOfWhatIsNotPinned is a mistake that is told.
func TestReleaseOfWhatIsNotPinned(t *testing.T) {
	features.Proves(t, "K10")
	req := request(500, chat(60))
	req.Release = []string{"t30"}
	if _, err := newCompactor(t, kagewasm.Options{}).Compact(t.Context(), req); abi.CodeOf(err) != abi.CodeUsage {
		t.Errorf("%v", err)
	}
}

// TestPinsLeaveRoom: a plugin that pins more at each compaction does not fill the
// session: beyond half of what is left after one its pins hold for that one alone,
// and it is told.
func TestPinsLeaveRoom(t *testing.T) {
	features.Proves(t, "K10", "complaint 1")
	greedy := &fakePlugin{Name: "greedy", Pre: func(in *abi.Input) (*abi.Output, error) {
		out := new(abi.Output)
		for _, m := range in.Messages {
			if m.Role == abi.RoleTool && !m.Pinned && len(out.AlwaysKeep) < 3 {
				out.AlwaysKeep = append(out.AlwaysKeep, m.ID)
			}
		}
		return out, nil
	}}
	warned := false
	for i, r := range chain(t, 8, nil, greedy) {
		if r.Report.TokensAfter > r.Report.Target {
			t.Errorf("compaction %d: %d tokens, for %d", i+1, r.Report.TokensAfter, r.Report.Target)
		}
		warned = warned || strings.Contains(strings.Join(r.Report.Hooks[0].Warnings, "\n"), "for this compaction only")
	}
	if !warned {
		t.Error("the plugin was not told that its pins do not last")
	}
}

// TestPinsNeedACompaction: where none is made the session stays as it is.
func TestPinsNeedACompaction(t *testing.T) {
	features.Proves(t, "K10")
	p := (&pinner{pins: map[int][]string{1: {"t30"}}}).plugin("rules")
	p.Grants, p.Roles = []abi.Capability{abi.CapCompactionSummary}, []abi.PluginRole{abi.RoleObserver}
	pre := p.Pre
	p.Pre = func(in *abi.Input) (*abi.Output, error) {
		out, err := pre(in)
		out.Cancel = true
		return out, err
	}
	msgs := chat(60)
	r := compact(t, newCompactor(t, kagewasm.Options{Plugins: plugins(p)}), request(1500, msgs))
	if r.Report.Compacted || !reflect.DeepEqual(r.Messages, msgs) {
		t.Errorf("%s: the session changed", r.Report.Reason)
	}
}

// TestPredicatesKnowTheToolOfAResult: a result that names no tool, as in many logs, is kept by what its call names.
func TestPredicatesKnowTheToolOfAResult(t *testing.T) {
	features.Proves(t, "K10")
	msgs := chat(60)
	for i := range msgs {
		if msgs[i].Role == abi.RoleTool {
			msgs[i].Name = ""
		}
	}
	tool := ""
	for i := range msgs {
		for _, c := range msgs[i].ToolCalls {
			tool = c.Name
		}
	}
	one := func(m *abi.Message) bool { return m.ID == "t30" && m.Name == tool }
	c := newCompactor(t, kagewasm.Options{Policy: kagewasm.Policy{
		Keep: strategies.KeepConfig{Always: []func(*abi.Message) bool{one}}}})
	result := compact(t, c, request(500, msgs))
	stays := slices.ContainsFunc(result.Messages, func(m abi.Message) bool { return m.ID == "t30" })
	if tool == "" || !result.Report.Compacted || !stays {
		t.Errorf("results of %q: %s; it stays: %v", tool, result.Report.Reason, stays)
	}
}
