package kagewasm_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	kagewasm "github.com/kagewasm/kagewasm"
	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/features"
	"github.com/kagewasm/kagewasm/internal/modeltest"
	"github.com/kagewasm/kagewasm/strategies"
)

// TestNoModelIsAsked: where a plugin gives the summary or the whole list,
// the model is not called at all; of several the last wins, the record names it,
// and what runs afterwards sees the new entry.
func TestNoModelIsAsked(t *testing.T) {
	features.Proves(t, "O2", "T10")
	for _, tc := range []struct {
		why     string
		plugins []*fakePlugin
		by      string // who the record names
		asked   bool   // the model
	}{
		{"one summary", []*fakePlugin{granted("a", answers(&abi.Output{Summary: "From a."}))}, "a", false},
		{"the last of three", []*fakePlugin{granted("a", answers(&abi.Output{Summary: "From a."})),
			granted("b", answers(&abi.Output{Summary: "From b."})),
			granted("c", answers(&abi.Output{Summary: "From c."}))}, "c", false},
		{"the last that said something", []*fakePlugin{granted("a", answers(&abi.Output{Summary: "From a."})),
			granted("b", answers(nil))}, "a", false},
		{"a whole list", []*fakePlugin{compactor(keepOnly("From comp.", fixed))}, "comp", false},
		{"a compactor's summary alone", []*fakePlugin{compactor(answers(&abi.Output{Summary: "From comp."}))}, "comp", false},
		{"a plugin that has nothing", []*fakePlugin{compactor(answers(nil))}, "", true},
		{"one that fails", []*fakePlugin{compactor(fails(abi.CodeTrap))}, "", true},
	} {
		t.Run(tc.why, func(t *testing.T) {
			m := writes("by the model")
			watch := &fakePlugin{Name: "watch", Post: answers(nil)}
			c := newCompactor(t, kagewasm.Options{Model: m, Plugins: plugins(append(tc.plugins, watch)...)})
			r := compact(t, c, request(longWindow, long()))
			if asked := len(m.Requests()) > 0; asked != tc.asked || !r.Report.Compacted {
				t.Errorf("the model was asked: %v, %s", asked, r.Report.Reason)
			}
			source := r.Record.Source
			switch {
			case tc.asked && (source.Type != abi.SourceModel || r.Record.Strategy != "summarize"):
				t.Errorf("the record says %+v", source)
			case !tc.asked && (source.Type != abi.SourcePlugin || source.Name != tc.by ||
				r.Record.Strategy != "delegate" || !strings.Contains(r.Record.Summary, "From "+tc.by+".")):
				t.Errorf("the record says %+v, %q", source, r.Record.Summary)
			}
			post := watch.Calls(abi.HookPostCompact)
			if len(post) != 1 || !slices.Equal(post[0].Record.Inserted, r.Report.Inserted) ||
				!slices.ContainsFunc(post[0].Messages, func(m abi.InputMessage) bool { return m.ID == r.Report.Inserted[0] }) {
				t.Errorf("%s: post_compact does not see the new entry", tc.why)
			}
		})
	}
}

// TestAnyVetoCounts: one of several is enough, and nobody else's summary is
// used then.
func TestAnyVetoCounts(t *testing.T) {
	features.Proves(t, "O2")
	m := writes("by the model")
	list := []*fakePlugin{granted("a", answers(&abi.Output{Summary: "From a."})),
		granted("b", answers(&abi.Output{Cancel: true, Reason: "not now"})), granted("c", answers(nil))}
	r := compact(t, newCompactor(t, kagewasm.Options{Model: m, Plugins: plugins(list...)}),
		request(longWindow, long())).Report
	if r.Compacted || r.ReasonCode != abi.ReasonCancelledByPlugin || !strings.Contains(r.Reason, "b") ||
		len(m.Requests()) > 0 {
		t.Errorf("compacted %v: %s", r.Compacted, r.Reason)
	}
}

// TestOrder: pre_compact, then whatever makes the plan, then what stores
// it, then post_compact, whichever way it goes.
func TestOrder(t *testing.T) {
	features.Proves(t, "K19", "O7")
	for _, tc := range []struct {
		why  string
		out  *abi.Output // of the observer
		own  func(*abi.Input) (*abi.Output, error)
		say  string // of the model; "" is none
		fail bool   // to store
		want string
	}{
		{"drop", nil, nil, "", false, "pre commit post+"},
		{"a model", nil, nil, "all is well", false, "pre model commit post+"},
		{"a model that fails", nil, nil, "No.", false, "pre model model model model model commit post+"},
		{"a compactor", nil, keepOnly("all of it", fixed), "all is well", false, "pre comp commit post+"},
		{"an observer's summary", &abi.Output{Summary: "all of it"}, nil, "all is well", false, "pre commit post+"},
		{"a veto", &abi.Output{Cancel: true}, nil, "all is well", false, "pre post-"},
		{"it cannot be stored", nil, nil, "all is well", true, "pre model commit post-"},
	} {
		t.Run(tc.why, func(t *testing.T) {
			var order []string
			note := func(s string) { order = append(order, s) }
			obs := granted("obs", func(*abi.Input) (*abi.Output, error) { note("pre"); return tc.out, nil })
			obs.Post = func(in *abi.Input) (*abi.Output, error) {
				note("post" + map[bool]string{true: "+", false: "-"}[in.Record.Success])
				return nil, nil
			}
			list := []*fakePlugin{obs}
			if tc.own != nil {
				list = append(list, compactor(func(in *abi.Input) (*abi.Output, error) { note("comp"); return tc.own(in) }))
			}
			opts := kagewasm.Options{Plugins: plugins(list...)}
			if tc.say != "" {
				opts.Model = modeltest.ScriptFunc(func(r modeltest.Request) modeltest.Answer {
					note("model")
					if tc.say == "No." {
						return modeltest.Answer{Text: tc.say}
					}
					return modeltest.Answer{Text: inForm(r, tc.say)}
				})
			}
			req := request(longWindow, long())
			req.Commit = func(context.Context, *kagewasm.Result) error {
				note("commit")
				if tc.fail {
					return errors.New("disk full")
				}
				return nil
			}
			if _, err := newCompactor(t, opts).Compact(t.Context(), req); (err != nil) != tc.fail {
				t.Errorf("%v", err)
			}
			if got := strings.Join(order, " "); got != tc.want {
				t.Errorf("%s, want %s", got, tc.want)
			}
		})
	}
}

// TestWhatHooksAreTold: before, what was forced, the tokens, their share of
// the window, the messages and how many stay; after, how it ended, the messages
// before and after, and the summary.
func TestWhatHooksAreTold(t *testing.T) {
	features.Proves(t, "O5", "A12")
	p := &fakePlugin{Name: "obs", Pre: answers(nil), Post: answers(nil)}
	policy := kagewasm.Policy{Keep: strategies.KeepConfig{Messages: 7}}
	c := newCompactor(t, kagewasm.Options{Model: writes("all is well"), Plugins: plugins(p), Policy: policy})
	req := request(longWindow, long())
	first := compact(t, c, req)
	req.Messages, req.Force = append(slices.Clip(first.Messages), renamed(chat(20)[2:], "x")...), true
	second := compact(t, c, req)
	pre, post := p.Calls(abi.HookPreCompact), p.Calls(abi.HookPostCompact)
	for i, r := range []*kagewasm.Result{first, second} {
		t.Run(fmt.Sprintf("compaction %d", i), func(t *testing.T) {
			tr, rec := pre[i].Trigger, post[i].Record
			if tr.Forced != (i == 1) || tr.Tokens != r.Report.TokensBefore ||
				tr.Fraction != float64(tr.Tokens)/longWindow || tr.KeepLast != 7 ||
				len(pre[i].Messages) != r.Report.MessagesBefore {
				t.Errorf("compaction %d: pre_compact was told %+v and %d messages", i, tr, len(pre[i].Messages))
			}
			if !rec.Success || rec.TokensBefore != r.Report.TokensBefore || rec.TokensBefore == 0 ||
				rec.MessagesBefore != r.Report.MessagesBefore || rec.MessagesAfter != len(r.Messages) ||
				rec.Summary != r.Report.Summary || rec.Summary == "" {
				t.Errorf("compaction %d: post_compact was told %+v", i, rec)
			}
		})
	}
	if pre[0].PreviousSummary != "" || pre[1].PreviousSummary != first.Report.Summary {
		t.Errorf("O5: previous summaries %q and %q", pre[0].PreviousSummary, pre[1].PreviousSummary)
	}
	doc, err := json.Marshal(pre[1])
	if err != nil {
		t.Fatal(err)
	}
	for _, field := range []string{`"forced":true`, `"tokens":`, `"fraction":`, `"keep_last":7`, `"previous_summary":`,
		`"context_window":8000`} {
		t.Run(field, func(t *testing.T) {
			if !strings.Contains(string(doc), field) {
				t.Errorf("A12: no %s in what a guest reads", field)
			}
		})
	}
}

// TestSuccessOfDryRuns: what plugins are told afterwards, and the record, say in a dry run whether what was to be made
// could be made: what the real run says.
func TestSuccessOfDryRuns(t *testing.T) {
	features.Proves(t, "A12")
	fails := modeltest.ScriptFunc(func(modeltest.Request) modeltest.Answer { return modeltest.Answer{Text: "No."} })
	cancels := answers(&abi.Output{Cancel: true, Reason: "not now"})
	for _, tc := range []struct {
		why    string
		policy kagewasm.Policy
		model  abi.Model
		pre    func(*abi.Input) (*abi.Output, error)
		code   abi.ReasonCode
	}{
		{"it could", kagewasm.Policy{}, writes("all is well"), answers(nil), abi.ReasonCompacted},
		{"a model that fails, no floor", kagewasm.Policy{NoFloor: true}, fails, answers(nil), abi.ReasonFailed},
		{"a plugin that cancels", kagewasm.Policy{}, nil, cancels, abi.ReasonCancelledByPlugin},
	} {
		for _, dry := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, dry %v", tc.why, dry), func(t *testing.T) {
				p := granted("watch", tc.pre)
				p.Post = answers(nil)
				c := newCompactor(t, kagewasm.Options{Model: tc.model, Policy: tc.policy, Plugins: plugins(p)})
				req := request(longWindow, long())
				req.DryRun = dry
				r, err := c.Compact(t.Context(), req)
				if r == nil || r.Report.ReasonCode != tc.code {
					t.Fatalf("%v: %.300s", err, fmt.Sprintf("%+v", r))
				}
				post, made := p.Calls(abi.HookPostCompact), tc.code == abi.ReasonCompacted
				if len(post) != 1 || post[0].Record.Success != made || post[0].Record.DryRun != dry {
					t.Errorf("plugins are told %+v", post[0].Record)
				}
				if r.Record == nil != (!dry && !made) || r.Record != nil && r.Record.Success != made {
					t.Errorf("the record says %+v", r.Record)
				}
			})
		}
	}
}

// TestPluginsHearThatNothingMayGo: where a session exceeds the window and nothing of it may go the
// compaction has failed, which plugins are told with the reason. One that was not needed is none.
func TestPluginsHearThatNothingMayGo(t *testing.T) {
	features.Proves(t, "A12")
	pinned := []abi.Message{{ID: "rules", Role: abi.RoleSystem, Content: abi.Text(strings.Repeat("rule ", 600))},
		{ID: "goal", Role: abi.RoleUser, Content: abi.Text("Make it work.")}}
	for _, tc := range []struct {
		why      string
		messages []abi.Message
		window   int
		overhead int
		asked    bool // for a plan
		fails    bool
	}{
		{"pinned messages alone", pinned, 400, 0, false, true},
		{"tool definitions alone", chat(20), 400, 500, false, true},
		{"an answer that no note is smaller than", append(slices.Clip(pinned), abi.Message{ID: "a",
			Role: abi.RoleAssistant, Content: abi.Text("Ok.")}, abi.Message{ID: "u", Role: abi.RoleUser,
			Content: abi.Text("Go on.")}), 400, 0, true, true},
		{"nothing may go, and it fits", pinned, 700, 0, false, false},
	} {
		t.Run(tc.why, func(t *testing.T) {
			p := &fakePlugin{Name: "watch", Pre: answers(nil), Post: answers(nil)}
			req := request(tc.window, tc.messages)
			req.Overhead = tc.overhead
			r, err := newCompactor(t, kagewasm.Options{Plugins: plugins(p)}).Compact(t.Context(), req)
			if failed := abi.CodeOf(err) == abi.CodeExceedsWindow; failed != tc.fails || r.Record != nil {
				t.Fatalf("%v: %s, record %v", err, r.Report.Reason, r.Record)
			}
			if pre := p.Calls(abi.HookPreCompact); len(pre) > 0 != tc.asked {
				t.Errorf("asked for a plan %d times", len(pre))
			}
			post := p.Calls(abi.HookPostCompact)
			if !tc.fails {
				if len(post) > 0 {
					t.Errorf("told of a compaction that was not made: %+v", post[0].Record)
				}
				return
			}
			if len(post) != 1 {
				t.Fatalf("told %d times", len(post))
			}
			rec, n := post[0].Record, len(tc.messages)
			if rec.Success || rec.MessagesBefore != n || rec.MessagesAfter != n || len(post[0].Messages) != n ||
				rec.TokensBefore != r.Report.TokensBefore || len(rec.Failures) != 1 ||
				rec.Failures[0].Code != abi.CodeExceedsWindow {
				t.Errorf("told %+v, %v", rec, rec.Failures)
			}
			if said := r.Report.Hooks; len(said) == 0 || said[len(said)-1].Hook != abi.HookPostCompact {
				t.Errorf("the report says of plugins: %+v", said)
			}
		})
	}
}

// timed notes how long its calls may take.
type timed struct {
	*fakePlugin
	left time.Duration
}

func (p *timed) Call(ctx context.Context, in *abi.Input) (*abi.Output, abi.CallStats, error) {
	if d, ok := ctx.Deadline(); ok {
		p.left = time.Until(d)
	}
	return p.fakePlugin.Call(ctx, in)
}

// TestTheSameTime: plugins and the summarizing model have five minutes each,
// or what is configured, and none goes without a bound.
func TestTheSameTime(t *testing.T) {
	features.Proves(t, "O6")
	var model time.Duration
	m := modelWith(func(ctx context.Context, _ abi.ModelRequest) (abi.ModelResponse, error) {
		if d, ok := ctx.Deadline(); ok {
			model = time.Until(d)
		}
		return abi.ModelResponse{}, errors.New("never mind")
	})
	for _, tc := range []struct {
		why  string
		hook time.Duration
		ms   int
		want time.Duration
	}{
		{"by default", 0, 0, 5 * time.Minute},
		{"configured", 2 * time.Hour, 2 * 3600 * 1000, 2 * time.Hour},
		{"the operator's setting for the plan", 0, 240_000, 4 * time.Minute},
	} {
		t.Run(tc.why, func(t *testing.T) {
			p, summarizes := &timed{fakePlugin: compactor(answers(nil))}, &timed{fakePlugin: granted("says", answers(nil))}
			c := newCompactor(t, kagewasm.Options{Model: m, Plugins: plugins(p, summarizes), HookTimeout: tc.hook,
				Policy: kagewasm.Policy{Summarize: strategies.SummarizeConfig{TimeoutMS: tc.ms}}})
			model = 0
			compact(t, c, request(longWindow, long()))
			for who, left := range map[string]time.Duration{"the compactor": p.left, "the model": model,
				"an observer that may give the summary": summarizes.left} {
				t.Run(who, func(t *testing.T) {
					if left > tc.want || left < tc.want*9/10 {
						t.Errorf("%s has %s, want %s", who, left, tc.want)
					}
				})
			}
		})
	}
}

// stuck is a plugin that ends when it is made to, and no sooner.
type stuck struct{ *fakePlugin }

func (p *stuck) Call(ctx context.Context, _ *abi.Input) (*abi.Output, abi.CallStats, error) {
	<-ctx.Done()
	return nil, abi.CallStats{}, ctx.Err()
}

// TestHooksAreBounded: a plugin may return the whole list; one that hangs is ended,
// and one that vetoes is not listened to for ever: the compaction completes.
func TestHooksAreBounded(t *testing.T) {
	features.Proves(t, "complaint 14")
	r := compact(t, newCompactor(t, kagewasm.Options{Plugins: plugins(compactor(keepOnly("Short.", fixed)))}),
		request(longWindow, long()))
	if r.Report.Strategy != "delegate" || len(r.Messages) != 4 {
		t.Errorf("a list: %s by %s", ids(r.Messages), r.Report.Strategy)
	}
	hung := compact(t, newCompactor(t, kagewasm.Options{Plugins: plugins(&stuck{compactor(answers(nil))}),
		HookTimeout: 20 * time.Millisecond}), request(longWindow, long())).Report
	if !hung.Compacted || !hung.Fallback || failureCodes(hung.Failures) != string(abi.CodeDeadline) {
		t.Errorf("it hangs: compacted %v, %v", hung.Compacted, hung.Failures)
	}
	late := compact(t, newCompactor(t, kagewasm.Options{Plugins: plugins(&stuck{compactor(answers(nil))}),
		Policy: kagewasm.Policy{Summarize: strategies.SummarizeConfig{TimeoutMS: 20}}}), request(longWindow, long())).Report
	if !late.Compacted || !late.Fallback || failureCodes(late.Failures) != string(abi.CodeDeadline) {
		t.Errorf("it hangs beyond the time for a plan: compacted %v, %v", late.Compacted, late.Failures)
	}
	veto := newCompactor(t, kagewasm.Options{Plugins: plugins(granted("no", answers(&abi.Output{Cancel: true})))})
	for i := range 4 {
		if r := compact(t, veto, request(longWindow, long())).Report; r.Compacted != (i == 3) {
			t.Errorf("veto %d: compacted %v", i+1, r.Compacted)
		}
	}
}

// TestEverythingIsTold: each compaction has an event that it began
// and one how it ended, with why, by whom, what went and came, the model, the
// hooks with their times, and the cost.
func TestEverythingIsTold(t *testing.T) {
	features.Proves(t, "complaint 13", "K15", "K22")
	obs := func() *fakePlugin { return granted("obs", answers(nil)) }
	for _, tc := range []struct {
		why  string
		opts kagewasm.Options
		req  func(*kagewasm.Request)
		ends kagewasm.EventType
		code abi.ReasonCode
	}{
		{"drop", kagewasm.Options{Plugins: plugins(obs())}, nil, kagewasm.EventCompleted, abi.ReasonCompacted},
		{"a model", kagewasm.Options{Plugins: plugins(obs()), Model: writes("all is well")}, nil,
			kagewasm.EventCompleted, abi.ReasonCompacted},
		{"a plugin", kagewasm.Options{Plugins: plugins(compactor(keepOnly("all of it", fixed)))}, nil,
			kagewasm.EventCompleted, abi.ReasonCompacted},
		{"nothing can go", kagewasm.Options{Plugins: plugins(obs())}, func(r *kagewasm.Request) {
			r.Messages = []abi.Message{{ID: "only", Role: abi.RoleUser, Content: abi.Text(words(7500))}}
		}, kagewasm.EventNoop, abi.ReasonNothingToSupersede},
		{"a veto", kagewasm.Options{Plugins: plugins(granted("obs", answers(&abi.Output{Cancel: true})))}, nil,
			kagewasm.EventNoop, abi.ReasonCancelledByPlugin},
		{"it cannot be stored", kagewasm.Options{Plugins: plugins(obs())}, func(r *kagewasm.Request) {
			r.Commit = func(context.Context, *kagewasm.Result) error { return errors.New("disk full") }
		}, kagewasm.EventFailed, abi.ReasonCommitFailed},
	} {
		t.Run(tc.why, func(t *testing.T) {
			var events []kagewasm.Event
			tc.opts.Audit = func(e kagewasm.Event) { events = append(events, e) }
			req := request(longWindow, long())
			if tc.req != nil {
				tc.req(&req)
			}
			r, err := newCompactor(t, tc.opts).Compact(t.Context(), req)
			if len(events) != 2 || events[0].Type != kagewasm.EventTriggered || events[1].Type != tc.ends ||
				(events[1].Error != nil) != (err != nil) {
				t.Errorf("events %+v", events)
				return
			}
			if e := events[0]; e.Trigger != abi.TriggerThreshold || e.Strategy != "drop" || e.Session.ID != "s1" ||
				e.Time == "" {
				t.Errorf("triggered %+v", e)
			}
			said := events[1].Report
			if said.ReasonCode != tc.code || said.Reason == "" || said.TokensBefore == 0 ||
				fmt.Sprint(said.Superseded) != fmt.Sprint(r.Report.Superseded) {
				t.Errorf("ended %+v", said)
			}
			if tc.ends == kagewasm.EventCompleted && (said.Source == nil || len(said.Inserted) == 0 ||
				len(said.Hooks) != 1 || said.Hooks[0].MS == 0 || said.Receipt == nil) {
				t.Errorf("who, what, which hooks and at what cost: %+v", said)
			}
		})
	}
}
