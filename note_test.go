package kagewasm_test

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/kagewasm/kagewasm"
	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/features"
	"github.com/kagewasm/kagewasm/internal/shared"
	"github.com/kagewasm/kagewasm/internal/soak"
	"github.com/kagewasm/kagewasm/internal/survival"
	"github.com/kagewasm/kagewasm/strategies"
)

// TestDefaultsSurvival: with defaults, and 12% or 2.4% of the tokens as the
// target, the note and the newest messages together keep this share of the
// names that the agents went on to use. Where what is pinned and the current
// turn alone are over the target, the result is larger by them.
func TestDefaultsSurvival(t *testing.T) {
	features.Proves(t, "N8")
	c := newCompactor(t, kagewasm.Options{Counter: realCounter()})
	window := 1 << 30
	all := cuts(t)
	for _, tc := range []struct{ part, least float64 }{{0.12, 0.895}, {0.024, 0.71}} {
		t.Run(fmt.Sprintf("a note of %.3g%%", 100*tc.part), func(t *testing.T) {
			sum := 0.0
			for _, cut := range all {
				target := int(tc.part * float64(cut.tokens))
				result, err := c.Compact(t.Context(),
					kagewasm.Request{Messages: cut.before, Force: true, Target: &target, Session: abi.Session{ContextWindow: &window}})
				if err != nil {
					t.Fatal(err)
				}
				var texts []string
				for k := range result.Messages {
					texts = append(texts, survival.Text(&result.Messages[k]))
				}
				kept := survival.Held(strings.Join(texts, "\n"), cut.needed)
				t.Logf("%-46s at %3d: %6d tokens, target %5d, %5d left (%s): survival %.3f", cut.session,
					len(cut.before), cut.tokens, target, result.Report.TokensAfter, result.Report.ReasonCode, kept)
				sum += kept
			}
			mean := sum / float64(len(all))
			t.Logf("at %.1f%%: mean survival %.4f of %d", 100*tc.part, mean, len(all))
			if mean < tc.least {
				t.Errorf("at %.1f%%: survival %.4f, at least %.2f wanted", 100*tc.part, mean, tc.least)
			}
		})
	}
}

// TestWordsOfPersonsHaveRoom: in small windows the note of a session has what persons wrote in it whole, also where so
// little goes that a note of it is small: their words are few.
func TestWordsOfPersonsHaveRoom(t *testing.T) {
	features.Proves(t, "N8", "A6")
	c := newCompactor(t, kagewasm.Options{Counter: realCounter()})
	window, told := 16_000, 0
	for _, path := range shared.Sessions(t) {
		msgs := shared.Messages(t, path)
		if n := persons(msgs); n < 6 || len(msgs) > 130 {
			continue
		}
		r, err := c.Compact(t.Context(), kagewasm.Request{Messages: msgs, Force: true,
			Session: abi.Session{ContextWindow: &window}})
		if err != nil {
			t.Fatal(err)
		}
		if told++; r.Report.Metrics.WordsKept < 0.95 {
			t.Errorf("%s: %.2f of the words of persons in a note of %d tokens", filepath.Base(path),
				r.Report.Metrics.WordsKept, r.Report.Metrics.NoteTokens)
		}
	}
	if told < 8 {
		t.Errorf("%d sessions", told)
	}
}

// persons is how many messages of persons there are.
func persons(msgs []abi.Message) (n int) {
	for _, person := range abi.Persons(msgs) {
		if person {
			n++
		}
	}
	return n
}

// cut is a session up to where its agent compacted it.
type cut struct {
	session string
	before  []abi.Message
	tokens  int
	needed  map[string]bool // names that the agent used afterwards
}

// cuts are those in the shared sessions after which enough names are used: a
// few of them, in CI all.
func cuts(t *testing.T) (list []cut) {
	t.Helper()
	paths := shared.Sessions(t)
	for _, path := range soak.Sample(paths, 11, len(paths)) {
		msgs := shared.Messages(t, path)
		for i := range msgs {
			if msgs[i].Kind != abi.KindSummary {
				continue
			}
			c := cut{session: filepath.Base(path), before: msgs[:i], needed: survival.Needed(msgs, i)}
			if len(c.needed) < survival.Few {
				continue
			}
			for k := range c.before {
				c.tokens += realCounter().Message(&c.before[k])
			}
			list = append(list, c)
		}
	}
	return list
}

// TestFailuresOfPrunedOutput: a call that stays while its output was pruned
// failed all the same, and the note says how.
func TestFailuresOfPrunedOutput(t *testing.T) {
	features.Proves(t, "I4")
	c, err := kagewasm.New(kagewasm.Options{Counter: realCounter(),
		Policy: kagewasm.Policy{Note: strategies.NoteConfig{Tokens: 1000},
			Prune: strategies.PruneConfig{ProtectTokens: -1, MinimumSavings: -1}}})
	if err != nil {
		t.Fatal(err)
	}
	const problem = "error: no rule to make target parcel_lease"
	msgs := []abi.Message{{ID: "task", Role: abi.RoleUser, Content: abi.Text("Make it build.")}}
	for i := range 30 {
		id, output := fmt.Sprintf("c%d", i), strings.Repeat("a line of output\n", 40)
		if i == 28 {
			output = problem + "\n" + output
		}
		msgs = append(msgs, abi.Message{ID: "a" + id, Role: abi.RoleAssistant,
			Content:   abi.Text(strings.Repeat("Looking at it. ", 40)),
			ToolCalls: []abi.ToolCall{{ID: id, Name: "bash", Arguments: fmt.Sprintf(`{"command":"make target_%d"}`, i)}}},
			abi.Message{ID: "r" + id, Role: abi.RoleTool, ToolCallID: id, Content: abi.Text(output)})
	}
	target := 3000
	result, err := c.Compact(t.Context(), kagewasm.Request{Messages: msgs, Force: true, Target: &target})
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Contains(result.Report.Kept, "rc28") || !slices.Contains(result.Report.Pruned.IDs, "rc28") {
		t.Fatalf("the call was to stay, its output to be pruned: kept %v, pruned %v", result.Report.Kept,
			result.Report.Pruned.IDs)
	}
	if want := "$ make target_28\n" + problem; !strings.Contains(result.Report.Summary, want) {
		t.Errorf("no %q in\n%s", want, result.Report.Summary)
	}
}

// TestNamesOfShortenedOutput: where a plan shortens the output of a call that stays, the
// note names what the output no longer says.
func TestNamesOfShortenedOutput(t *testing.T) {
	features.Proves(t, "N8")
	keep := strategies.KeepConfig{ToolTokens: 100}
	c := newCompactor(t, kagewasm.Options{Counter: realCounter(), Policy: kagewasm.Policy{Keep: keep}})
	const name = "parcelLeaseTable"
	output := strings.Repeat("a line of output\n", 200) + name + "\n" + strings.Repeat("a line of output\n", 200)
	msgs := chat(200)
	for _, id := range []string{"long", "last"} {
		call := abi.ToolCall{ID: id, Name: "grep", Arguments: `{"pattern":"lease"}`}
		msgs = append(msgs, abi.Message{ID: "a" + id, Role: abi.RoleAssistant, ToolCalls: []abi.ToolCall{call}},
			abi.Message{ID: "r" + id, Role: abi.RoleTool, ToolCallID: id, Content: abi.Text(output)})
		output = "nothing"
	}
	target := 3000
	result, err := c.Compact(t.Context(), kagewasm.Request{Messages: msgs, Force: true, Target: &target})
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Contains(result.Report.Edited, "rlong") {
		t.Fatalf("the long result was to stay, shortened: %v, %s", result.Report.Edited, result.Report.Reason)
	}
	if !strings.Contains(result.Report.Summary, name) {
		t.Errorf("no %s in\n%s", name, result.Report.Summary)
	}
}

// TestOnlyADemonstrationWent: where nothing but a demonstration goes the note says so, and not that work of the session
// was left out.
func TestOnlyADemonstrationWent(t *testing.T) {
	features.Proves(t, "N13")
	example := abi.Message{ID: "example", Role: abi.RoleUser, Content: abi.Text("Here is a demonstration of how to " +
		"correctly accomplish this task.\n" + strings.Repeat("create reproduce.py\n", 200))}
	msgs := append([]abi.Message{example}, chat(3)...)
	total := 0
	for i := range msgs {
		total += wordCounter{}.Message(&msgs[i])
	}
	r := compact(t, newCompactor(t, kagewasm.Options{}), request(total, msgs))
	if want := "A demonstration of how to work, on another task, was left out."; !r.Report.Compacted ||
		has(r.Messages, "example") || !strings.Contains(r.Report.Summary, want) {
		t.Errorf("%s %v\n%s", r.Report.Reason, r.Report.Superseded, r.Report.Summary)
	}
}

// TestListsOfPersonsStay: each entry of a list that a person gave is still there, once, after twenty compactions
// in a small window, however short what else went is told.
func TestListsOfPersonsStay(t *testing.T) {
	features.Proves(t, "N13", "A6", "complaint 8")
	for _, tc := range []struct{ window, entries int }{{16_000, 25}, {16_000, 60}, {32_000, 120}} {
		t.Run(fmt.Sprintf("%d in %d", tc.entries, tc.window), func(t *testing.T) {
			c, r := newCompactor(t, kagewasm.Options{Counter: realCounter()}), rand.New(rand.NewPCG(1, 2))
			entries := make([]string, tc.entries)
			for i := range entries {
				entries[i] = fmt.Sprintf("Field f%d_%d is at most %d characters long; owner %s.", i, r.IntN(1000), r.IntN(500),
					[]string{"Ana", "Bo", "Cy"}[r.IntN(3)])
			}
			list := []abi.Message{{Role: abi.RoleSystem, Content: abi.Text("You are a coding agent.")},
				{Role: abi.RoleUser, Content: abi.Text("Build the importer.")},
				{Role: abi.RoleUser, Content: abi.Text("The fields of the importer:\n- " + strings.Join(entries, "\n- "))}}
			compactions := 0
			for turn := 0; compactions < 20; turn++ {
				for k := range 5 {
					command := fmt.Sprintf("go test ./pkg%d/...", turn)
					list = append(list, ranCommand(fmt.Sprintf("t%d_%d", turn, k), command, noise(r, 900))...)
				}
				list = append(list, abi.Message{Role: abi.RoleUser, Content: abi.Text(fmt.Sprintf("And now step %d.", turn))})
				for i := range list {
					list[i].ID = cmp.Or(list[i].ID, fmt.Sprintf("m%d-%d", turn, i))
				}
				res := compact(t, c, kagewasm.Request{Messages: list, Session: abi.Session{ContextWindow: &tc.window}})
				if list = res.Messages; res.Report.Compacted {
					compactions++
				}
			}
			var shown strings.Builder
			for i := range list {
				shown.WriteString(list[i].Text() + "\n")
			}
			for i, e := range entries {
				if n := strings.Count(shown.String(), e); n != 1 {
					t.Fatalf("entry %d stands there %d times:\n%s", i, n, shown.String()[:6000])
				}
			}
		})
	}
}

// TestListsOfShortMessagesStay: lists and criteria of short messages of persons, in whatever form, stay word for word
// where as little as possible is to stay, at a small target, and through compactions in a small window.
func TestListsOfShortMessagesStay(t *testing.T) {
	features.Proves(t, "A6", "N13")
	lists := []string{
		"Please add password reset. Definition of Done:\nAC1: A reset link expires after exactly 47 minutes\n" +
			"AC2: The mail comes from no-reply@portal.example\nAC3: Using a link twice answers 410 Gone",
		"Status from our board, keep to it:\n✅ login by SSO\n❌ login by password\n⏳ 2FA from 3 May",
		"Scenario: double submit\n  Given an order in state PENDING\n  When it is sent twice\n  Then one charge is made",
		"Die Abnahmekriterien:\n• Der Export läuft unter 90 Sekunden\n• Umlaute bleiben in Dateinamen erhalten",
		"It is done when the following hold. First, invoices below 0.50 EUR are carried over. Second, a credit note refers " +
			"to its invoice number. Third, rounding is half to even.",
	}
	for name, tc := range map[string]struct{ window, target int }{
		"as little as possible": {32_000, 0}, "a small target": {32_000, 6_000}, "a small window": {8_000, -1},
	} {
		t.Run(name, func(t *testing.T) {
			c, r := newCompactor(t, kagewasm.Options{Counter: realCounter()}), rand.New(rand.NewPCG(1, 2))
			list := []abi.Message{{Role: abi.RoleSystem, Content: abi.Text("You are a coding agent.")}}
			say := func(text string) {
				list = append(list, abi.Message{Role: abi.RoleUser, Content: abi.Text(text)},
					abi.Message{Role: abi.RoleAssistant, Content: abi.Text("Noted. " + noise(r, 60))})
			}
			ids := 0
			compacted := func() bool {
				for i := range list {
					ids++
					list[i].ID = cmp.Or(list[i].ID, fmt.Sprintf("m%d", ids))
				}
				req := kagewasm.Request{Messages: list, Session: abi.Session{ContextWindow: &tc.window}}
				if tc.target >= 0 {
					req.Force, req.Target = true, &tc.target
				}
				res := compact(t, c, req)
				list = res.Messages
				return res.Report.Compacted
			}
			compactions := 0
			for round := 0; compactions < 4; round++ {
				if round < len(lists) {
					say(lists[round])
				}
				for k := range 4 {
					say(fmt.Sprintf("Please fix the problem %d in src/file%d.go.", k, round))
					list = append(list, ranCommand(fmt.Sprintf("t%d_%d", round, k), "go vet ./...", noise(r, 200))...)
				}
				if done := compacted(); done && round >= len(lists) {
					compactions++
				}
			}
			shown := ""
			for i := range list {
				shown += list[i].Text() + "\n"
			}
			shown = strings.ReplaceAll(shown, "\n> ", "\n")
			for _, want := range lists {
				if !strings.Contains(shown, want) {
					t.Errorf("not whole: %q\n%s", want, shown)
				}
			}
		})
	}
}

// ranCommand is a call of a command, and its output.
func ranCommand(id, command, output string) []abi.Message {
	call := abi.ToolCall{ID: id, Name: "bash", Arguments: fmt.Sprintf(`{"command":%q}`, command)}
	return []abi.Message{
		{ID: "c" + id, Role: abi.RoleAssistant, Content: abi.Text("Looking at it."), ToolCalls: []abi.ToolCall{call}},
		{ID: "r" + id, Role: abi.RoleTool, ToolCallID: id, Content: abi.Text(output)}}
}

// noise is so many words that say nothing.
func noise(r *rand.Rand, words int) string {
	var b strings.Builder
	for range words {
		fmt.Fprintf(&b, "w%d ", r.IntN(9999))
	}
	return b.String()
}

// textsOf are the texts of messages, one below the other.
func textsOf(list []abi.Message) string {
	var b strings.Builder
	for i := range list {
		b.WriteString(list[i].Text() + "\n")
	}
	return b.String()
}

// TestByHandNoNoteShrinks: a note is short already. Who compacts by hand brings down what came since: what persons said
// stays whole, however often that is done in a window with room for it.
func TestByHandNoNoteShrinks(t *testing.T) {
	features.Proves(t, "N13")
	c, r, window := newCompactor(t, kagewasm.Options{Counter: realCounter()}), rand.New(rand.NewPCG(5, 6)), 64_000
	var kept []string
	list := []abi.Message{{ID: "sys", Role: abi.RoleSystem, Content: abi.Text("You are a coding agent.")}}
	for round := range 36 {
		id, words := fmt.Sprint(round), ""
		for range 24 {
			words += fmt.Sprintf("Part %d of the ledger goes to desk %d before noon. ", r.IntN(9999), r.IntN(9999))
		}
		words = strings.TrimSpace(words)
		kept = append(kept, words)
		list = append(list, abi.Message{ID: "u" + id, Role: abi.RoleUser, Content: abi.Text(words)})
		list = append(list, ranCommand(id, "cat src/f"+id+".go", noise(r, 450))...)
		list = append(list, abi.Message{ID: "a" + id, Role: abi.RoleAssistant, Content: abi.Text("Seen.")})
		if round%3 < 2 {
			continue
		}
		result := compact(t, c, kagewasm.Request{Messages: list, Force: true, Session: abi.Session{ContextWindow: &window}})
		before := result.Report.TokensBefore
		if list = result.Messages; result.Report.TokensAfter >= before {
			t.Fatalf("round %d: %d of %d tokens are left", round, result.Report.TokensAfter, before)
		}
		shown := textsOf(list)
		for _, s := range kept {
			if !strings.Contains(shown, s) {
				t.Fatalf("round %d: in %d of %d tokens %q is gone", round, result.Report.TokensAfter, window, s)
			}
		}
	}
}

// TestByHandAgain: who compacts by hand what was just compacted, three times more, loses no words by it.
func TestByHandAgain(t *testing.T) {
	features.Proves(t, "N13")
	c, r, window := newCompactor(t, kagewasm.Options{Counter: realCounter()}), rand.New(rand.NewPCG(7, 8)), 16_000
	list := []abi.Message{{ID: "sys", Role: abi.RoleSystem, Content: abi.Text("You are a coding agent.")}}
	var kept []string
	for round := range 24 {
		id, words := fmt.Sprint(round), fmt.Sprintf("Part %d of the ledger goes to desk %d.", r.IntN(9999), r.IntN(9999))
		kept = append(kept, words)
		list = append(list, abi.Message{ID: "u" + id, Role: abi.RoleUser, Content: abi.Text(words)})
		list = append(list, ranCommand(id, "cat src/f"+id+".go", noise(r, 300))...)
		list = append(list, abi.Message{ID: "a" + id, Role: abi.RoleAssistant, Content: abi.Text("Seen.")})
	}
	for again := range 4 {
		list = compact(t, c, kagewasm.Request{Messages: list, Force: true,
			Session: abi.Session{ContextWindow: &window}}).Messages
		shown := textsOf(list)
		for _, s := range kept {
			if !strings.Contains(shown, s) {
				t.Fatalf("compacted %d times: %q is gone", again+1, s)
			}
		}
	}
}

// TestWordsOfPersonsThroughManualCompactions: what persons said stays whole through any number of compactions that
// somebody asks for, in a window that is never full.
func TestWordsOfPersonsThroughManualCompactions(t *testing.T) {
	features.Proves(t, "N13")
	c, r, window := newCompactor(t, kagewasm.Options{Counter: realCounter()}), rand.New(rand.NewPCG(3, 4)), 200_000
	long := func(statements ...string) (text string) {
		for _, s := range statements {
			text += s + " " + strings.Repeat("It was like that in spring as well, as far as I remember it. ", 4)
		}
		return strings.TrimSpace(text)
	}
	said := []string{
		long("The nightly run belongs to Svenja, so talk to her before its schedule moves.",
			"It's good enough when the March file goes through without a single skipped row.",
			"Never mail customers from the test system.", "We keep two columns for the name."),
		"Nothing gets rolled out on a Thursday.", "Two it is, then.",
		long("What customers see on the status page must stay as it is today.", "Ravi owns the parser.",
			"Use tabs in makefiles.", "Prices are always integers in cents."),
		"One attempt and then a loud failure please.", "Treat the vendor folder as read-only.",
		"Ticket OPS-4471 belongs to Priya from now."}
	var kept []string
	list := []abi.Message{{ID: "sys", Role: abi.RoleSystem, Content: abi.Text("You are a coding agent.")},
		{ID: "task", Role: abi.RoleUser, Content: abi.Text("Help me with the importer.")}}
	for round := range 36 {
		words := fmt.Sprintf("Go on with part %d.", round)
		if round < len(said) {
			words = said[round]
			for _, s := range strings.SplitAfter(words, ". ") {
				if s = strings.TrimSpace(s); !strings.HasPrefix(s, "It was like") {
					kept = append(kept, s)
				}
			}
		}
		list = append(list, abi.Message{ID: fmt.Sprintf("u%d", round), Role: abi.RoleUser, Content: abi.Text(words)})
		for k := range 3 {
			id := fmt.Sprintf("%d-%d", round, k)
			list = append(list, ranCommand(id, "cat src/f"+id+".go", noise(r, 150))...)
		}
		list = append(list, abi.Message{ID: fmt.Sprintf("a%d", round), Role: abi.RoleAssistant,
			Content: abi.Text("Done so far. " + noise(r, 20))})
		if round%3 < 2 {
			continue
		}
		list = compact(t, c, kagewasm.Request{Messages: list, Force: true,
			Session: abi.Session{ContextWindow: &window}}).Messages
		shown := textsOf(list)
		for _, s := range kept {
			if !strings.Contains(shown, s) {
				t.Fatalf("round %d: %q is gone", round, s)
			}
		}
	}
}
