package kagewasm_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	kagewasm "github.com/kagewasm/kagewasm"
	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/features"
	"github.com/kagewasm/kagewasm/strategies"
)

// keepOnly proposes the list of the input messages that keep says true to, and
// one summary behind the goal.
func keepOnly(summary string, keep func(*abi.InputMessage) bool) func(*abi.Input) (*abi.Output, error) {
	return func(in *abi.Input) (*abi.Output, error) {
		out := &abi.Output{Messages: []abi.OutputMessage{}}
		for i := range in.Messages {
			m := &in.Messages[i]
			if !keep(m) {
				out.Superseded = append(out.Superseded, m.ID)
				continue
			}
			out.Messages = append(out.Messages, abi.OutputMessage{Ref: m.ID})
			if m.ID == "goal" && summary != "" {
				out.Messages = append(out.Messages,
					abi.OutputMessage{Message: abi.Message{Role: abi.RoleUser, Kind: abi.KindSummary, Content: abi.Text(summary)}})
			}
		}
		return out, nil
	}
}

func fixed(m *abi.InputMessage) bool { return m.Pinned || m.ID == "last" }

func TestCompactorReplacesTheStrategy(t *testing.T) {
	features.Proves(t, "K6")
	p := compactor(keepOnly("Forty steps went well.", fixed))
	r := compact(t, newCompactor(t, kagewasm.Options{Plugins: plugins(p)}), request(400, chat(60)))
	if r.Report.Strategy != "delegate" || r.Report.Source.Name != "comp" || r.Report.Fallback {
		t.Fatalf("strategy %s, source %+v, failures %v", r.Report.Strategy, r.Report.Source, r.Report.Failures)
	}
	if len(r.Messages) != 4 || !strings.Contains(r.Messages[2].Text(), "Forty steps went well.") {
		t.Errorf("list %s: %s", ids(r.Messages), r.Messages[2].Text())
	}
	if text := r.Messages[2].Text(); !strings.Contains(text, "plugin:comp") ||
		!strings.Contains(text, "not an instruction") {
		t.Errorf("the frame does not say where the text is from: %s", text)
	}
}

func TestFailuresFallBackToDrop(t *testing.T) {
	features.Proves(t, "K7")
	lists := map[string]struct {
		pre  func(*abi.Input) (*abi.Output, error)
		code abi.Code
	}{
		"an error": {fails(abi.CodeTrap), abi.CodeTrap},
		"a deadline": {func(*abi.Input) (*abi.Output, error) {
			return nil, context.DeadlineExceeded
		}, abi.CodeDeadline},
		"an error of no kind": {func(*abi.Input) (*abi.Output, error) {
			return nil, errors.New("odd")
		}, abi.CodeInternal},
		"a pinned message gone": {keepOnly("", func(m *abi.InputMessage) bool { return m.ID == "last" }), abi.CodePinned},
		"the turn gone":         {keepOnly("", func(m *abi.InputMessage) bool { return m.Pinned }), abi.CodeCurrentTurn},
		"a unit split": {keepOnly("", func(m *abi.InputMessage) bool {
			return fixed(m) || m.ID == "t59"
		}), abi.CodeSplitUnit},
		"everything kept": {keepOnly("", func(*abi.InputMessage) bool { return true }), abi.CodeGrew},
		"too much kept": {keepOnly("", func(m *abi.InputMessage) bool {
			return len(m.ID) != 2
		}), abi.CodeOverTarget},
		"a summary that is huge":  {keepOnly(strings.Repeat("word ", 5000), fixed), abi.CodeGrew},
		"a summary that is large": {keepOnly(strings.Repeat("word ", 600), fixed), abi.CodeOverTarget},
		"what goes not stored":    {unstored(keepOnly("", fixed)), abi.CodeState},
		"a letter for a session":  {answers(&abi.Output{Summary: "x"}), abi.CodeBadSummary},
		"a list with a letter":    {keepOnly(" x\n", fixed), abi.CodeBadSummary},
		"an empty summary":        {answers(&abi.Output{Summary: " \n"}), abi.CodeBadOutput},
	}
	for name, c := range lists {
		t.Run(name, func(t *testing.T) {
			p := compactor(c.pre)
			r := compact(t, newCompactor(t, kagewasm.Options{Plugins: plugins(p)}), request(400, chat(60))).Report
			if !r.Compacted || !r.Fallback || r.Strategy != "drop" {
				t.Errorf("compacted %v, fallback %v, strategy %s", r.Compacted, r.Fallback, r.Strategy)
				return
			}
			if len(r.Failures) != 1 || r.Failures[0].Code != c.code || r.Failures[0].Plugin != "comp" ||
				r.Failures[0].Hook != abi.HookPreCompact || r.Failures[0].Phase == "" {
				t.Errorf("failures %+v, want one of code %s", r.Failures, c.code)
			}
		})
	}
}

// unstored is a plugin's answer with a memory that could not be stored.
func unstored(pre func(*abi.Input) (*abi.Output, error)) func(*abi.Input) (*abi.Output, error) {
	return func(in *abi.Input) (*abi.Output, error) {
		out, err := pre(in)
		out.Unstored = "the disk is full"
		return out, err
	}
}

// TestCompactorBesideAnObserver: what an observer injects is reserved, so that a
// compactor that fills its budget still fits.
func TestCompactorBesideAnObserver(t *testing.T) {
	fill := compactor(func(in *abi.Input) (*abi.Output, error) {
		left := in.Budget.TargetTokens
		for i := range in.Messages {
			if m := &in.Messages[i]; fixed(m) {
				left -= m.Tokens
			}
		}
		first := len(in.Messages) - 1
		for first > 3 && left >= in.Messages[first-1].Tokens+in.Messages[first-2].Tokens {
			left -= in.Messages[first-1].Tokens + in.Messages[first-2].Tokens
			first -= 2
		}
		keep := make(map[string]bool)
		for i := first; i < len(in.Messages); i++ {
			keep[in.Messages[i].ID] = true
		}
		return keepOnly("", func(m *abi.InputMessage) bool { return fixed(m) || keep[m.ID] })(in)
	})
	obs := &fakePlugin{Name: "obs", Pre: answers(&abi.Output{Inject: strings.Repeat("recalled ", 200)})}
	r := compact(t, newCompactor(t, kagewasm.Options{Plugins: plugins(obs, fill),
		Policy: kagewasm.Policy{Note: strategies.NoteConfig{Tokens: -1}}}), request(1200, chat(90))).Report
	if r.Strategy != "delegate" || len(r.Inserted) != 2 || r.TokensAfter > r.Target {
		t.Errorf("strategy %s, inserted %v, %d of %d, failures %v", r.Strategy, r.Inserted, r.TokensAfter, r.Target,
			r.Failures)
	}
}

// TestAPlanOfAllThatMayGoIsTaken: where what has to stay is near the target, what the
// note and observers were promised fits together, so that no plan is refused for it.
func TestAPlanOfAllThatMayGoIsTaken(t *testing.T) {
	drops := compactor(keepOnly("", func(m *abi.InputMessage) bool { return m.Pinned || strings.HasPrefix(m.ID, "big") }))
	obs := &fakePlugin{Name: "obs", Pre: answers(&abi.Output{Inject: strings.Repeat("recalled ", 400)})}
	for big := 100; big < 900; big += 20 {
		t.Run(fmt.Sprint(big, " words"), func(t *testing.T) {
			msgs := append(chat(60), abi.Message{ID: "big", Role: abi.RoleUser, Content: abi.Text(strings.Repeat("word ", big))})
			r := compact(t, newCompactor(t, kagewasm.Options{Plugins: plugins(obs, drops)}), request(1600, msgs)).Report
			if r.Fallback || r.Strategy != "delegate" {
				t.Errorf("strategy %s, %d of %d tokens, failures %v", r.Strategy, r.TokensAfter, r.Target, r.Failures)
			}
		})
	}
}

// brokenMemory takes nothing.
type brokenMemory struct{}

func (brokenMemory) Set(context.Context, string, string, string) error {
	return errors.New("disk full")
}

// TestRetainFailuresAreTold, whichever hook retained.
func TestRetainFailuresAreTold(t *testing.T) {
	for _, hook := range []abi.Hook{abi.HookPreCompact, abi.HookPostCompact} {
		t.Run(string(hook), func(t *testing.T) {
			p := &fakePlugin{Name: "obs"}
			if hook == abi.HookPreCompact {
				p.Pre = answers(&abi.Output{Retain: []string{"a", "b"}})
			} else {
				p.Post = answers(&abi.Output{Retain: []string{"a", "b"}})
			}
			r := compact(t, newCompactor(t, kagewasm.Options{Plugins: plugins(p), Memory: brokenMemory{}}),
				request(400, chat(60))).Report
			if len(r.Failures) != 1 || r.Failures[0].Op != "retain" || r.Failures[0].Plugin != "obs" {
				t.Errorf("%s: failures %v", hook, r.Failures)
			}
		})
	}
}

// slowMemory takes a third of a second for a value.
type slowMemory struct{ memory }

func (m slowMemory) Set(ctx context.Context, ns, key, value string) error {
	time.Sleep(time.Second / 3)
	return m.memory.Set(ctx, ns, key, value)
}

// TestSlowStoreLosesNothing: what a store takes is none of the time in which secrets are looked for.
func TestSlowStoreLosesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		facts := []string{"a", "b", "c", "d", "e", "f"}
		mem := slowMemory{memory{}}
		p := &fakePlugin{Name: "obs", Pre: answers(&abi.Output{Retain: facts})}
		r := compact(t, newCompactor(t, kagewasm.Options{Plugins: plugins(p), Memory: mem}), request(400, chat(60))).Report
		if len(r.Failures) != 0 || len(r.Retained) != len(facts) || len(mem.memory) != len(facts) {
			t.Errorf("%d of %d facts are stored, %d told, failures %v", len(mem.memory), len(facts), len(r.Retained), r.Failures)
		}
	})
}

// TestPinsOfPlugins: pins of messages that are not there are told, and pins
// that would leave nothing to do are not taken.
func TestPinsOfPlugins(t *testing.T) {
	features.Proves(t, "K10")
	p := &fakePlugin{Name: "pins", Pre: func(in *abi.Input) (*abi.Output, error) {
		out := &abi.Output{AlwaysKeep: []string{"nowhere"}}
		for _, m := range in.Messages {
			out.AlwaysKeep = append(out.AlwaysKeep, m.ID)
		}
		return out, nil
	}}
	r := compact(t, newCompactor(t, kagewasm.Options{Plugins: plugins(p)}), request(400, chat(60))).Report
	if !r.Compacted || len(r.Hooks[0].Warnings) < 2 || !strings.Contains(r.Hooks[0].Warnings[0], "nowhere") {
		t.Errorf("compacted %v, warnings %q", r.Compacted, r.Hooks[0].Warnings)
	}
}

// TestIgnoredAnswersAreTold: what has no effect of an observer's answer, a message list or a pin of a message that is
// not there, is told in the report, with the plugin and the id.
func TestIgnoredAnswersAreTold(t *testing.T) {
	features.Proves(t, "K10", "K19")
	p := &fakePlugin{Name: "watch", Pre: answers(&abi.Output{AlwaysKeep: []string{"nowhere"},
		Messages: []abi.OutputMessage{{Ref: "goal"}}})}
	r := compact(t, newCompactor(t, kagewasm.Options{Plugins: plugins(p)}), request(400, chat(60))).Report
	if len(r.Hooks) != 1 || r.Hooks[0].Plugin != "watch" {
		t.Fatalf("%+v", r.Hooks)
	}
	said := strings.Join(r.Hooks[0].Warnings, "\n")
	for _, want := range []string{`always_keep of "nowhere": there is no such message`, "an observer's messages"} {
		if !strings.Contains(said, want) {
			t.Errorf("no %q in %q", want, said)
		}
	}
}

// TestEditsAreTold: what a compactor shortens is in the report and the
// record.
func TestEditsAreTold(t *testing.T) {
	features.Proves(t, "N2")
	p := compactor(func(in *abi.Input) (*abi.Output, error) {
		out, err := keepOnly("", func(m *abi.InputMessage) bool { return fixed(m) || m.ID == "a59" || m.ID == "t59" })(in)
		for i := range out.Messages {
			if out.Messages[i].Ref == "t59" {
				m := in.Messages[len(in.Messages)-2].Message
				m.Content = abi.Text("ok, cut")
				out.Messages[i] = abi.OutputMessage{Message: m}
			}
		}
		return out, err
	})
	r := compact(t, newCompactor(t, kagewasm.Options{Plugins: plugins(p)}), request(400, chat(60)))
	if r.Report.Strategy != "delegate" || len(r.Report.Edited) != 1 || r.Report.Pruned.IDs[0] != "t59" ||
		r.Record.Edited[0] != "t59" {
		t.Errorf("strategy %s, edited %v, pruned %+v, failures %v", r.Report.Strategy, r.Report.Edited, r.Report.Pruned,
			r.Report.Failures)
	}
}

func TestCompactorWithNothingToSay(t *testing.T) {
	for name, out := range map[string]*abi.Output{"null": nil, "cancel": {Cancel: true, Reason: "not now"}} {
		t.Run(name, func(t *testing.T) {
			r := compact(t, newCompactor(t, kagewasm.Options{Plugins: plugins(compactor(answers(out)))}),
				request(400, chat(60))).Report
			if !r.Compacted || r.Strategy != "drop" || r.Fallback || len(r.Failures) != 0 {
				t.Errorf("the strategy follows, and that is no failure: %+v", r)
			}
		})
	}
}

func TestObserversRetainAndInject(t *testing.T) {
	features.Proves(t, "K30")
	mem := memory{}
	p := &fakePlugin{Name: "obs", Pre: answers(
		&abi.Output{Retain: []string{"the port is 8080", "the port is 8080"}, Inject: "Recalled: the port is 8080."})}
	r := compact(t, newCompactor(t, kagewasm.Options{Plugins: plugins(p), Memory: mem}), request(1200, chat(90)))
	if len(mem) != 1 {
		t.Errorf("stored %v: want the fact once", mem)
	}
	for key, value := range mem {
		if !strings.HasPrefix(key, "obs/retained/") || !strings.Contains(value, `"session": "s1"`) {
			t.Errorf("%s = %s", key, value)
		}
	}
	m := r.Messages[3]
	if m.Kind != abi.KindInjected || m.Role != abi.RoleUser || !strings.Contains(m.Text(), "plugin:obs") {
		t.Errorf("injected %+v", m)
	}
	if r.Report.TokensAfter > r.Report.Target {
		t.Errorf("%d tokens with what was injected, target %d", r.Report.TokensAfter, r.Report.Target)
	}
}

func TestInjectedTextIsCapped(t *testing.T) {
	p := &fakePlugin{Name: "obs", Pre: answers(&abi.Output{Inject: strings.Repeat("memory ", 10_000)})}
	r := compact(t, newCompactor(t, kagewasm.Options{Plugins: plugins(p)}), request(1200, chat(90)))
	if !r.Report.Compacted || r.Report.ReasonCode != abi.ReasonCompacted {
		t.Fatal(r.Report.Reason)
	}
	if n := (wordCounter{}).Message(&r.Messages[3]); n > 1200*6/10/8 {
		t.Errorf("%d tokens injected, an eighth of the target is allowed", n)
	}
	if w := r.Report.Hooks[0].Warnings; len(w) != 1 {
		t.Errorf("warnings %q: a cut has to be told", w)
	}
	r = compact(t, newCompactor(t, kagewasm.Options{Plugins: plugins(p)}), request(150, chat(60)))
	if w := r.Report.Hooks[0].Warnings; len(r.Report.Inserted) != 1 || len(w) != 1 {
		t.Errorf("inserted %v, warnings %q: no room is told too", r.Report.Inserted, w)
	}
}

func TestObserverFailureChangesNothing(t *testing.T) {
	features.Proves(t, "O1")
	plain := compact(t, newCompactor(t, kagewasm.Options{}), request(400, chat(60)))
	p := &fakePlugin{Name: "obs", Pre: fails(abi.CodeTrap)}
	r := compact(t, newCompactor(t, kagewasm.Options{Plugins: plugins(p)}), request(400, chat(60)))
	if ids(plain.Messages) != ids(r.Messages) || r.Report.Fallback {
		t.Errorf("an observer's failure changed the result: %s", ids(r.Messages))
	}
	if len(r.Report.Failures) != 1 || r.Report.Hooks[0].Outcome != "failed" {
		t.Errorf("and it has to be reported: %+v", r.Report)
	}
}

func TestHookInput(t *testing.T) {
	features.Proves(t, "K19")
	p := &fakePlugin{Name: "obs", Pre: answers(nil), Post: answers(nil)}
	req := request(400, chat(60))
	req.Instructions, req.Reason = "keep the ports", abi.TriggerThreshold
	r := compact(t, newCompactor(t, kagewasm.Options{Plugins: plugins(p)}), req)
	pre, post := p.Calls(abi.HookPreCompact)[0], p.Calls(abi.HookPostCompact)[0]
	if pre.ABI != 1 || pre.Time != "2026-03-14T15:09:26Z" || pre.Trigger.Reason != abi.TriggerThreshold ||
		pre.Trigger.Instructions != "keep the ports" {
		t.Errorf("input %+v", pre)
	}
	if pre.Trigger.Tokens != r.Report.TokensBefore || pre.Budget.TargetTokens <= 0 ||
		pre.Budget.TargetTokens > r.Report.Target {
		t.Errorf("trigger %+v budget %+v", pre.Trigger, pre.Budget)
	}
	if !pre.Messages[0].Pinned || pre.Messages[2].Unit != pre.Messages[3].Unit || pre.Messages[2].Tokens == 0 {
		t.Errorf("messages %+v", pre.Messages[:4])
	}
	if len(post.Messages) != len(r.Messages) || post.Record.Strategy != "drop" || len(post.Record.Superseded) != len(
		r.Report.Superseded) {
		t.Errorf("post_compact record %+v", post.Record)
	}
}

// TestPreviousSummary: both hooks are told the summary that was there before; the new one
// is in the record.
func TestPreviousSummary(t *testing.T) {
	features.Proves(t, "O5")
	p := &fakePlugin{Name: "obs", Pre: answers(nil), Post: answers(nil)}
	c := newCompactor(t, kagewasm.Options{Plugins: plugins(p)})
	first := compact(t, c, request(400, chat(60)))
	more := append(append([]abi.Message{}, first.Messages...), renamed(chat(60)[2:], "x")...)
	second := compact(t, c, request(400, more))
	if first.Report.Summary == second.Report.Summary {
		t.Fatal("both summaries say the same")
	}
	for _, hook := range []abi.Hook{abi.HookPreCompact, abi.HookPostCompact} {
		t.Run(string(hook), func(t *testing.T) {
			calls := p.Calls(hook)
			if got := calls[0].PreviousSummary; got != "" {
				t.Errorf("before the first compaction: %q", got)
			}
			if got := calls[1].PreviousSummary; got != first.Report.Summary {
				t.Errorf("previous summary %q, want %q", got, first.Report.Summary)
			}
		})
	}
	if rec := p.Calls(abi.HookPostCompact)[1].Record; rec.Summary != second.Report.Summary {
		t.Errorf("the record has %q, want %q", rec.Summary, second.Report.Summary)
	}
}

func TestDryRunCommitsAndStoresNothing(t *testing.T) {
	mem := memory{}
	p := &fakePlugin{Name: "obs", Pre: answers(&abi.Output{Retain: []string{"a fact"}})}
	req := request(400, chat(60))
	req.DryRun = true
	req.Commit = func(context.Context, *kagewasm.Result) error { t.Error("a dry run was committed"); return nil }
	r := compact(t, newCompactor(t, kagewasm.Options{Plugins: plugins(p), Memory: mem}), req)
	if len(mem) != 0 || !r.Report.Compacted || !r.Record.DryRun || !p.Asked[0].Trigger.DryRun {
		t.Errorf("stored %v, report %+v", mem, r.Report)
	}
}

func TestNoPluginIsAskedBelowTheThreshold(t *testing.T) {
	features.Proves(t, "O8")
	p := &fakePlugin{Name: "obs", Pre: fails(abi.CodeTrap), Post: fails(abi.CodeTrap)}
	compact(t, newCompactor(t, kagewasm.Options{Plugins: plugins(p)}), request(100_000, chat(5)))
	if len(p.Asked) != 0 {
		t.Errorf("asked %d times", len(p.Asked))
	}
}

func TestCanceledContext(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	p := &fakePlugin{Name: "obs", Pre: func(*abi.Input) (*abi.Output, error) { cancel(); return nil, nil }}
	r, err := newCompactor(t, kagewasm.Options{Plugins: plugins(p)}).Compact(ctx, request(400, chat(60)))
	if abi.CodeOf(err) != abi.CodeCanceled || !errors.Is(err, context.Canceled) || r.Report.Compacted {
		t.Errorf("error %v, compacted %v", err, r.Report.Compacted)
	}
}

// renamed gives messages and calls new ids.

// TestStrategyByHand: a strategy that is named by hand wins over a compactor plugin,
// which is told, and is not the worse for it; one of the policy does not, and delegate
// is the plugin.
func TestStrategyByHand(t *testing.T) {
	features.Proves(t, "K26")
	for _, tc := range []struct {
		policy, byHand, want string
		passed               bool
	}{
		{"", "", "delegate", false},
		{"drop", "", "delegate", false},
		{"", "drop", "drop", true},
		{"delegate", "drop", "drop", true},
		{"", "summarize", "drop", true}, // there is no model
		{"drop", "delegate", "delegate", false},
	} {
		t.Run(tc.policy+", by hand "+tc.byHand, func(t *testing.T) {
			p := compactor(answers(&abi.Output{Summary: "The plugin's own words."}))
			c := newCompactor(t, kagewasm.Options{Plugins: plugins(p), Policy: kagewasm.Policy{Strategy: tc.policy}})
			req := request(1200, chat(60))
			req.Overrides = &kagewasm.Overrides{Strategy: tc.byHand}
			for range 4 { // passed over is no failure, which would be three in a row
				r := compact(t, c, req).Report
				if r.Strategy != tc.want || !r.Compacted {
					t.Fatalf("by %s: %s", r.Strategy, r.Reason)
				}
				if o := r.Hooks[0]; o.Outcome != "ok" || (len(o.Warnings) == 1) != tc.passed {
					t.Errorf("%s %q", o.Outcome, o.Warnings)
				}
			}
		})
	}
}

// cancels counts cancels for other compactors.
type cancels struct {
	n     int
	fails error
}

func (c *cancels) Cancelled(*abi.Session) (int, error) { return c.n, c.fails }

func (c *cancels) SetCancelled(_ *abi.Session, n int) error {
	if c.fails == nil {
		c.n = n
	}
	return c.fails
}

// TestCancelledBefore: cancels that another process counted count, so that the fourth
// in a row is overruled. Then the row is over for all.
func TestCancelledBefore(t *testing.T) {
	features.Proves(t, "O3")
	p := &fakePlugin{Name: "obs", Grants: []abi.Capability{abi.CapCompactionSummary},
		Pre: answers(&abi.Output{Cancel: true, Reason: "later"})}
	for before, after := range map[int]int{0: 1, 2: 3, 3: 0, 9: 0} {
		t.Run(fmt.Sprintf("%d before", before), func(t *testing.T) {
			kept := &cancels{n: before}
			c := newCompactor(t, kagewasm.Options{Plugins: plugins(p), Cancels: kept})
			dry := request(1400, chat(60))
			dry.DryRun = true
			if compact(t, c, dry); kept.n != before {
				t.Errorf("a dry run counts: %d", kept.n)
			}
			r := compact(t, c, request(1400, chat(60))).Report
			if got := r.ReasonCode == abi.ReasonCancelledByPlugin; got != (after > 0) || kept.n != after {
				t.Errorf("%d after %d: %s", kept.n, before, r.Reason)
			}
		})
	}
	t.Run("where it cannot be kept", func(t *testing.T) {
		c := newCompactor(t, kagewasm.Options{Plugins: plugins(p), Cancels: &cancels{fails: errors.New("no room")}})
		for i := range 4 {
			r := compact(t, c, request(1400, chat(60))).Report
			if got := r.ReasonCode == abi.ReasonCancelledByPlugin; got != (i < 3) {
				t.Errorf("the %d. time: %s", i+1, r.Reason)
			}
			if i < 3 && !strings.Contains(strings.Join(r.Hooks[0].Warnings, "\n"), "no room") {
				t.Errorf("nobody is told: %v", r.Hooks[0].Warnings)
			}
		}
	})
}
