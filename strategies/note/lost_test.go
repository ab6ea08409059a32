package note_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/features"
	"github.com/kagewasm/kagewasm/strategies/note"
)

// TestLossesThatPassed: a failure is lost where nothing settled it: the same check did not pass later, by itself, with
// others, or as a part of a wider one.
func TestLossesThatPassed(t *testing.T) {
	const passed, failed = "ok  \tkw/store\t0.3s", "Exit code 1\n--- FAIL: TestSweep (0.01s)"
	for _, tc := range []struct {
		later string
		lost  bool
	}{
		{"go test ./store -run TestSweep", false}, {"make lint && go test ./store -run TestSweep", false},
		{"go test ./...", false}, {"go test ./docs", true}, {"make lint", true},
	} {
		msgs := session("Mend it.", run("go test ./store -run TestSweep", failed, true), run(tc.later, passed, false))
		for _, stays := range []int{0, 2} { // of the last ones
			s := note.Session{Messages: msgs, Gone: make([]bool, len(msgs))}
			for i := range s.Gone {
				s.Gone[i] = i > 0 && i < len(msgs)-stays
			}
			lost := false
			for _, l := range note.Losses(t.Context(), s) {
				lost = lost || l.Kind == note.LostFailure
			}
			if lost != tc.lost {
				t.Errorf("behind %s, of which %d messages stay, it is lost: %v", tc.later, stays, lost)
			}
		}
	}
}

// TestLossesByTheirLines: the message of a failure is the one that has a line of it, and not another one that ended
// with the same code.
func TestLossesByTheirLines(t *testing.T) {
	features.Proves(t, "N14")
	msgs := session("Mend it.", run("go test ./store", "Exit code 1\n--- FAIL: TestSweep (0.01s)", true),
		run("grep x a.go", "Exit code 1", false))
	s := note.Session{Messages: msgs, Gone: make([]bool, len(msgs))}
	want := ""
	for i := range msgs {
		s.Gone[i] = i > 0
		if msgs[i].ID = fmt.Sprint("m", i); strings.Contains(msgs[i].Text(), "TestSweep") {
			want = msgs[i].ID
		}
	}
	for _, l := range note.Losses(t.Context(), s) {
		if l.Kind == note.LostFailure && l.Message != want {
			t.Errorf("%s, want %s", l.Message, want)
		}
	}
}

// TestLosses: what went is told with its place, first what people and the agent had
// committed to; what stays is not.
func TestLosses(t *testing.T) {
	features.Proves(t, "N14")
	text := func(id string, role abi.Role, text string) abi.Message {
		return abi.Message{ID: id, Role: role, Content: abi.Text(text)}
	}
	call := func(id, name, args string) abi.Message {
		return abi.Message{ID: id, Role: abi.RoleAssistant,
			ToolCalls: []abi.ToolCall{{ID: "c" + id, Name: name, Arguments: args}}}
	}
	result := func(id, of, says string) abi.Message {
		m := text(id, abi.RoleTool, says)
		m.ToolCallID = "c" + of
		return m
	}
	msgs := []abi.Message{
		text("task", abi.RoleUser, "Make the parcels count right. Never push to main."),
		text("a1", abi.RoleAssistant, "I look at the store first."),
		text("u1", abi.RoleUser, "From now on use tabs."),
		text("a2", abi.RoleAssistant, "We decided to keep SQLite."),
		call("a3", "write_file", `{"path":"/src/store.go","content":"x"}`), result("r3", "a3", "ok"),
		call("a4", "bash", `{"command":"go test ./store"}`),
		result("r4", "a4", "--- FAIL: TestSweep (0.01s)\nFAIL\nexit status 1"),
		text("u2", abi.RoleUser, "Never delete the table."),
	}
	gone := []bool{false, true, true, true, true, true, true, true, false}
	var got []string
	for _, l := range note.Losses(t.Context(), note.Session{Messages: msgs, Gone: gone}) {
		got = append(got, fmt.Sprintf("%s %s", l.Kind, l.Message))
	}
	want := "[rule u1 decision a2 claim a1 failure r4 file a3 message r3 message a4]"
	if fmt.Sprint(got) != want {
		t.Errorf("%v, want %s", got, want)
	}
}

// lossesOf are the losses of a kind, where all but the task goes.
func lossesOf(t *testing.T, kind note.LossKind, msgs ...abi.Message) (texts []string) {
	t.Helper()
	msgs = append([]abi.Message{{ID: "task", Role: abi.RoleUser, Content: abi.Text("Make the parcels count right.")}},
		msgs...)
	s := note.Session{Messages: msgs, Gone: make([]bool, len(msgs))}
	for i := range s.Gone {
		s.Gone[i] = i > 0
	}
	for _, l := range note.Losses(t.Context(), s) {
		if l.Kind == kind {
			texts = append(texts, l.Message+": "+l.Text)
		}
	}
	return texts
}

func words(id string, role abi.Role, text string) abi.Message {
	return abi.Message{ID: id, Role: role, Content: abi.Text(text)}
}

// TestLostRules: what persons said must be, with the heading of its list, what they corrected and what they did not
// allow; then what may be a rule. What is said again is told once, where it was said last.
func TestLostRules(t *testing.T) {
	features.Proves(t, "N14")
	push := abi.Message{ID: "a1", Role: abi.RoleAssistant, ToolCalls: []abi.ToolCall{{ID: "c1", Name: "Bash",
		Arguments: `{"command":"git push --force"}`}}}
	refused := words("r1", abi.RoleTool, "The user doesn't want to proceed with this tool use. The tool use was rejected.")
	refused.ToolCallID, refused.IsError = "c1", true
	got := lossesOf(t, note.LostRule,
		words("u1", abi.RoleUser, "I think the columns should be integers."),
		words("u2", abi.RoleUser, "Never delete the table."),
		push, refused,
		words("u3", abi.RoleUser, "no, put it into the other container"),
		words("u4", abi.RoleUser, "For the release:\n- sign the archives\n- tag the commit"),
		words("u5", abi.RoleUser, "Never delete the table."),
	)
	want := []string{"r1: not allowed: `git push --force`", "u3: no, put it into the other container",
		"u4: For the release: sign the archives", "u4: For the release: tag the commit", "u5: Never delete the table.",
		"u1: I think the columns should be integers."}
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	if failures := lossesOf(t, note.LostFailure, push, refused); len(failures) > 0 {
		t.Errorf("what a person did not allow is no failure: %q", failures)
	}
}

// TestLostDecisions: what the agent decided and found is known by its words for that, and not by those that bind
// persons: it announces steps with these.
func TestLostDecisions(t *testing.T) {
	features.Proves(t, "N14")
	for _, tc := range []struct {
		says string
		lost bool
	}{
		{"I chose SQLite.", true},
		{"The fix is simple: use queueMessage instead of appendMessage while it streams.", true},
		{"The root cause is that the lease is read before the clock is.", true},
		{"Let's run the tests again to see the real failures.", false},
		{"Now let me make sure that the rules are always read.", false},
		{"Now I update the plan to create main-new.ts instead of changing main.ts:", false},
		{"Shall we use integers instead of text for the columns of the leases?", false},
		{"I see the issue.", false},
	} {
		if got := lossesOf(t, note.LostDecision, words("a1", abi.RoleAssistant, tc.says)); (len(got) == 1) != tc.lost {
			t.Errorf("%q: %q", tc.says, got)
		}
	}
}

// TestLostFilesHaveTheirPlace: a file is listed with the call that changed it last, also where that names it by a part
// of its path, and not with a later one that only reads it.
func TestLostFilesHaveTheirPlace(t *testing.T) {
	features.Proves(t, "N14")
	call := func(n, name, args, result string) []abi.Message {
		r := words("r"+n, abi.RoleTool, result)
		r.ToolCallID = "c" + n
		return []abi.Message{{ID: "a" + n, Role: abi.RoleAssistant,
			ToolCalls: []abi.ToolCall{{ID: "c" + n, Name: name, Arguments: args}}}, r}
	}
	got := lossesOf(t, note.LostFile, slices.Concat(
		call("1", "Write", `{"file_path":"/src/kw/store/lease.go","content":"x"}`, "ok"),
		call("2", "Bash", `{"command":"cd /src/kw && cp /tmp/lease.go store/lease.go"}`, "Process exited with code 0"),
		call("3", "Write", `{"file_path":"/src/kw/a.go","content":"x"}`, "ok"),
		call("4", "Read", `{"file_path":"/src/kw/store/lease.go"}`, "x"),
	)...)
	if want := []string{"a2: /src/kw/store/lease.go", "a3: /src/kw/a.go"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// TestLostRest: of the rest what persons said comes first, then what the agent said, then calls and results.
func TestLostRest(t *testing.T) {
	features.Proves(t, "N14")
	looked := abi.Message{ID: "a1", Role: abi.RoleAssistant, ToolCalls: []abi.ToolCall{{ID: "c1", Name: "Read",
		Arguments: `{"file_path":"a.go"}`}}}
	result := words("r1", abi.RoleTool, "package a")
	result.ToolCallID = "c1"
	got := lossesOf(t, note.LostMessage, looked, result, words("a2", abi.RoleAssistant, "It is small."),
		words("u1", abi.RoleUser, "And how long is it?"))
	want := []string{"u1: And how long is it?", "a2: It is small.", `a1: Read {"file_path":"a.go"}`, "r1: package a"}
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// TestLostStatements: what people had committed to stands before what failed and what was changed, in whatever words
// they said it; greetings, thanks, "go on", questions and what was pasted say nothing of the kind. Of a long message it
// is the statement in the middle that is told.
func TestLostStatements(t *testing.T) {
	features.Proves(t, "N14")
	long := strings.Repeat("It was a long week with many meetings. ", 8) + "The ledger belongs to Priya now. " +
		strings.Repeat("We all went home late after that. ", 8)
	for _, tc := range []struct{ says, told string }{
		{"Treat the vendor folder as read-only.", "Treat the vendor folder as read-only."},
		{"Go with the blue one.", "Go with the blue one."},
		{"Ticket OPS-4471 belongs to Priya from now.", "Ticket OPS-4471 belongs to Priya from now."},
		{"Public API names are frozen since v3.", "Public API names are frozen since v3."},
		{"Not the red button, the green.", "Not the red button, the green."},
		{"Die Preise gelten ab Mai.", "Die Preise gelten ab Mai."},
		{"价格从五月起生效。", "价格从五月起生效。"},
		{"thanks! Use pnpm.", "Use pnpm."},
		{long, "The ledger belongs to Priya now."},
		{"thanks!", ""}, {"nice work", ""}, {"go on", ""}, {"continue", ""}, {"yes", ""}, {"How long is it?", ""},
		{"Good morning! How are you?", ""}, {"```\nthe port is open\n```", ""},
	} {
		got := lossesOf(t, note.LostStatement, words("u1", abi.RoleUser, tc.says))
		if tc.told == "" && len(got) > 0 || tc.told != "" && !slices.Contains(got, "u1: "+tc.told) {
			t.Errorf("%q: %q", tc.says, got)
		}
	}
	got := lossesOf(t, note.LostStatement, words("u1", abi.RoleUser, "Go with the blue one."),
		words("u2", abi.RoleUser, "Use tabs in the maps. Never use spaces there."),
		words("u3", abi.RoleUser, "Go with the blue one."))
	if want := []string{"u2: Use tabs in the maps.", "u3: Go with the blue one."}; !slices.Equal(got, want) {
		t.Errorf("what is said again, or is a rule: %q, want %q", got, want)
	}
}

// TestLostClaims: what the agent committed to when it spoke to people stands before failures and files too: what it
// decided and promised first, then what else it said, and not what it announced.
func TestLostClaims(t *testing.T) {
	features.Proves(t, "N14")
	calls := words("a0", abi.RoleAssistant, "I look at the store and its tests first.")
	calls.ToolCalls = []abi.ToolCall{{ID: "c1", Name: "Read", Arguments: `{"file_path":"a.go"}`}}
	result := words("r1", abi.RoleTool, "package a")
	result.ToolCallID = "c1"
	says := []abi.Message{calls, result}
	for i, text := range []string{"I'll store amounts as integer cents, floats would drift.",
		"I promise to add the rollback script before the release.", "We settle on zstd level 3.",
		"Decided: I keep the retry count at 3 because the gateway bans after 4.", "Looking.", "Let me read the tests.",
		"Great idea!", "Shall I go on with that then?", "I'll store amounts as integer cents, since floats would drift.",
		"Amounts are integer cents now."} {
		says = append(says, words(fmt.Sprint("a", i+1), abi.RoleAssistant, text))
	}
	decided := []string{"a2: I promise to add the rollback script before the release.", "a3: We settle on zstd level 3.",
		"a4: Decided: I keep the retry count at 3 because the gateway bans after 4.",
		"a1: I'll store amounts as integer cents, floats would drift.",
		"a9: I'll store amounts as integer cents, since floats would drift."}
	if got := lossesOf(t, note.LostDecision, says...); !slices.Equal(got, decided) {
		t.Errorf("decided: %q, want %q", got, decided)
	}
	claimed := []string{"a10: Amounts are integer cents now."}
	if got := lossesOf(t, note.LostClaim, says...); !slices.Equal(got, claimed) {
		t.Errorf("claimed: %q, want %q", got, claimed)
	}
}

// TestLostInOrder: the kinds stand in the order of what people and the agent had committed to.
func TestLostInOrder(t *testing.T) {
	features.Proves(t, "N14")
	msgs := append(session("Mend it.", run("go test ./store", "Exit code 1\n--- FAIL: TestSweep (0.01s)", true)),
		words("u1", abi.RoleUser, "thanks!"), words("u2", abi.RoleUser, "Go with the blue one."),
		words("u3", abi.RoleUser, "Never touch prod.cfg."), words("a1", abi.RoleAssistant, "The build takes four minutes."),
		words("a2", abi.RoleAssistant, "I chose SQLite over DuckDB because there is one writer."))
	s := note.Session{Messages: msgs, Gone: make([]bool, len(msgs))}
	for i := range msgs {
		s.Gone[i] = i > 0
	}
	var kinds []note.LossKind
	for _, l := range note.Losses(t.Context(), s) {
		kinds = append(kinds, l.Kind)
	}
	want := []note.LossKind{note.LostRule, note.LostStatement, note.LostDecision, note.LostClaim, note.LostFailure,
		note.LostMessage}
	if got := slices.Compact(kinds); !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}
