package kagewasm_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	kagewasm "github.com/kagewasm/kagewasm"
	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/features"
	"github.com/kagewasm/kagewasm/strategies"
)

// grow is a session that grows by an exchange a call, for so many calls, each
// looked at first, and what came of each look.
func grow(t *testing.T, c *kagewasm.Compactor, window, overhead, calls int,
	list []abi.Message) (looks []*kagewasm.Result) {

	t.Helper()
	for k := range calls {
		req := request(window, list)
		req.Overhead = overhead
		r, err := c.Compact(t.Context(), req)
		if err != nil && abi.CodeOf(err) != abi.CodeExceedsWindow {
			t.Fatal(err)
		}
		looks = append(looks, r)
		list = append(slices.Clip(r.Messages), renamed(chat(1)[2:4], fmt.Sprintf("n%d-", k))...)
	}
	return looks
}

func compactions(looks []*kagewasm.Result) (n int) {
	for _, r := range looks {
		if r.Report.Compacted {
			n++
		}
	}
	return n
}

// TestOverhead: where tool definitions alone are about as much as the
// threshold, nothing that goes brings the session under it for long. It is not
// compacted, and no model asked, at every call, but when it has to be; the report
// says what is wrong. What has to fit, or is asked for, runs.
func TestOverhead(t *testing.T) {
	features.Proves(t, "complaint 1")
	for _, overhead := range []int{6500, 6700, 7000, 7300} {
		t.Run(fmt.Sprintf("overhead of %d", overhead), func(t *testing.T) {
			m := writes("all is well")
			looks := grow(t, newCompactor(t, kagewasm.Options{Model: m}), longWindow, overhead, 60, chat(1))
			// There are 340 tokens that could go each time, of which a note is at
			// most 160 and its frame: at least four exchanges.
			if n := compactions(looks); n > 60/4 || len(m.Requests()) > 2*n {
				t.Errorf("overhead %d: %d compactions in 60 calls, %d requests to the model", overhead, n, len(m.Requests()))
			}
			for k, r := range looks {
				if r.Report.TokensAfter > longWindow {
					t.Errorf("overhead %d, call %d: %s", overhead, k, r.Report.Reason)
				}
				if r.Report.ReasonCode == abi.ReasonNotWorthIt && r.Record != nil {
					t.Errorf("overhead %d, call %d: a record of nothing: %s", overhead, k, r.Report.Reason)
				}
			}
			if said := warnings(looks); len(said) != 1 || !strings.Contains(said[0], fmt.Sprint(overhead)) {
				t.Errorf("overhead %d: told %q", overhead, said)
			}
		})
	}
	c := newCompactor(t, kagewasm.Options{})
	req := request(longWindow, chat(10))
	req.Overhead = 7000
	if r := compact(t, c, req).Report; r.Compacted || r.ReasonCode != abi.ReasonNotWorthIt {
		t.Errorf("ten exchanges are not worth it: %s", r.Reason)
	}
	for why, change := range map[string]func(*kagewasm.Request){
		"asked for":        func(r *kagewasm.Request) { r.Force = true },
		"refused":          func(r *kagewasm.Request) { r.Reason = abi.TriggerOverflow },
		"down to a target": func(r *kagewasm.Request) { r.Target = new(6000) },
		"over the window":  func(r *kagewasm.Request) { r.Overhead = 7800 },
	} {
		t.Run(why, func(t *testing.T) {
			req := req
			change(&req)
			if r, err := c.Compact(t.Context(), req); !r.Report.Compacted {
				t.Errorf("%s, %v", r.Report.Reason, err)
			}
		})
	}
}

// TestOneRewrite: between two compactions nothing in front is touched, so that
// a provider's cache serves all of the request before; a compaction rewrites
// once, behind the stable head, and is weighed in the report.
func TestOneRewrite(t *testing.T) {
	features.Proves(t, "complaint 11")
	c := newCompactor(t, kagewasm.Options{Model: writes("all is well")})
	looks := grow(t, c, longWindow, 500, 400, chat(60))
	input, cached := 0, 0
	for k, r := range looks {
		cache := r.Report.Metrics.Cache
		if k == 0 {
			continue
		}
		input, cached = input+r.Report.TokensAfter, cached+cache.PrefixTokens
		if !r.Report.Compacted && cache.PrefixTokens != cache.PreviousTokens {
			t.Errorf("call %d: %d of %d tokens can be served, and nothing was compacted", k, cache.PrefixTokens,
				cache.PreviousTokens)
		}
		if r.Report.Compacted && (r.Report.Receipt == nil ||
			*r.Report.Receipt.LostPrefixTokens != cache.PreviousTokens-cache.PrefixTokens || cache.PrefixTokens < 500) {
			t.Errorf("call %d: cache %+v, receipt %+v", k, cache, r.Report.Receipt)
		}
	}
	n := compactions(looks)
	if n < 2 || n > 10 || float64(cached) < 0.9*float64(input) {
		t.Errorf("%d compactions in %d calls, %d of %d tokens from the cache", n, len(looks), cached, input)
	}
}

// TestRowsLoopChains: whatever transforms the list, over chains of
// compactions, no call and no result is left alone that was not before; also
// where ids are used again and calls never answered.
func TestRowsLoopChains(t *testing.T) {
	features.Proves(t, "complaint 2")
	odd := func(k int) []abi.Message {
		msgs := renamed(chat(40)[2:], fmt.Sprintf("k%d-", k))
		for i := range msgs { // as real logs do: an id for many calls, and a call without an answer
			if msgs[i].Role == abi.RoleTool {
				msgs[i].ToolCallID = "call"
			}
			for j := range msgs[i].ToolCalls {
				msgs[i].ToolCalls[j].ID = "call"
			}
		}
		return append(msgs, abi.Message{ID: fmt.Sprintf("open%d", k), Role: abi.RoleAssistant,
			ToolCalls: []abi.ToolCall{{ID: fmt.Sprint("never", k), Name: "run", Arguments: "{}"}}})
	}
	for why, opts := range map[string]kagewasm.Options{
		"drop":      {},
		"a model":   {Model: writes("all is well")},
		"a plugin":  {Plugins: plugins(compactor(keepOnly("Short.", fixed)))},
		"a summary": {Plugins: plugins(granted("obs", answers(&abi.Output{Summary: "Short."})))},
		"everything": {Model: writes("all is well"),
			Policy: kagewasm.Policy{Keep: strategies.KeepConfig{Messages: 11, ToolTokens: 5, MessageTokens: 20}}},
	} {
		t.Run(why, func(t *testing.T) {
			c := newCompactor(t, opts)
			list := chat(2)
			n := 0
			for k := range 8 {
				list = append(slices.Clip(list), odd(k)...)
				before, _ := abi.Orphans(list)
				r := compact(t, c, request(1500, list))
				calls, results := abi.Orphans(r.Messages)
				if len(results) > 0 || len(calls) > len(before) {
					t.Errorf("%s, compaction %d: calls without an answer %v (%v before), results without a call %v",
						why, k, calls, before, results)
				}
				if r.Report.Compacted {
					n++
				}
				list = r.Messages
			}
			if n < 4 {
				t.Errorf("%d compactions", n)
			}
		})
	}
}

// TestRulesStay: under every strategy, over chains, what is
// pinned is there word for word, though no summary says a word of it; a plugin
// that leaves it out is not followed.
func TestRulesStay(t *testing.T) {
	features.Proves(t, "complaint 3", "K10")
	const rule = "Never touch the folder vendor/."
	for why, opts := range map[string]kagewasm.Options{
		"drop":     {},
		"a model":  {Model: writes("nothing of note")},
		"a plugin": {Plugins: plugins(compactor(keepOnly("Short.", fixed)))},
		"a plugin that leaves it out": {Plugins: plugins(compactor(keepOnly("Short.", func(m *abi.InputMessage) bool {
			return m.ID == "sys" || m.ID == "goal" || strings.HasSuffix(m.ID, "last")
		})))},
		"a summary of a plugin": {Plugins: plugins(granted("obs", answers(&abi.Output{Summary: "Short."})))},
	} {
		t.Run(why, func(t *testing.T) {
			opts.Policy.Keep.Always = []func(*abi.Message) bool{
				func(m *abi.Message) bool { return strings.HasPrefix(m.Text(), "OPERATOR:") }}
			c := newCompactor(t, opts)
			list := chat(5)
			list = append(list, abi.Message{ID: "rule", Role: abi.RoleUser, Content: abi.Text(rule),
				Meta: abi.Meta{abi.MetaAlwaysKeep: []byte("true")}},
				abi.Message{ID: "operator", Role: abi.RoleUser, Content: abi.Text("OPERATOR: tests before code")})
			for k := range 6 {
				list = append(slices.Clip(list), renamed(chat(60)[2:], fmt.Sprintf("k%d-", k))...)
				r := compact(t, c, request(1500, list))
				if list = r.Messages; !r.Report.Compacted {
					t.Errorf("%s, compaction %d: %s", why, k, r.Report.Reason)
				}
				for i, id := range []string{"sys", "goal"} {
					t.Run(id, func(t *testing.T) {
						if list[i].ID != id || list[i].Text() != chat(0)[i].Text() {
							t.Errorf("%s, compaction %d: it begins %s", why, k, ids(list[:2]))
						}
					})
				}
				for id, text := range map[string]string{"rule": rule, "operator": "OPERATOR: tests before code"} {
					t.Run(id, func(t *testing.T) {
						at := slices.IndexFunc(list, func(m abi.Message) bool { return m.ID == id })
						if at < 0 || list[at].Text() != text {
							t.Errorf("%s, compaction %d: %s is gone or changed", why, k, id)
						}
					})
				}
				if strings.Contains(why, "leaves it out") && k == 0 && failureCodes(r.Report.Failures) != string(abi.CodePinned) {
					t.Errorf("%v", r.Report.Failures)
				}
			}
		})
	}
}

// TestIsNoCompaction: old tool output is pruned below the threshold, and that
// leaves no record, calls no hook, supersedes nothing, and makes no event; the
// newest 40,000 tokens and protected tools stay.
func TestIsNoCompaction(t *testing.T) {
	features.Proves(t, "K20")
	msgs := chat(20)
	for i := range msgs {
		if msgs[i].Role == abi.RoleTool {
			msgs[i].Content = abi.Text(strings.Repeat("out ", 5000))
		}
	}
	msgs[2].ToolCalls[0].Name = "read"
	p := &fakePlugin{Name: "obs", Pre: answers(nil), Post: answers(nil)}
	c := newCompactor(t, kagewasm.Options{Plugins: plugins(p), Audit: func(e kagewasm.Event) {
		t.Errorf("event %s", e.Type)
	}})
	r := compact(t, c, request(200_000, msgs))
	rep := r.Report
	if rep.Compacted || r.Record != nil || len(rep.Superseded)+len(p.Asked)+len(rep.Inserted) > 0 ||
		rep.ReasonCode != abi.ReasonBelowThreshold {
		t.Errorf("%s: record %v, %d hooks", rep.Reason, r.Record, len(p.Asked))
	}
	if rep.Pruned.Count == 0 || rep.TokensAfter != rep.TokensBefore-rep.Pruned.TokensSaved ||
		rep.Pruned.TokensSaved < 20_000 {
		t.Errorf("%+v, %d of %d tokens left", rep.Pruned, rep.TokensAfter, rep.TokensBefore)
	}
	for i, m := range r.Messages {
		newest := i >= len(msgs)-1-2*7
		switch {
		case m.Role != abi.RoleTool:
		case (newest || m.ID == "t0") && m.Text() != msgs[i].Text():
			t.Errorf("%s was pruned", m.ID)
		case m.ID == "t1" && !strings.Contains(m.Text(), "[Pruned — "):
			t.Errorf("t1 is %.60q", m.Text())
		}
	}
	// 11 results: 14,998 tokens could go
	if small := compact(t, c, request(200_000, msgs[:24])).Report; small.Pruned.Count > 0 {
		t.Errorf("too little to gain, and pruned: %+v", small.Pruned)
	}
}

// TestModelForgets: a model that says nothing of what it was given
// does not make the session forget: the exact names of the first compaction are
// there after the sixth.
func TestModelForgets(t *testing.T) {
	features.Proves(t, "complaint 8")
	c := newCompactor(t, kagewasm.Options{Model: writes("all is well"),
		Policy: kagewasm.Policy{Note: strategies.NoteConfig{Tokens: 1500}}})
	list := append(chat(2), abi.Message{ID: "find", Role: abi.RoleAssistant,
		Content: abi.Text("The bug is in internal/store/lease_table.go: ReserveNextParcel holds tokenBucketLock. " +
			"ReserveNextParcel in internal/store/lease_table.go it is.")})
	for k := range 6 {
		list = append(slices.Clip(list), renamed(chat(310)[2:], fmt.Sprintf("k%d-", k))...)
		r := compact(t, c, request(longWindow, list))
		if list = r.Messages; r.Report.Strategy != "summarize" {
			t.Fatalf("compaction %d: by %s, %v", k, r.Report.Strategy, r.Report.Failures)
		}
		for _, name := range []string{"internal/store/lease_table.go", "ReserveNextParcel"} {
			t.Run(name, func(t *testing.T) {
				if !strings.Contains(sessionText(list), name) {
					t.Errorf("compaction %d: %s is lost", k, name)
				}
			})
		}
	}
}
