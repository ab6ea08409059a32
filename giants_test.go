package kagewasm_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	kagewasm "github.com/kagewasm/kagewasm"
	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/features"
	"github.com/kagewasm/kagewasm/internal/invariants"
	"github.com/kagewasm/kagewasm/internal/sessiongen"
	"github.com/kagewasm/kagewasm/strategies"
)

// giantWords is what nobody types: a question, a pasted log, and a wish below it.
var giantWords = "Why does this fail?\n" + strings.Repeat("a line of a log\n", 1000) + "Leave the database alone."

// TestGiantOfAPerson: a first or current message of a person that no window holds is cut
// to its beginning and end, never dropped, with a reference to the rest, and the report
// says so. A second look leaves it as it is.
func TestGiantOfAPerson(t *testing.T) {
	features.Proves(t, "K10", "A11", "complaint 5")
	put := func(id string, c abi.Content) []abi.Message {
		msgs := chat(20)
		for i := range msgs {
			if msgs[i].ID == id {
				msgs[i].Content = c
			}
		}
		return msgs
	}
	parts := abi.Parts(abi.TextPart("See below."), abi.TextPart(giantWords))
	both := put("goal", abi.Text(giantWords))
	both[len(both)-1].Content = abi.Text(giantWords)
	for name, tc := range map[string]struct {
		msgs  []abi.Message
		words []string
	}{
		"first":         {put("goal", abi.Text(giantWords)), []string{"goal"}},
		"current":       {put("last", abi.Text(giantWords)), []string{"last"}},
		"first, a part": {put("goal", parts), []string{"goal"}},
		"both":          {both, []string{"goal", "last"}},
	} {
		t.Run(name, func(t *testing.T) {
			c := newCompactor(t, kagewasm.Options{})
			req := request(1000, tc.msgs)
			req.Recall = "ask the host"
			r := compact(t, c, req) // which does not exceed the window
			if !slices.Equal(r.Report.Pruned.Words, tc.words) || r.Report.TokensAfter > 850 {
				t.Fatalf("of %v beginning and end are left, %s", r.Report.Pruned.Words, r.Report.Reason)
			}
			for _, m := range r.Messages {
				if !slices.Contains(tc.words, m.ID) {
					continue
				}
				said := m.Text()
				for _, want := range []string{"Why does this fail?\n", "Leave the database alone.",
					" characters left out here: message " + m.ID + "; ask the host ...]"} {
					if !strings.Contains(said, want) {
						t.Errorf("%s does not say %q: %s", m.ID, want, said)
					}
				}
			}
			if !strings.Contains(r.Report.Reason, "was said in "+tc.words[0]) {
				t.Errorf("the reason does not say it: %s", r.Report.Reason)
			}
			report, err := json.Marshal(r.Report)
			if err != nil {
				t.Fatal(err)
			}
			for _, problem := range invariants.Check(sessiongen.JSONL(tc.msgs), sessiongen.JSONL(r.Messages), report) {
				if !strings.Contains(problem, "characters") { // words are no tokens
					t.Error(problem)
				}
			}
			again := compact(t, c, request(1000, r.Messages))
			if got, want := sessiongen.JSONL(again.Messages), sessiongen.JSONL(r.Messages); string(got) != string(want) {
				t.Errorf("a second look changed it: %s", again.Report.Reason)
			}
		})
	}
}

// TestGiantOutputOfAPersonsCommand: what a command put out that a person ran is cut as the
// output of tools is, before any word of a person, and leaves room for a note.
func TestGiantOutputOfAPersonsCommand(t *testing.T) {
	features.Proves(t, "K10", "A11", "complaint 5")
	listing := strings.Repeat("a name of a file\n", 1000)
	for name, m := range map[string]abi.Message{
		"a kind says so": {Role: abi.RoleUser, Kind: abi.KindBash, Content: abi.Text("Ran `find .`\n" + listing + "end")},
		"its form says so": {Role: abi.RoleUser, Content: abi.Text("<bash-stdout>Ran `find .`\n" + listing +
			"end</bash-stdout>")},
	} {
		t.Run(name, func(t *testing.T) {
			m.ID = "ran"
			msgs := append(chat(80), m)
			req := request(1500, msgs)
			req.Recall = "ask the host"
			r := compact(t, newCompactor(t, kagewasm.Options{}), req)
			cut := r.Messages[len(r.Messages)-1].Text()
			for _, want := range []string{"Ran `find .`\na name of a file\n", "end",
				" characters left out here: message ran; ask the host ...]"} {
				if !strings.Contains(cut, want) {
					t.Errorf("it does not say %q: %s", want, cut)
				}
			}
			if p := r.Report.Pruned; !slices.Contains(p.IDs, "ran") || len(p.Words) > 0 {
				t.Errorf("the report says that %v were cut, and the words in %v", p.IDs, p.Words)
			}
			if !r.Report.Compacted || r.Report.TokensAfter > 900 || !strings.Contains(r.Report.Summary, "## Thread") {
				t.Errorf("%s; the note: %s", r.Report.Reason, r.Report.Summary)
			}
			report, err := json.Marshal(r.Report)
			if err != nil {
				t.Fatal(err)
			}
			for _, problem := range invariants.Check(sessiongen.JSONL(msgs), sessiongen.JSONL(r.Messages), report) {
				if !strings.Contains(problem, "characters") { // words are no tokens
					t.Error(problem)
				}
			}
		})
	}
}

// TestOutputOfAPersonsCommandLeavesTheNoteItsDue: what a command put out that a person ran last fits under the
// target, and takes most of it: it is cut for the note to have what it is due. Where it leaves that, it stays whole.
func TestOutputOfAPersonsCommandLeavesTheNoteItsDue(t *testing.T) {
	features.Proves(t, "K10", "A11", "complaint 5")
	for _, tc := range []struct {
		lines int
		cut   bool
	}{{800, true}, {100, false}} {
		t.Run(fmt.Sprintf("%d lines", tc.lines), func(t *testing.T) {
			listing := "Ran `find .`\n" + strings.Repeat("a name of a file\n", tc.lines) + "end"
			ran := abi.Message{ID: "ran", Role: abi.RoleUser, Kind: abi.KindBash, Content: abi.Text(listing)}
			msgs := append(chat(2000), ran)
			req := request(10_000, msgs)
			req.Recall = "ask the host"
			r := compact(t, newCompactor(t, kagewasm.Options{}), req)
			last := r.Messages[len(r.Messages)-1].Text()
			if cut := last != listing; cut != tc.cut || r.Report.TokensAfter > 6000 || len(r.Report.Pruned.Words) > 0 {
				t.Errorf("cut: %v; %s; it begins %.40q", cut, r.Report.Reason, last)
			}
			if tc.cut && (!strings.HasPrefix(last, "Ran `find .`\na name") || !strings.HasSuffix(last, "\nend") ||
				!strings.Contains(last, "message ran; ask the host ...]") || !slices.Contains(r.Report.Pruned.IDs, "ran")) {
				t.Errorf("pruned %v: %s", r.Report.Pruned.IDs, last)
			}
			if left := 6000 - r.Report.TokensAfter; left > 1500 {
				t.Errorf("%d tokens are left unused: %s", left, r.Report.Reason)
			}
		})
	}
}

// TestManyResultsAtOnce: where many calls were answered at once, none of the results is a giant and together they leave
// no room, they are cut on until a target that was asked for is met.
func TestManyResultsAtOnce(t *testing.T) {
	features.Proves(t, "K10", "complaint 5")
	calls := abi.Message{ID: "calls", Role: abi.RoleAssistant}
	msgs := chat(80)
	for i := range 10 {
		id := fmt.Sprintf("call-%d", i)
		calls.ToolCalls = append(calls.ToolCalls, abi.ToolCall{ID: id, Name: "look", Arguments: "{}"})
		msgs = append(msgs, abi.Message{ID: "r" + id, Role: abi.RoleTool, ToolCallID: id,
			Content: abi.Text("begins " + strings.Repeat("word ", 300) + "ends")})
	}
	msgs = slices.Insert(msgs, len(msgs)-10, calls)
	req := request(100_000, msgs)
	req.Force, req.Target = true, new(2200)
	r := compact(t, newCompactor(t, kagewasm.Options{}), req)
	if !r.Report.Compacted || r.Report.TokensAfter > 2200 || r.Report.TokensAfter < 1800 {
		t.Errorf("%d tokens: %s", r.Report.TokensAfter, r.Report.Reason)
	}
	for _, m := range r.Messages[len(r.Messages)-10:] {
		if text := m.Text(); !strings.HasPrefix(text, "begins") || !strings.HasSuffix(text, "ends") {
			t.Errorf("%s: %s", m.ID, text)
		}
	}
}

// TestRulesOfAGiant: a rule and a name that stand in what is left out of a giant message are
// told by the note.
func TestRulesOfAGiant(t *testing.T) {
	features.Proves(t, "K10", "complaint 3")
	const rule, name = "You must never push to the branch release-7.", "deploy/cluster9/values.yaml"
	msgs := chat(80)
	msgs[1].Content = abi.Text(strings.Replace(giantWords, strings.Repeat("a line of a log\n", 500),
		strings.Repeat("a line of a log\n", 500)+rule+"\nread "+name+"\n", 1))
	r := compact(t, newCompactor(t, kagewasm.Options{}), request(1500, msgs))
	if !r.Report.Compacted || len(r.Report.Pruned.Words) == 0 || strings.Contains(r.Messages[1].Text(), rule) {
		t.Fatalf("not cut and compacted: %s", r.Report.Reason)
	}
	for _, want := range []string{rule, "values.yaml"} {
		if !strings.Contains(r.Report.Summary, want) {
			t.Errorf("the note does not say %q: %s", want, r.Report.Summary)
		}
	}
}

// TestWordsStayWhole: what a person wrote is cut under pressure alone, and not where
// somebody says that it stays.
func TestWordsStayWhole(t *testing.T) {
	features.Proves(t, "K10")
	marked := chat(20)
	marked[1].Content = abi.Text(giantWords)
	marked[1].Meta = abi.Meta{abi.MetaAlwaysKeep: json.RawMessage("true")}
	giant := slices.Clone(marked)
	giant[1].Meta = nil
	all := func(*abi.Message) bool { return true }
	for _, tc := range []struct {
		why    string
		msgs   []abi.Message
		keep   strategies.KeepConfig
		window int
		target *int
	}{
		{"a mark keeps it", marked, strategies.KeepConfig{}, 1000, nil},
		{"a predicate of the operator keeps it", giant, strategies.KeepConfig{Always: []func(*abi.Message) bool{all}}, 1000,
			nil},
		{"switched off", giant, strategies.KeepConfig{MessageTokens: -1}, 1000, nil},
		{"a window that holds it", giant, strategies.KeepConfig{}, 8000, nil},
		{"a window that holds nothing else", giant[:2], strategies.KeepConfig{}, 5200, nil},
		{"a small target alone", giant, strategies.KeepConfig{}, 8000, new(1000)},
	} {
		t.Run(tc.why, func(t *testing.T) {
			req := request(tc.window, tc.msgs)
			req.Target, req.Force = tc.target, true
			r, err := newCompactor(t, kagewasm.Options{Policy: kagewasm.Policy{Keep: tc.keep}}).Compact(t.Context(), req)
			if code := abi.CodeOf(err); code != "" && code != abi.CodeExceedsWindow {
				t.Fatal(err)
			}
			i := slices.IndexFunc(r.Messages, func(m abi.Message) bool { return m.ID == "goal" })
			if i < 0 || r.Messages[i].Text() != giantWords || len(r.Report.Pruned.Words) > 0 {
				t.Errorf("cut or gone: %s", r.Report.Reason)
			}
		})
	}
}

// TestTaskThatTheWindowHolds: what has to stay fits the window and leaves no room below the threshold. The
// session is far longer, and everything else goes: the task stays to the byte, and so it does in a second look.
func TestTaskThatTheWindowHolds(t *testing.T) {
	features.Proves(t, "K10", "A11")
	task := chat(1)
	task[1].Content = abi.Text(giantWords)
	fixed := compact(t, newCompactor(t, kagewasm.Options{}), request(100_000, task)).Report.TokensAfter
	for _, tc := range []struct {
		window int
		cut    bool
	}{{fixed * 110 / 100, false}, {fixed * 125 / 100, false}, {fixed * 90 / 100, true}} {
		t.Run(fmt.Sprintf("%d tokens in a window of %d", fixed, tc.window), func(t *testing.T) {
			msgs := chat(1000)
			msgs[1].Content = abi.Text(giantWords)
			c := newCompactor(t, kagewasm.Options{})
			r := compact(t, c, request(tc.window, msgs))
			if cut := r.Messages[1].Text() != giantWords; cut != tc.cut || cut != (len(r.Report.Pruned.Words) > 0) {
				t.Errorf("cut: %v, the words of %v: %s", cut, r.Report.Pruned.Words, r.Report.Reason)
			}
			if !r.Report.Compacted || r.Report.TokensAfter > tc.window || r.Messages[1].ID != "goal" {
				t.Errorf("%d tokens: %s", r.Report.TokensAfter, r.Report.Reason)
			}
			again := compact(t, c, request(tc.window, r.Messages))
			if got, want := sessiongen.JSONL(again.Messages), sessiongen.JSONL(r.Messages); string(got) != string(want) {
				t.Errorf("a second look changed it: %s", again.Report.Reason)
			}
		})
	}
}

// TestPrunedIsSaid: where pruning alone brings a session under the upper threshold it is
// not compacted down to the lower one, and the report says so with both figures.
func TestPrunedIsSaid(t *testing.T) {
	features.Proves(t, "K2", "K20")
	msgs := chat(30)
	for i := range msgs {
		if msgs[i].Role == abi.RoleTool && i < 12 {
			msgs[i].Content = abi.Text(strings.Repeat("word ", 100))
		}
	}
	c := newCompactor(t, kagewasm.Options{
		Policy: kagewasm.Policy{Prune: strategies.PruneConfig{ProtectTokens: 100, MinimumSavings: 100}}})
	for _, tc := range []struct {
		window int
		said   bool
	}{{820, true}, {10_000, false}} {
		t.Run(fmt.Sprintf("window of %d", tc.window), func(t *testing.T) {
			r := compact(t, c, request(tc.window, msgs)).Report
			share := 100 * r.TokensAfter / tc.window
			if r.Compacted || r.Pruned.Count == 0 || tc.said != (share > 60 && share < 85) {
				t.Fatalf("%d%% of the window: %s", share, r.Reason)
			}
			if got := strings.Contains(r.Reason, "pruned to"); got != tc.said ||
				got && !strings.Contains(r.Reason, "goes down to 60%") {
				t.Errorf("the reason is %q", r.Reason)
			}
		})
	}
}

// TestGiantAmongWhatMayGo: an answer that leaves no room is cut where it stands and named in the report, so
// that what is older goes oldest first beside it.
func TestGiantAmongWhatMayGo(t *testing.T) {
	features.Proves(t, "K4", "complaint 5")
	msgs := chat(60)
	at := slices.IndexFunc(msgs, func(m abi.Message) bool { return m.ID == "a40" })
	msgs = slices.Insert(msgs, at, abi.Message{ID: "long", Role: abi.RoleAssistant, Content: abi.Text(giantWords)})
	for _, window := range []int{1500, 3000, 5000} {
		r := compact(t, newCompactor(t, kagewasm.Options{}), request(window, msgs))
		if stays := has(r.Messages, "long"); stays != (window > 1500) || stays != slices.Equal(r.Report.Pruned.Words,
			[]string{"long"}) || stays != strings.Contains(r.Report.Reason, "was said in long") ||
			len(r.Report.Pruned.Calls) > 0 || r.Report.TokensAfter > r.Report.Target {
			t.Errorf("a window of %d: %v, %v: %s", window, r.Report.Pruned.Words, r.Report.Pruned.Calls, r.Report.Reason)
		}
		var may []string // go, in order
		for i := range msgs {
			if !slices.Contains(r.Report.Pinned, msgs[i].ID) {
				may = append(may, msgs[i].ID)
			}
		}
		if n := len(r.Report.Superseded); !slices.Equal(r.Report.Superseded, may[:n]) {
			t.Errorf("a window of %d: %v go, which are not the oldest", window, r.Report.Superseded)
		}
	}
	req := request(5000, msgs)
	req.Force = true
	if r := compact(t, newCompactor(t, kagewasm.Options{}), req); !r.Report.Compacted || !has(r.Messages, "long") {
		t.Errorf("asked for: %s", r.Report.Reason)
	}
}
