package kagewasm_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	kagewasm "github.com/kagewasm/kagewasm"
	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/hooks"
	"github.com/kagewasm/kagewasm/internal/features"
)

// granted is an observer that is granted everything it could ask for.
func granted(name string, pre func(*abi.Input) (*abi.Output, error)) *fakePlugin {
	return &fakePlugin{Name: name, Pre: pre, Grants: abi.Capabilities}
}

// TestQuarantine (SECURITY: failing for ever): a compactor that fails, or
// whose proposals are refused, is left alone after three times; compaction goes
// on by the next in the chain, and the report says so.
func TestQuarantine(t *testing.T) {
	features.Proves(t, "K7")
	for why, pre := range map[string]func(*abi.Input) (*abi.Output, error){
		"it fails":                fails(abi.CodeTrap),
		"its proposal is refused": keepOnly("", func(m *abi.InputMessage) bool { return m.ID == "last" }),
	} {
		t.Run(why, func(t *testing.T) {
			p := compactor(pre)
			p.Post = answers(nil)
			b := hooks.NewBreaker(hooks.BreakerOptions{})
			var r kagewasm.Report
			for i := range 4 {
				// Each time another agent: what one learns holds for all.
				c := newCompactor(t, kagewasm.Options{Plugins: plugins(p), Breaker: b})
				req := request(400, chat(60))
				req.Session.ID = fmt.Sprint("s", i)
				r = compact(t, c, req).Report
				if !r.Compacted || !r.Fallback || r.Strategy != "drop" {
					t.Errorf("compaction %d: compacted %v, fallback %v, strategy %s", i, r.Compacted, r.Fallback, r.Strategy)
				}
				if c.Options().Breaker != b {
					t.Errorf("%s: not the breaker that was given", why)
				}
			}
			if n := len(p.Calls(abi.HookPreCompact)); n != 3 {
				t.Errorf("called %d times, want 3", n)
			}
			if len(r.Hooks) != 1 || r.Hooks[0].Outcome != "quarantined" || r.Hooks[0].Until == "" {
				t.Errorf("hooks %+v, once is enough", r.Hooks)
			}
			if len(r.Failures) != 1 || r.Failures[0].Code != abi.CodeQuarantined || r.Failures[0].Plugin != "comp" {
				t.Errorf("failures %v", r.Failures)
			}
		})
	}
}

// TestFailuresSayEverything: whatever fails, the report says which plugin, hook
// and phase, with a code and what to do.
func TestFailuresSayEverything(t *testing.T) {
	broken := map[string]kagewasm.Options{
		"an error of no kind": {Plugins: plugins(compactor(func(*abi.Input) (*abi.Output, error) {
			return nil, errors.New("odd")
		}))},
		"a panic": {Plugins: plugins(compactor(func(*abi.Input) (*abi.Output, error) { panic("odd") }))},
		"a deadline": {Plugins: plugins(compactor(func(*abi.Input) (*abi.Output, error) {
			return nil, context.DeadlineExceeded
		}))},
		"a trap, without more": {Plugins: plugins(compactor(func(*abi.Input) (*abi.Output, error) {
			return nil, &abi.Error{Code: abi.CodeTrap}
		}))},
		"a pinned message": {Plugins: plugins(compactor(keepOnly("", func(m *abi.InputMessage) bool {
			return m.ID == "last"
		})))},
		"a split unit": {Plugins: plugins(compactor(keepOnly("", func(m *abi.InputMessage) bool {
			return fixed(m) || m.ID == "t59"
		})))},
		"nothing superseded": {Plugins: plugins(compactor(keepOnly("", func(*abi.InputMessage) bool { return true })))},
		"too much kept": {Plugins: plugins(compactor(keepOnly("", func(m *abi.InputMessage) bool {
			return len(m.ID) != 2
		})))},
		"an empty summary": {Plugins: plugins(granted("obs", answers(&abi.Output{Summary: " "})))},
		"a fact not stored": {Plugins: plugins(granted("obs", answers(&abi.Output{Retain: []string{"f"}}))),
			Memory: brokenMemory{}},
		"after the compaction": {Plugins: plugins(&fakePlugin{Name: "obs", Post: fails(abi.CodeModel)})},
	}
	for why, opts := range broken {
		t.Run(why, func(t *testing.T) {
			r := compact(t, newCompactor(t, opts), request(400, chat(60))).Report
			if len(r.Failures) != 1 {
				t.Errorf("failures %v", r.Failures)
				return
			}
			if e := r.Failures[0]; e.Code == "" || e.Op == "" || e.Plugin == "" || e.Hook == "" || e.Phase == "" ||
				e.Hint == "" {
				t.Errorf("something is missing in %+v", e)
			}
		})
	}
	req := request(400, chat(60))
	req.Commit = func(context.Context, *kagewasm.Result) error { return errors.New("disk full") }
	if _, err := newCompactor(t, kagewasm.Options{}).Compact(context.Background(), req); abi.AsError(err).Hint == "" ||
		abi.AsError(err).Phase != abi.PhaseCommit {
		t.Errorf("a commit that failed: %+v", err)
	}
}

// TestReportOfHooks: the figures of each call stand beside its outcome, under
// the names that others read.
func TestReportOfHooks(t *testing.T) {
	r := compact(t, newCompactor(t, kagewasm.Options{Plugins: plugins(granted("obs", answers(nil)))}),
		request(400, chat(60))).Report
	doc, err := json.Marshal(r.Hooks[0])
	if err != nil {
		t.Fatal(err)
	}
	var fields map[string]any
	if err := json.Unmarshal(doc, &fields); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"plugin", "hook", "outcome", "ms", "fuel", "peak_memory_bytes"} {
		t.Run(name, func(t *testing.T) {
			if _, ok := fields[name]; !ok {
				t.Errorf("no %s in %s", name, doc)
			}
		})
	}
	if _, ok := fields["until"]; ok {
		t.Errorf("a plugin that works is in no quarantine: %s", doc)
	}
}

func TestObserverSummaryIsTheRecord(t *testing.T) {
	features.Proves(t, "O2")
	for _, c := range []struct {
		why     string
		plugins []*fakePlugin
		by      string // who made the plan; "" for drop
		refused string // whose proposals were not taken, in order
	}{
		{"granted, it takes the strategy's place",
			[]*fakePlugin{granted("a", answers(&abi.Output{Summary: "From a."}))}, "a", ""},
		{"the last wins, and the record names it", []*fakePlugin{granted("a", answers(&abi.Output{Summary: "From a."})),
			granted("b", answers(&abi.Output{Summary: "From b."}))}, "b", ""},
		{"where the last is refused the one before it is next",
			[]*fakePlugin{granted("a", answers(&abi.Output{Summary: "From a."})),
				granted("b", answers(&abi.Output{Summary: strings.Repeat("word ", 5000)}))}, "a", "b"},
		{"the compactor comes first", []*fakePlugin{compactor(keepOnly("From comp.", fixed)),
			granted("a", answers(&abi.Output{Summary: "From a."}))}, "comp", ""},
		{"and where it fails the observer's summary follows",
			[]*fakePlugin{compactor(fails(abi.CodeTrap)), granted("a", answers(&abi.Output{Summary: "From a."}))}, "a", "comp"},
		{"not granted, nothing comes of it", []*fakePlugin{{Name: "a", Pre: answers(&abi.Output{Summary: "From a."})}},
			"", ""},
		{"all refused, drop is left", []*fakePlugin{granted("a", answers(&abi.Output{Summary: " "})),
			granted("b", answers(&abi.Output{Summary: "\n"}))}, "", "b a"},
	} {
		t.Run(c.why, func(t *testing.T) {
			r := compact(t, newCompactor(t, kagewasm.Options{Plugins: plugins(c.plugins...)}), request(400, chat(60)))
			by := ""
			if r.Record.Strategy == "delegate" {
				by = r.Record.Source.Name
				if !strings.Contains(r.Messages[2].Text(), "From "+by+".") ||
					!strings.Contains(r.Messages[2].Text(), "plugin:"+by) {
					t.Errorf("the summary is %s", r.Messages[2].Text())
				}
			}
			var refused []string
			for _, e := range r.Report.Failures {
				refused = append(refused, e.Plugin)
			}
			if by != c.by || strings.Join(refused, " ") != c.refused || r.Report.Fallback != (c.refused != "") {
				t.Errorf("by %q, refused %q, fallback %v", by, refused, r.Report.Fallback)
			}
		})
	}
}

// TestPluginCancels: a cancel leaves the session as it is and
// says so, to plugins too; the fourth in a row is not listened to.
func TestPluginCancels(t *testing.T) {
	features.Proves(t, "T10", "O3", "O7")
	mem := memory{}
	p := granted("obs", answers(&abi.Output{Cancel: true, Reason: "in the middle of it", Retain: []string{"a fact"},
		Inject: "more"}))
	p.Post = answers(nil)
	comp := compactor(keepOnly("all of it", fixed))
	c := newCompactor(t, kagewasm.Options{Plugins: plugins(p, comp), Memory: mem})
	req := request(1450, chat(60)) // over the threshold, under the window
	req.Commit = func(context.Context, *kagewasm.Result) error { return nil }
	for i := range 3 {
		r := compact(t, c, req)
		if r.Report.Compacted || r.Report.ReasonCode != abi.ReasonCancelledByPlugin || r.Record != nil || r.Report.Fallback {
			t.Fatalf("cancel %d: %+v", i, r.Report)
		}
		if len(r.Messages) != len(req.Messages) || r.Report.TokensAfter != r.Report.TokensBefore ||
			!strings.Contains(r.Report.Reason, "obs") {
			t.Errorf("cancel %d: %d messages, reason %s", i, len(r.Messages), r.Report.Reason)
		}
		post := p.Calls(abi.HookPostCompact)
		if len(post) != i+1 || post[i].Record.Success || post[i].Record.ReasonCode != abi.ReasonCancelledByPlugin {
			t.Errorf("cancel %d: post_compact was told %+v", i, post)
		}
	}
	if len(comp.Asked) != 0 || len(mem) != 1 {
		t.Errorf("the compactor was asked %d times; stored %v", len(comp.Asked), mem)
	}
	r := compact(t, c, req).Report
	if !r.Compacted || r.Strategy != "delegate" || r.Hooks[0].Outcome != "overruled" {
		t.Errorf("the fourth: compacted %v by %s, %s", r.Compacted, r.Strategy, r.Hooks[0].Outcome)
	}

	over := compact(t, newCompactor(t, kagewasm.Options{Plugins: plugins(p)}), request(400, chat(60))).Report
	if !over.Compacted || over.Hooks[0].Outcome != "overruled" {
		t.Errorf("over the window: compacted %v, %s", over.Compacted, over.Hooks[0].Outcome)
	}
}

// TestTurnEnd: what plugins ask for at the end of a turn becomes one
// request, which compacts below the threshold too.
func TestTurnEnd(t *testing.T) {
	features.Proves(t, "O4", "T2")
	asks := func(instructions string) func(*abi.Input) (*abi.Output, error) {
		return answers(&abi.Output{RequestCompaction: &abi.CompactionRequest{Instructions: instructions},
			Retain: []string{instructions}})
	}
	a, b := granted("a", answers(nil)), granted("b", nil)
	a.Turn, b.Turn = asks("keep the ports"), asks("keep the paths")
	mem := memory{}
	c := newCompactor(t, kagewasm.Options{Plugins: plugins(a, b), Memory: mem})
	req := request(100_000, chat(60))
	req.Instructions = "as always"
	turn, err := c.TurnEnd(context.Background(), req)
	if err != nil {
		t.Fatal(err)
	}
	if w := turn.Wanted; w == nil || w.Reason != abi.TriggerPlugin || !w.Force ||
		w.Instructions != "as always\na: keep the ports\nb: keep the paths" {
		t.Fatalf("wanted %+v", turn.Wanted)
	}
	if len(turn.Wishes) != 2 || len(turn.Hooks) != 2 || len(turn.Retained) != 2 || len(mem) != 2 ||
		len(turn.Failures) != 0 {
		t.Errorf("turn %+v, stored %v", turn, mem)
	}
	if in := a.Asked[0]; in.Hook != abi.HookTurnEnd || len(in.Messages) != len(req.Messages) ||
		in.Trigger.Tokens == 0 || in.Trigger.Instructions != "as always" {
		t.Errorf("input %+v", in)
	}
	if n := len(a.Calls(abi.HookPreCompact)); n != 0 {
		t.Errorf("%d compactions before the turn was over", n)
	}
	r := compact(t, c, *turn.Wanted)
	if !r.Report.Compacted || r.Record.Trigger != abi.TriggerPlugin {
		t.Errorf("compacted %v, record %+v", r.Report.Compacted, r.Record)
	}
	if in := a.Calls(abi.HookPreCompact)[0]; in.Trigger.Reason != abi.TriggerPlugin ||
		in.Trigger.Instructions != turn.Wanted.Instructions {
		t.Errorf("pre_compact was told %+v", in.Trigger)
	}
	for i, want := range []bool{true, true, false, false} {
		t.Run(fmt.Sprintf("turn %d", i+2), func(t *testing.T) {
			turn, err := c.TurnEnd(context.Background(), req)
			if err != nil || (turn.Wanted != nil) != want {
				t.Errorf("turn %d: wanted %v, error %v", i+2, turn.Wanted, err)
			}
		})
	}
}

// TestTurnEndWithoutRequests: nobody asked, nobody may, nobody is there.
func TestTurnEndWithoutRequests(t *testing.T) {
	may := granted("a", nil)
	may.Turn = answers(nil)
	mayNot := &fakePlugin{Name: "a", Turn: answers(&abi.Output{RequestCompaction: &abi.CompactionRequest{}})}
	broken := granted("a", nil)
	broken.Turn = fails(abi.CodeTrap)
	for why, c := range map[string]struct {
		plugins         []*fakePlugin
		hooks, failures int
	}{
		"no plugin":                {nil, 0, 0},
		"none for this hook":       {[]*fakePlugin{granted("a", answers(nil))}, 0, 0},
		"it does not ask":          {[]*fakePlugin{may}, 1, 0},
		"it asks, and may not":     {[]*fakePlugin{mayNot}, 1, 0},
		"a failure is only a line": {[]*fakePlugin{broken}, 1, 1},
	} {
		t.Run(why, func(t *testing.T) {
			turn, err := newCompactor(t, kagewasm.Options{Plugins: plugins(c.plugins...)}).TurnEnd(context.Background(),
				request(100_000, chat(60)))
			if err != nil || turn.Wanted != nil || len(turn.Hooks) != c.hooks || len(turn.Failures) != c.failures {
				t.Errorf("%+v, %v", turn, err)
			}
		})
	}
	if len(mayNot.Asked) != 1 {
		t.Error("a capability is about what comes of it, not about being called")
	}
	bad := request(400, []abi.Message{{Role: "usr"}})
	if _, err := newCompactor(t, kagewasm.Options{Plugins: plugins(may)}).TurnEnd(context.Background(),
		bad); abi.CodeOf(err) != abi.CodeUsage {
		t.Errorf("a request that makes no sense: %v", err)
	}
}

// TestPolicyHammer is for the race detector: sessions of two compactors that
// share a breaker, with plugins that fail, cancel, ask and propose.
func TestPolicyHammer(t *testing.T) {
	b := hooks.NewBreaker(hooks.BreakerOptions{Cooldown: time.Nanosecond})
	list := []*fakePlugin{
		granted("cancels", answers(&abi.Output{Cancel: true})),
		granted("sums", answers(&abi.Output{Summary: "all is well"})),
		granted("fails", fails(abi.CodeTrap)),
		compactor(keepOnly("", func(*abi.InputMessage) bool { return true })),
	}
	list[0].Turn = answers(&abi.Output{RequestCompaction: &abi.CompactionRequest{}})
	cs := []*kagewasm.Compactor{
		newCompactor(t, kagewasm.Options{Plugins: plugins(list...), Breaker: b}),
		newCompactor(t, kagewasm.Options{Plugins: plugins(list[1:]...), Breaker: b}),
	}
	var wg sync.WaitGroup
	for g := range 8 {
		wg.Go(func() {
			req := request(1450, chat(60))
			req.Session.ID = fmt.Sprint("s", g%4)
			for i := range 10 {
				r, err := cs[(g+i)%2].Compact(context.Background(), req)
				if err != nil || !r.Report.Compacted && r.Report.ReasonCode != abi.ReasonCancelledByPlugin {
					t.Errorf("%v, %+v", err, r.Report.Reason)
				}
				if _, err := cs[0].TurnEnd(context.Background(), req); err != nil {
					t.Error(err)
				}
				for _, o := range r.Report.Hooks {
					if healthy := o.Plugin == "cancels" || o.Plugin == "sums"; healthy && o.Until != "" {
						t.Errorf("a plugin that works is in quarantine: %+v", o)
					}
				}
			}
		})
	}
	wg.Wait()
}
