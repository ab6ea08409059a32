package note_test

import (
	"fmt"
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
		s := note.Session{Messages: msgs, Gone: make([]bool, len(msgs))}
		for i := range s.Gone {
			s.Gone[i] = i > 0
		}
		lost := false
		for _, l := range note.Losses(t.Context(), s) {
			lost = lost || l.Kind == note.LostFailure
		}
		if lost != tc.lost {
			t.Errorf("behind %s it is lost: %v", tc.later, lost)
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
	want := "[rule u1 decision a2 failure r4 file a3 message a1 message r3 message a4]"
	if fmt.Sprint(got) != want {
		t.Errorf("%v, want %s", got, want)
	}
}
