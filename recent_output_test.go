package kagewasm_test

import (
	"cmp"
	"slices"
	"strings"
	"testing"

	kagewasm "github.com/kagewasm/kagewasm"
	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/features"
	"github.com/kagewasm/kagewasm/strategies"
)

// withOutput is a chat of so many calls, with an output of many words at the nth of them.
func withOutput(calls int, id string, words int) []abi.Message {
	msgs := chat(calls)
	i := slices.IndexFunc(msgs, func(m abi.Message) bool { return m.ID == id })
	msgs[i].Content = abi.Text("begins " + strings.Repeat("word ", words) + "ends")
	return msgs
}

// TestNewestOutputIsCutFirst: where output among the newest messages is what makes a session too
// long, that is cut to its beginning and end before a summary is thought of: nothing goes, no
// model is asked, and all that stands before it is still in the provider's cache. So are arguments.
func TestNewestOutputIsCutFirst(t *testing.T) {
	features.Proves(t, "I7", "K2", "K25", "complaint 5", "complaint 11")
	arguments := chat(60)
	at := slices.IndexFunc(arguments, func(m abi.Message) bool { return m.ID == "a57" })
	arguments[at].ToolCalls = []abi.ToolCall{{ID: "c57", Name: "write",
		Arguments: `{"path":"a.go","text":"` + strings.Repeat("word ", 6000) + `"}`}}
	for why, tc := range map[string]struct {
		msgs []abi.Message
		cut  string
	}{"output": {withOutput(60, "t57", 6000), "t57"}, "arguments": {arguments, "a57"}} {
		t.Run(why, func(t *testing.T) {
			m := writes("all is well")
			r := compact(t, newCompactor(t, kagewasm.Options{Model: m}), request(7000, tc.msgs))
			p := r.Report
			if p.Compacted || p.ReasonCode != abi.ReasonBelowThreshold || !slices.Equal(p.Pruned.IDs, []string{tc.cut}) ||
				p.TokensAfter > p.Target || len(m.Requests()) > 0 {
				t.Fatalf("pruned %v, %d requests: %s", p.Pruned.IDs, len(m.Requests()), p.Reason)
			}
			i := slices.IndexFunc(tc.msgs, func(m abi.Message) bool { return m.ID == tc.cut })
			before := 0
			for k := range tc.msgs[:i] {
				before += wordCounter{}.Message(&tc.msgs[k])
			}
			if p.Metrics.Cache.PrefixTokens != before {
				t.Errorf("%d tokens are in the cache, and %d stand before what was cut", p.Metrics.Cache.PrefixTokens, before)
			}
			if text := r.Messages[i].Text(); tc.cut == "t57" && (!strings.HasPrefix(text, "begins") ||
				!strings.HasSuffix(text, "ends")) {
				t.Errorf("beginning and end are not left: %s", text)
			}
			again := compact(t, newCompactor(t, kagewasm.Options{Model: m}), request(7000, r.Messages)).Report
			if again.Compacted || again.Pruned.Count > 0 {
				t.Errorf("a second look changed it: %s", again.Reason)
			}
		})
	}
}

// TestNewestOutputStays: output among the newest messages is not cut for nothing to go where
// something goes all the same, where somebody asked for a compaction or has a say in it, and
// where it is switched off; what the model is busy with is not cut for it either.
func TestNewestOutputStays(t *testing.T) {
	features.Proves(t, "I7", "K25")
	much := func(words int, ids ...string) []abi.Message { // none of the outputs is a giant
		msgs := chat(60)
		for i := range msgs {
			if slices.Contains(ids, msgs[i].ID) {
				msgs[i].Content = abi.Text(strings.Repeat("word ", words))
			}
		}
		return msgs
	}
	newest := much(1400, "t57", "t58", "t59")
	busy := slices.Clone(withOutput(60, "t59", 2500))
	busy = busy[:len(busy)-1] // the results are the last that was said
	as := func(p kagewasm.Policy) kagewasm.Options { return kagewasm.Options{Policy: p} }
	own := as(kagewasm.Policy{Strategy: "mine"})
	own.Strategies = map[string]strategies.Strategy{"mine": strategies.Drop{}}
	noRecent := strategies.SummarizeConfig{PreserveRecent: -1}
	for why, tc := range map[string]struct {
		msgs    []abi.Message
		window  int // 0: 6,300
		options kagewasm.Options
		ask     func(*kagewasm.Request)
		whole   bool // what stays of the output is not cut
	}{
		"asked for":     {msgs: newest, ask: func(r *kagewasm.Request) { r.Force = true }},
		"with a target": {msgs: newest, ask: func(r *kagewasm.Request) { r.Target = new(3780) }},
		"refused": {msgs: much(350, "t57", "t58", "t59"),
			ask: func(r *kagewasm.Request) { r.Reason = abi.TriggerOverflow }},
		"a plugin's to say":  {msgs: newest, options: kagewasm.Options{Plugins: plugins(compactor(answers(nil)))}},
		"the host's own":     {msgs: newest, options: own},
		"no pruning":         {msgs: newest, options: as(kagewasm.Policy{Prune: strategies.PruneConfig{Off: true}})},
		"nothing recent":     {msgs: newest, options: as(kagewasm.Policy{Summarize: noRecent})},
		"no caps":            {msgs: newest, options: as(kagewasm.Policy{Keep: strategies.KeepConfig{MessageTokens: -1}})},
		"a recent end":       {msgs: newest, options: as(kagewasm.Policy{Keep: strategies.KeepConfig{Messages: 10}})},
		"older ones":         {msgs: much(1400, "t38", "t39", "t40")},
		"something goes":     {msgs: withOutput(300, "t297", 2000), window: 8000, whole: true},
		"the model is at it": {msgs: busy, window: 4000, whole: true},
	} {
		t.Run(why, func(t *testing.T) {
			req := request(cmp.Or(tc.window, 6300), tc.msgs)
			if tc.ask != nil {
				tc.ask(&req)
			}
			r := compact(t, newCompactor(t, tc.options), req)
			if !r.Report.Compacted {
				t.Fatalf("not compacted: %s", r.Report.Reason)
			}
			if tc.whole && r.Report.Pruned.Count > 0 {
				t.Errorf("%v were cut", r.Report.Pruned.IDs)
			}
		})
	}
}
