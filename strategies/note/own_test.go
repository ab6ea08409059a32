package note_test

import (
	"strings"
	"testing"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/features"
	"github.com/kagewasm/kagewasm/strategies/note"
)

// TestWhatThePersonRan: a command that a person ran from within the harness is told as theirs, with what came back,
// and the last commit and the branch are those that it left, in each form in which harnesses write it.
func TestWhatThePersonRan(t *testing.T) {
	features.Proves(t, "N13")
	before := session("Mend it.", edit("/srv/kw/a.go", "ok", false),
		run("git commit -am x", "[main 3f2a1bc] x\n 1 file changed", false), said("Committed."))
	kind := func(text string) abi.Message {
		return abi.Message{Role: abi.RoleUser, Kind: abi.KindBash, Content: abi.Text(text)}
	}
	const commit = "[main 77aa001] by hand\n 1 file changed"
	for _, tc := range []struct {
		why        string
		ran        []abi.Message
		want, left string // in the thread, and of how things stand
	}{
		{"in two messages", session("<bash-input>git commit -am 'by hand'</bash-input>",
			"<bash-stdout>"+commit+"</bash-stdout><bash-stderr></bash-stderr>"),
			"- The person ran: `git commit -am 'by hand'` → committed 77aa001 by hand",
			"- Last commit: 77aa001 by hand on branch main"},
		{"in one message", session("<bash-input>git switch next</bash-input>\n<bash-stdout></bash-stdout><bash-stderr>" +
			"Switched to branch 'next'</bash-stderr>"),
			"- The person ran: `git switch next` → Switched to branch 'next'", "- Branch: next"},
		{"with the code of its exit", session(kind("<user_shell_command>\n<command>\ngit push\n</command>\n<result>\n" +
			"Exit code: 0\nDuration: 0.4 seconds\nOutput:\n3f2a1bc..77aa001  main -> main\n</result>\n</user_shell_command>")),
			"- The person ran: `git push` → 3f2a1bc..77aa001 main -> main", "- Last commit: 3f2a1bc x on branch main, pushed"},
		{"where it failed", session(kind("Ran `git push`\n```\nerror: failed to push some refs\n```\n\n" +
			"Command exited with code 1")),
			"- The person ran: `git push` → failed: error: failed to push some refs",
			"- Last commit: 3f2a1bc x on branch main, not pushed"},
		{"where nobody knows how it ended", session("<bash-input>git push</bash-input>",
			"<bash-stdout></bash-stdout><bash-stderr>rejected</bash-stderr>"), "- The person ran: `git push` → rejected",
			"- Last commit: 3f2a1bc x on branch main\n"},
		{"what only looks", session(kind("Ran `ls`\n```\na.go\n```")), "- The person ran: `ls` → a.go",
			"- Last commit: 3f2a1bc x"},
	} {
		t.Run(tc.why, func(t *testing.T) {
			text := render(session(before, tc.ran, "And now?"), note.Options{})
			for round := range 2 {
				if got := thread(text); !strings.Contains(got, "\n"+tc.want+"\n") {
					t.Errorf("round %d: no %q in\n%s", round, tc.want, got)
				}
				if got := state(text) + "\n"; !strings.Contains(got, tc.left) {
					t.Errorf("round %d: no %q in\n%s", round, tc.left, got)
				}
				text = render(session(summary(text), "Go on."), note.Options{})
			}
		})
	}
	t.Run("where its message stays", func(t *testing.T) {
		msgs := session(before, "<bash-input>git switch next</bash-input>",
			"<bash-stdout></bash-stdout><bash-stderr>Switched to branch 'next'</bash-stderr>", "And now?", said("Well."))
		s := gone(msgs)
		k := len(before)
		s.Gone[k], s.Gone[k+1] = false, false
		text := write(s, note.Options{})
		if strings.Contains(thread(text), "switch next") || !strings.Contains(state(text), "- Branch: next") {
			t.Errorf("%s", text)
		}
	})
}
