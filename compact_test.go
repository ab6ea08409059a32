package kagewasm_test

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	kagewasm "github.com/kagewasm/kagewasm"
	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/features"
	"github.com/kagewasm/kagewasm/strategies"
)

// TestNothingIsPending: what a host forgot to give is an error of its, and no crash.
func TestNothingIsPending(t *testing.T) {
	c := newCompactor(t, kagewasm.Options{Audit: func(kagewasm.Event) { t.Error("an event of nothing") }})
	if _, err := c.Commit(t.Context(), request(400, chat(60)), nil); abi.CodeOf(err) != abi.CodeUsage {
		t.Errorf("%v", err)
	}
	if _, err := c.Reject(t.Context(), request(400, chat(60)), nil, ""); abi.CodeOf(err) != abi.CodeUsage {
		t.Errorf("%v", err)
	}
}

func TestUpperStartsAndLowerStops(t *testing.T) {
	features.Proves(t, "K2")
	c := newCompactor(t, kagewasm.Options{})
	msgs := chat(40)
	total := compact(t, c, request(1_000_000, msgs)).Report.TokensBefore

	// It starts exactly at the threshold.
	at := int(float64(total) / 0.85)
	for w := at - 3; w <= at+3; w++ {
		r := compact(t, c, request(w, msgs)).Report
		over := total*100 >= 85*w
		if r.Compacted != over {
			t.Errorf("window %d, %d tokens: compacted %v, want %v", w, total, r.Compacted, over)
		}
		if r.Compacted && r.TokensAfter > int(0.60*float64(w)) {
			t.Errorf("window %d: %d tokens left, over the lower threshold", w, r.TokensAfter)
		}
	}
}

func TestNoOscillation(t *testing.T) {
	features.Proves(t, "K2")
	c := newCompactor(t, kagewasm.Options{})
	r := compact(t, c, request(400, chat(60)))
	again := compact(t, c, request(400, r.Messages))
	if again.Report.Compacted || again.Report.ReasonCode != abi.ReasonBelowThreshold ||
		!reflect.DeepEqual(again.Messages, r.Messages) {
		t.Errorf("a second look changed something: %s", again.Report.Reason)
	}
}

func TestOldestGoFirst(t *testing.T) {
	features.Proves(t, "K4")
	r := compact(t, newCompactor(t, kagewasm.Options{}), request(400, chat(60)))
	if r.Report.Strategy != "drop" || r.Report.ReasonCode != abi.ReasonCompacted {
		t.Fatalf("strategy %s: %s", r.Report.Strategy, r.Report.Reason)
	}
	for i, id := range r.Report.Superseded {
		if want := chat(60)[i+2].ID; id != want {
			t.Fatalf("superseded %d is %s, want %s: the oldest candidates in order", i, id, want)
		}
	}
	if got := strings.Fields(ids(r.Messages))[:2]; got[0] != "sys" || got[1] != "goal" {
		t.Errorf("the list begins %v", got)
	}
	if m := r.Messages[2]; m.Kind != abi.KindSummary || m.Role != abi.RoleUser || m.ID != r.Report.Inserted[0] {
		t.Errorf("the summary is not behind the stable prefix: %+v", m)
	}
}

func TestUnitsStayWhole(t *testing.T) {
	features.Proves(t, "K9")
	for window := 120; window < 1200; window += 37 {
		r := compact(t, newCompactor(t, kagewasm.Options{}), request(window, chat(40)))
		calls, results := abi.Orphans(r.Messages)
		if len(calls)+len(results) > 0 {
			t.Fatalf("window %d: orphans %v %v", window, calls, results)
		}
	}
}

// TestUnitsHaveAllResults: "The unit is a tool call with all its results: kept, dropped or summarized together, never
// split", also where a call is answered by a start and an end, and the end comes later.
func TestUnitsHaveAllResults(t *testing.T) {
	features.Proves(t, "K9")
	msgs, unit := chat(2)[:2], make(map[string]int)
	add := func(k int, m abi.Message) {
		m.ID = fmt.Sprint("x", len(msgs))
		msgs, unit[m.ID] = append(msgs, m), k
	}
	result := func(k int, text string) {
		add(k, abi.Message{Role: abi.RoleTool, ToolCallID: fmt.Sprint("c", k), Content: abi.Text(fmt.Sprint(text, " ", k))})
	}
	for k := range 30 {
		add(k, abi.Message{Role: abi.RoleAssistant, ToolCalls: []abi.ToolCall{{ID: fmt.Sprint("c", k), Name: "bash",
			Arguments: fmt.Sprintf(`{"command":"make part%d"}`, k)}}})
		result(k, "started"+strings.Repeat(" and goes on", 9))
		if k%3 == 2 {
			result(k-1, "finished late")
		}
		if k%3 != 1 {
			result(k, "finished"+strings.Repeat(" and said more", 9))
		}
	}
	split := 0
	for window := 300; window < 1500; window += 41 {
		r := compact(t, newCompactor(t, kagewasm.Options{}), request(window, msgs))
		stays := make(map[int]int)
		for i := range r.Messages {
			if k, ok := unit[r.Messages[i].ID]; ok {
				stays[k]++
			}
		}
		for k, n := range stays {
			if n != 3 {
				t.Errorf("window %d: of call %d and its two results %d messages stay", window, k, n)
			}
		}
		if 0 < len(stays) && len(stays) < 30 {
			split++
		}
	}
	if split < 10 {
		t.Errorf("the cut fell between calls %d times", split)
	}
}

func TestAlwaysKeep(t *testing.T) {
	features.Proves(t, "K10")
	msgs := chat(60)
	msgs[12].Meta = abi.Meta{"always_keep": []byte("true")}
	kept := func(m *abi.Message) bool { return m.ID == "a20" }
	plugin := &fakePlugin{Name: "pins", Pre: answers(&abi.Output{AlwaysKeep: []string{"t30"}})}
	keep := strategies.KeepConfig{Always: []func(*abi.Message) bool{kept}}
	c := newCompactor(t, kagewasm.Options{Policy: kagewasm.Policy{Keep: keep}, Plugins: plugins(plugin)})
	r := compact(t, c, request(400, msgs))
	for _, id := range []string{"sys", "goal", msgs[12].ID, "a20", "t20", "a30", "t30", "last"} {
		t.Run(id, func(t *testing.T) {
			if !has(r.Messages, id) {
				t.Errorf("%s is gone: pinned by rule, by meta, by the operator or by a plugin, and its unit with it", id)
			}
		})
	}
}

// TestSystemPromptBehindThePerson: "always-keep set: the system prompt" and "Rebuild: system prompt, summary, preserved
// messages", where a session begins with the words of a person.
func TestSystemPromptBehindThePerson(t *testing.T) {
	features.Proves(t, "K10", "A5")
	plain := chat(60)
	reminder := abi.Message{ID: "reminder", Role: abi.RoleSystem, Content: abi.Text("The tests are slow.")}
	for why, c := range map[string]struct {
		at   int // of the system prompt
		want []string
	}{
		"behind the first words": {1, []string{"goal", "sys", "+"}},
		"in the middle":          {20, []string{"goal", "sys", "+"}},
		"in front":               {0, []string{"sys", "goal", "+"}},
	} {
		t.Run(why, func(t *testing.T) {
			msgs := slices.Insert(slices.Clone(plain[1:]), c.at, plain[0])
			msgs = slices.Insert(msgs, 30, reminder)
			r := compact(t, newCompactor(t, kagewasm.Options{}), request(400, msgs))
			var got []string
			for i := range r.Messages {
				id := r.Messages[i].ID
				if slices.Contains(r.Report.Inserted, id) {
					id = "+"
				}
				got = append(got, id)
			}
			if !slices.Equal(got[:3], c.want) || !slices.Contains(r.Report.Pinned, "sys") {
				t.Errorf("begins with %v, want %v; pinned %v", got[:3], c.want, r.Report.Pinned)
			}
			if has(r.Messages, "reminder") || slices.Contains(r.Report.Pinned, "reminder") {
				t.Error("a later message of the system is no ordinary one")
			}
		})
	}
}

func TestUnknownWindow(t *testing.T) {
	features.Proves(t, "K21")
	req := request(0, chat(2))
	req.Session.ContextWindow = nil
	r := compact(t, newCompactor(t, kagewasm.Options{}), req).Report
	if r.Window != 128_000 || r.ContextWindow != nil {
		t.Errorf("window %d, context window %v: want 128000 and null", r.Window, r.ContextWindow)
	}
}

func TestNothingToSupersede(t *testing.T) {
	features.Proves(t, "K22")
	msgs := []abi.Message{{ID: "only", Role: abi.RoleUser, Content: abi.Text(strings.Repeat("word ", 500))}}
	r := compact(t, newCompactor(t, kagewasm.Options{}), request(550, msgs))
	if r.Report.Compacted || r.Report.ReasonCode != abi.ReasonNothingToSupersede || r.Record != nil {
		t.Errorf("compacted %v, %s, record %v", r.Report.Compacted, r.Report.ReasonCode, r.Record)
	}
	req := request(550, msgs)
	req.DryRun = true
	if r := compact(t, newCompactor(t, kagewasm.Options{}), req); r.Record == nil || !r.Record.DryRun {
		t.Errorf("a dry run always makes a record: %+v", r.Record)
	}
}

// TestNothingToSupersedeOverTheWindow: a session of which nothing may go is no failed compaction, whatever its window:
// the event is that of one that did nothing, with the error that it does not fit, and there is no record.
func TestNothingToSupersedeOverTheWindow(t *testing.T) {
	features.Proves(t, "K22")
	all := strategies.KeepConfig{Always: []func(*abi.Message) bool{func(*abi.Message) bool { return true }}}
	for _, name := range []string{"drop", "summarize", "checkpoint", "delegate"} {
		for _, window := range []int{100_000, 1500, 300} {
			var events []kagewasm.Event
			c := newCompactor(t, kagewasm.Options{Policy: kagewasm.Policy{Strategy: name, Keep: all},
				Model: writes("all is well"), Plugins: plugins(compactor(keepOnly("all of it", fixed))),
				Audit: func(e kagewasm.Event) { events = append(events, e) }})
			req := request(window, chat(60))
			req.Force = true
			r, err := c.Compact(t.Context(), req)
			over := r.Report.TokensAfter > window
			if code := abi.CodeOf(err); over != (window == 300) || over != (code == abi.CodeExceedsWindow) {
				t.Errorf("%s, window %d: %d tokens, %v", name, window, r.Report.TokensAfter, err)
			}
			if r.Report.Compacted || r.Record != nil || len(events) != 2 || events[1].Type != kagewasm.EventNoop ||
				events[1].Compaction != "" || over != (events[1].Error != nil) {
				t.Errorf("%s, window %d: %s, record %v, events %+v", name, window, r.Report.Reason, r.Record, events)
			}
		}
	}
}

// TestASummaryDoesNotGoAlone: who asks for compactions again and again ends with the last
// summary as it is, whoever wrote it. To rewrite it would only lose some of what it says.
func TestASummaryDoesNotGoAlone(t *testing.T) {
	features.Proves(t, "T6", "K22")
	for name, o := range map[string]kagewasm.Options{"drop": {}, "a model": {Model: writes("The depot closes at six.")}} {
		t.Run(name, func(t *testing.T) {
			c := newCompactor(t, o)
			req := request(100_000, chat(60)) // a summary is small in it
			req.Force = true
			for range 12 {
				before := req.Messages
				r := compact(t, c, req)
				if req.Messages = r.Messages; !r.Report.Compacted {
					if r.Report.ReasonCode != abi.ReasonNothingToSupersede || !reflect.DeepEqual(before, r.Messages) {
						t.Errorf("%s: %s", r.Report.ReasonCode, r.Report.Reason)
					}
					return
				}
				gone := 0
				for _, m := range before {
					if slices.Contains(r.Report.Superseded, m.ID) && m.Kind != abi.KindSummary {
						gone++
					}
				}
				if gone == 0 {
					t.Fatalf("%v went for %s", r.Report.Superseded, r.Messages[2].Text())
				}
			}
			t.Error("it goes on and on")
		})
	}
}

func TestPinnedExceedTarget(t *testing.T) {
	msgs := append([]abi.Message{{ID: "rules", Role: abi.RoleSystem, Content: abi.Text(strings.Repeat("rule ", 300))}},
		chat(20)...)
	r := compact(t, newCompactor(t, kagewasm.Options{}), request(400, msgs)).Report
	if !r.Compacted || r.ReasonCode != abi.ReasonPinnedExceedTarget {
		t.Fatalf("compacted %v: %s", r.Compacted, r.Reason)
	}
	if len(r.Kept) != 4 {
		t.Errorf("kept %v: everything that may go has to go", r.Kept)
	}
}

// TestExceedsWindow: the best that can be is done and told, and the library
// says by an error that it does not fit the window itself.
func TestExceedsWindow(t *testing.T) {
	msgs := append([]abi.Message{{ID: "rules", Role: abi.RoleSystem, Content: abi.Text(strings.Repeat("rule ", 600))}},
		chat(20)...)
	r, err := newCompactor(t, kagewasm.Options{}).Compact(context.Background(), request(400, msgs))
	if abi.CodeOf(err) != abi.CodeExceedsWindow || !r.Report.Compacted || len(r.Report.Kept) != 4 {
		t.Errorf("error %v, report %+v", err, r.Report)
	}
	again, err := newCompactor(t, kagewasm.Options{}).Compact(context.Background(), request(400, r.Messages))
	if abi.CodeOf(err) != abi.CodeExceedsWindow || again.Report.ReasonCode != abi.ReasonNothingToSupersede {
		t.Errorf("a second look: %v, %s", err, again.Report.Reason)
	}
}

func TestForceAndTarget(t *testing.T) {
	c := newCompactor(t, kagewasm.Options{})
	req := request(100_000, chat(40))
	if r := compact(t, c, req); r.Report.Compacted {
		t.Fatal("below the threshold nothing is done")
	}
	req.Force = true
	r := compact(t, c, req).Report
	if !r.Compacted || r.TokensAfter > int(0.6*float64(r.TokensBefore)) {
		t.Errorf("forced: %s", r.Reason)
	}
	req.Target = new(300)
	if r := compact(t, c, req).Report; r.ReasonCode != abi.ReasonCompacted || r.TokensAfter > 300 {
		t.Errorf("target 300: %s", r.Reason)
	}
	req.Target = new(0)
	if r := compact(t, c, req); len(r.Messages) != 3 || !has(r.Messages, "sys") || !has(r.Messages, "goal") {
		t.Errorf("target 0 leaves %s: want what is pinned and the summary", ids(r.Messages))
	}
}

func TestOverheadCounts(t *testing.T) {
	req := request(2000, chat(40))
	req.Overhead = 1000
	r := compact(t, newCompactor(t, kagewasm.Options{}), req).Report
	if !r.Compacted || r.TokensBefore < 1000 || r.TokensAfter > 1200 || r.TokensAfter < 1000 {
		t.Errorf("%s: tool definitions count, and stay", r.Reason)
	}
}

func TestRequestsThatMakeNoSense(t *testing.T) {
	c := newCompactor(t, kagewasm.Options{})
	for name, req := range map[string]kagewasm.Request{
		"an id used twice":  request(100, []abi.Message{{ID: "x", Role: abi.RoleUser}, {ID: "x", Role: abi.RoleUser}}),
		"no such role":      request(100, []abi.Message{{ID: "x", Role: "usr"}}),
		"no role":           request(100, []abi.Message{{ID: "x"}}),
		"a negative window": request(-1, chat(1)),
		"a negative target": {Session: abi.Session{}, Messages: chat(1), Target: new(-1)},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := c.Compact(context.Background(), req); abi.CodeOf(err) != abi.CodeUsage {
				t.Errorf("%v", err)
			}
		})
	}
	for name, opts := range map[string]kagewasm.Options{
		"no counter":          {},
		"lower over upper":    {Counter: wordCounter{}, Policy: kagewasm.Policy{When: kagewasm.When{Upper: 0.5, Lower: 0.6}}},
		"upper over one":      {Counter: wordCounter{}, Policy: kagewasm.Policy{When: kagewasm.When{Upper: 1.2}}},
		"an unknown strategy": {Counter: wordCounter{}, Policy: kagewasm.Policy{Strategy: "magic"}},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := kagewasm.New(opts); abi.CodeOf(err) != abi.CodeUsage {
				t.Errorf("%v", err)
			}
		})
	}
}

func TestCommitComesBeforePostCompact(t *testing.T) {
	var order []string
	p := &fakePlugin{Name: "watch", Post: func(in *abi.Input) (*abi.Output, error) {
		order = append(order, "post")
		if !in.Record.Success || len(in.Record.Superseded) == 0 {
			t.Errorf("record %+v", in.Record)
		}
		return nil, nil
	}}
	req := request(400, chat(60))
	req.Commit = func(context.Context, *kagewasm.Result) error { order = append(order, "commit"); return nil }
	compact(t, newCompactor(t, kagewasm.Options{Plugins: plugins(p)}), req)
	if strings.Join(order, " ") != "commit post" {
		t.Errorf("order %v", order)
	}
}

// TestStoredResultStays: a host may keep the result that it is handed to store, which
// is finished by then; what plugins say later stands in the report returned.
func TestStoredResultStays(t *testing.T) {
	p := &fakePlugin{Name: "watch", Post: answers(&abi.Output{Retain: []string{"a fact"}})}
	req := request(400, chat(60))
	var stored *kagewasm.Result
	req.Commit = func(_ context.Context, r *kagewasm.Result) error { stored = r; return nil }
	r := compact(t, newCompactor(t, kagewasm.Options{Plugins: plugins(p)}), req)
	if len(stored.Report.Hooks) != 0 || len(stored.Report.Retained) != 0 {
		t.Errorf("the stored report was written to: %+v", stored.Report)
	}
	if len(r.Report.Hooks) != 1 || r.Report.Hooks[0].Hook != abi.HookPostCompact || len(r.Report.Retained) != 1 {
		t.Errorf("hooks %+v, retained %v: post_compact is missing", r.Report.Hooks, r.Report.Retained)
	}
}

func TestCommitThatFailsLeavesTheSession(t *testing.T) {
	features.Proves(t, "O7", "A12")
	p := &fakePlugin{Name: "watch", Post: answers(nil)}
	req := request(400, chat(60))
	full := errors.New("disk full")
	req.Commit = func(context.Context, *kagewasm.Result) error { return full }
	r, err := newCompactor(t, kagewasm.Options{Plugins: plugins(p)}).Compact(context.Background(), req)
	if abi.CodeOf(err) != abi.CodeCommit || !errors.Is(err, full) {
		t.Fatalf("error %v", err)
	}
	if r.Report.Compacted || !reflect.DeepEqual(r.Messages, req.Messages) || r.Record.Success {
		t.Errorf("compacted %v, success %v: the session has to be as it was", r.Report.Compacted, r.Record.Success)
	}
	// the after hook fires on failure too.
	post := p.Calls(abi.HookPostCompact)
	if len(post) != 1 || post[0].Record.Success {
		t.Fatalf("post_compact was told %+v", post)
	}
	// and tells of the session as it is: nothing went, and nothing came.
	rec := post[0].Record
	if n := len(req.Messages); rec.MessagesBefore != n || rec.MessagesAfter != n || rec.TokensAfter != rec.TokensBefore ||
		len(rec.Superseded)+len(rec.Inserted)+len(rec.Edited) != 0 || rec.Summary != "" || rec.FirstKept != "" ||
		len(post[0].Messages) != n {
		t.Errorf("post_compact was told %+v", rec)
	}
	if rec.ID == "" || rec.Strategy != "drop" || len(rec.Failures) != 1 || rec.Failures[0].Code != abi.CodeCommit {
		t.Errorf("whose failure it was: %+v", rec)
	}
}

// TestNothingGone: where nothing was to be kept the shares are whole, as where nothing was compacted.
func TestNothingGone(t *testing.T) {
	features.Proves(t, "I10")
	r := compact(t, newCompactor(t, kagewasm.Options{}), request(100_000, chat(60))).Report
	if m := r.Metrics; r.Compacted || m.WordsKept != 1 || m.FailureRetention != 1 || m.Completeness != 1 {
		t.Errorf("compacted %v, %+v", r.Compacted, m)
	}
}

// TestACompactionIsPutOff: a host may put a compaction off, for a call in flight for instance. It is asked where
// a compaction would be made, and nobody hears of one that is put off.
func TestACompactionIsPutOff(t *testing.T) {
	features.Proves(t, "K8")
	p := &fakePlugin{Name: "watch", Pre: answers(nil), Post: answers(nil)}
	var events []kagewasm.Event
	c := newCompactor(t, kagewasm.Options{Plugins: plugins(p),
		Audit: func(e kagewasm.Event) { events = append(events, e) }})
	busy := errors.New("a call is in flight")
	asked := 0
	put := func(req kagewasm.Request) kagewasm.Request {
		req.Begin = func(context.Context) error { asked++; return busy }
		return req
	}
	r, err := c.Compact(t.Context(), put(request(400, chat(60))))
	if err != busy || asked != 1 || r.Report.Compacted || !reflect.DeepEqual(r.Messages, chat(60)) {
		t.Fatalf("error %v, asked %d times, compacted %v", err, asked, r.Report.Compacted)
	}
	if n := len(p.Calls(abi.HookPreCompact)) + len(p.Calls(abi.HookPostCompact)); n > 0 || len(events) > 0 {
		t.Errorf("%d calls of a plugin, events %+v", n, events)
	}
	if _, err := c.Compact(t.Context(), put(request(100_000, chat(60)))); err != nil || asked != 1 {
		t.Errorf("below the threshold: asked %d times, %v", asked, err)
	}
	dry := put(request(400, chat(60)))
	dry.DryRun = true
	if _, err := c.Compact(t.Context(), dry); err != nil || asked != 1 {
		t.Errorf("a dry run: asked %d times, %v", asked, err)
	}
	if r := compact(t, c, request(400, chat(60))); !r.Report.Compacted {
		t.Error("it is not made later")
	}
}

func TestInputIsNeverChanged(t *testing.T) {
	msgs, want := chat(60), chat(60)
	compact(t, newCompactor(t, kagewasm.Options{}), request(400, msgs))
	if !reflect.DeepEqual(msgs, want) {
		t.Error("the caller's messages changed")
	}
}

func TestSameSessionSameResult(t *testing.T) {
	c := newCompactor(t, kagewasm.Options{})
	a, b := compact(t, c, request(400, chat(60))), compact(t, c, request(400, chat(60)))
	if !reflect.DeepEqual(a.Messages, b.Messages) || a.Record.ID != b.Record.ID {
		t.Error("two compactions of one session differ")
	}
}

// TestPruneOnly: where nobody can compact there is no hook and no error.
func TestPruneOnly(t *testing.T) {
	features.Proves(t, "A8")
	p := &fakePlugin{Name: "obs", Pre: answers(nil), Post: answers(nil)}
	c := newCompactor(t, kagewasm.Options{Policy: kagewasm.Policy{NoFloor: true}, Plugins: plugins(p)})
	r, err := c.Compact(t.Context(), request(400, chat(60)))
	if err != nil || r.Report.ReasonCode != abi.ReasonPruneOnly || r.Report.Compacted || len(p.Asked) > 0 {
		t.Errorf("%s, %d calls of the plugin, %v", r.Report.ReasonCode, len(p.Asked), err)
	}
}

// TestCommitFailed: where the result cannot be stored the list is as it came, to the byte.
func TestCommitFailed(t *testing.T) {
	features.Proves(t, "K11")
	msgs := chat(60)
	for i := range msgs {
		if msgs[i].Role == abi.RoleTool {
			msgs[i].Content = abi.Text(strings.Repeat("word ", 300))
		}
	}
	for _, fail := range []bool{false, true} {
		t.Run(fmt.Sprintf("commit fails %v", fail), func(t *testing.T) {
			c := newCompactor(t, kagewasm.Options{
				Policy: kagewasm.Policy{Prune: strategies.PruneConfig{ProtectTokens: 500, MinimumSavings: 100}}})
			req := request(1000, msgs)
			req.Commit = func(context.Context, *kagewasm.Result) error {
				if fail {
					return errors.New("disk full")
				}
				return nil
			}
			r, err := c.Compact(t.Context(), req)
			n := 0
			for i := range r.Messages {
				for k := range msgs {
					if msgs[k].ID == r.Messages[i].ID && msgs[k].Text() != r.Messages[i].Text() {
						n++
					}
				}
			}
			t.Logf("fail %v err %v: pruned %d saved %d; really changed %d; before %d after %d; code %s", fail, err,
				r.Report.Pruned.Count, r.Report.Pruned.TokensSaved, n, r.Report.TokensBefore, r.Report.TokensAfter,
				r.Report.ReasonCode)
			if fail && n != r.Report.Pruned.Count {
				t.Error("silent edits; and doc says the session as it was")
			}
		})
	}
}

// TestMessagesWithoutIDs: a host whose messages have no ids compacts them all the same.
// The same list has the same ids in every call, and so has one that grew.
func TestMessagesWithoutIDs(t *testing.T) {
	bare := func(msgs []abi.Message) []abi.Message {
		msgs = slices.Clone(msgs)
		for i := range msgs {
			msgs[i].ID = ""
		}
		return msgs
	}
	list := bare(long())
	r := compact(t, newCompactor(t, kagewasm.Options{}), request(longWindow, list))
	if !r.Report.Compacted || slices.Contains(strings.Fields(ids(r.Messages)), "") || list[0].ID != "" {
		t.Fatalf("%s: %s", r.Report.Reason, ids(r.Messages))
	}
	if calls, results := abi.Orphans(r.Messages); len(calls)+len(results) > 0 {
		t.Errorf("orphans %v %v", calls, results)
	}
	grown := bare(append(long(), chat(2)[1:]...))
	c := newCompactor(t, kagewasm.Options{})
	for range 2 {
		again := compact(t, c, request(longWindow, grown)).Report
		if n := len(r.Report.Superseded) - 10; n < 1 || !slices.Equal(again.Superseded[:n], r.Report.Superseded[:n]) {
			t.Errorf("other ids: %q, %q", again.Superseded[:3], r.Report.Superseded[:3])
		}
	}
	// The host goes on with what it was given, and what came since.
	next := append(slices.Clone(r.Messages), bare(chat(3))[1:]...)
	if _, err := c.Compact(t.Context(), request(longWindow, next)); err != nil {
		t.Error(err)
	}
}

// TestNextToNothingIsNoGain: a session of a few tokens of which a compaction would free next to none stays as it is,
// and the report says so with both figures; where somebody names a target it is made all the same.
func TestNextToNothingIsNoGain(t *testing.T) {
	features.Proves(t, "A8", "K20")
	msgs := []abi.Message{
		{ID: "goal", Role: abi.RoleUser, Content: abi.Text("Write hello to a.txt, and nothing else.")},
		{ID: "call", Role: abi.RoleAssistant, ToolCalls: []abi.ToolCall{{ID: "w", Name: "write_file",
			Arguments: `{"file_path": "a.txt", "content": "hello"}`}}},
		{ID: "result", Role: abi.RoleTool, ToolCallID: "w",
			Content: abi.Text("Overwrote /home/a/work/project/a.txt, 5 bytes.")},
		{ID: "on", Role: abi.RoleUser, Content: abi.Text("System: Please continue.")},
		{ID: "done", Role: abi.RoleAssistant, Content: abi.Text("It is written. What is next?")},
	}
	c := newCompactor(t, kagewasm.Options{})
	req := request(1000, msgs)
	req.Force = true
	few := 0
	for n := range 150 { // until what goes costs more than a note does
		msgs[2].Content = abi.Text("Overwrote /home/a/work/project/a.txt. " + strings.Repeat("more ", n))
		r := compact(t, c, req)
		before := r.Report.TokensBefore
		freed := before - r.Report.TokensAfter
		switch {
		case r.Report.Compacted && freed < 50 && freed*20 < before:
			t.Fatalf("%d of %d tokens are freed: %s", freed, before, r.Report.Reason)
		case r.Report.Compacted:
		case !slices.EqualFunc(r.Messages, msgs, func(x, y abi.Message) bool { return x.ID == y.ID }):
			t.Fatalf("not compacted, and other messages: %s", r.Report.Reason)
		case strings.Contains(r.Report.Reason, "a compaction would free "):
			if few++; r.Report.ReasonCode != abi.ReasonNothingToSupersede ||
				!strings.Contains(r.Report.Reason, fmt.Sprintf(" of %d tokens: nothing is gained by that", before)) {
				t.Fatalf("%s: %s", r.Report.ReasonCode, r.Report.Reason)
			}
			asked := req
			asked.Target = new(1)
			if r := compact(t, c, asked); !r.Report.Compacted {
				t.Fatalf("a target that somebody named: %s", r.Report.Reason)
			}
		}
	}
	if few == 0 {
		t.Error("no compaction would free next to nothing")
	}
}

// TestAllAgainKeepsTheNote: where everything goes, and soon again, the second note says what the first one said: it is
// short already.
func TestAllAgainKeepsTheNote(t *testing.T) {
	var msgs []abi.Message
	for n := range 40 {
		id := fmt.Sprint("m", n)
		msgs = append(msgs,
			abi.Message{ID: id, Role: abi.RoleUser,
				Content: abi.Text(fmt.Sprintf("Depot %d closes at %d:15 from now on.", n, n%24))},
			abi.Message{ID: "a" + id, Role: abi.RoleAssistant,
				Content: abi.Text(strings.Repeat("It is noted in the plan. ", 90))})
	}
	c := newCompactor(t, kagewasm.Options{})
	for round := range 3 {
		req := request(200_000, msgs)
		req.Force, req.Target = true, new(0)
		r := compact(t, c, req)
		note := r.Messages[len(r.Messages)-1].Text()
		told := strings.Count(note, ":15 from now on")
		if !r.Report.Compacted || told < 25 {
			t.Fatalf("round %d: %s; %d of 39 messages of a person are told: %s", round, r.Report.Reason, told, note)
		}
		msgs = append(slices.Clone(r.Messages),
			abi.Message{ID: fmt.Sprint("q", round), Role: abi.RoleUser, Content: abi.Text("Go on.")},
			abi.Message{ID: fmt.Sprint("r", round), Role: abi.RoleAssistant, Content: abi.Text("I go on with the depots.")})
	}
}
