package note_test

import (
	"strings"
	"testing"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/features"
	"github.com/kagewasm/kagewasm/strategies/note"
)

// TestWhatBecameOfASummary: below a line of a summary that somebody else wrote the note says what calls behind it show
// became of what the line names, after any number of compactions, and nothing where they do not show it.
func TestWhatBecameOfASummary(t *testing.T) {
	features.Proves(t, "N13")
	theirs := func(text string) abi.Message {
		return abi.Message{Role: abi.RoleUser, Kind: abi.KindSummary, Content: abi.Text(text)}
	}
	const open = "Look at it.\n\n## Next Steps\n"
	old := edit("/srv/kw/src/tui/tui-renderer.ts", "ok", false)
	gone := run("rm /srv/kw/src/tui/tui-renderer.ts", "", false)
	tested := run("mise run test", "ok  \tkw/src\t0.4s", false)
	// The harness marks what failed.
	failed := run("ls /srv/none", "ls: /srv/none: No such file or directory", true)
	broken := run("mise run test", "Exit code 1\n--- FAIL: TestX (0.1s)\nFAIL\tkw/src", true)
	commit := run("git commit -m 'WP15: Create InteractiveMode'",
		"[refactor 0020de8] WP15: Create InteractiveMode\n 1 file changed", false)
	for _, tc := range []struct {
		why  string
		msgs []abi.Message
		want []string
	}{
		{"a file that was deleted", session("Go.", old, theirs("Old code works: `tui-renderer.ts` is kept."), gone),
			[]string{"> Old code works: `tui-renderer.ts` is kept.\n  by now: `tui-renderer.ts` is deleted\n"}},
		{"a file that was moved", session("Go.", failed, theirs("`main-new.ts` has it."),
			edit("/srv/kw/main-new.ts", "ok", false), run("mv /srv/kw/main-new.ts /srv/kw/main.ts", "", false)),
			[]string{"> `main-new.ts` has it.\n  by now: `main-new.ts` is moved to /srv/kw/main.ts\n"}},
		{"one of two of that name", session("Go.", theirs("`tui-renderer.ts` is kept."), old,
			edit("/srv/kw/old/tui-renderer.ts", "ok", false), gone), nil},
		{"a check that passed", session("Go.", theirs(open+"- Run tests (`mise run test`)"), broken, tested),
			[]string{"> - Run tests (`mise run test`)\n  by now: `mise run test` passed\n"}},
		{"a check that failed later", session("Go.", theirs(open+"- Run tests (`mise run test`)"), tested, broken), nil},
		{"a check that ran before it", session("Go.", tested, theirs(open+"- Run tests (`mise run test`)"), old), nil},
		{"a check that was not open", session("Go.", theirs("Tests are run by `mise run test`."), tested), nil},
		{"a file that was changed", session("Go.", theirs(open+"- `tui-renderer.ts` (line 372)"), old),
			[]string{"> - `tui-renderer.ts` (line 372)\n  by now: `tui-renderer.ts` was changed\n"}},
		{"a commit that names it", session("Go.", theirs("## Next Steps (WP14-WP20)\n\n### WP15: Create InteractiveMode\n"+
			"- Take `x.ts`"), commit), []string{"> WP15: Create InteractiveMode\n  by now: WP15 was committed: 0020de8 WP15"}},
		{"a todo that is done", session("Go.", theirs("## Pending Tasks\n- Task #6: Wire up the hooks (IN PROGRESS)"),
			todoWrite("Wire up the hooks", "completed", "Run everything there is", "pending")),
			[]string{"> - Task #6: Wire up the hooks (IN PROGRESS)\n  by now: \"Wire up the hooks\" is done, by the todos\n"}},
		{"one that was done then", session("Go.", theirs("## Current Work\n- ✅ Wire up hooks to the handlers"),
			todoWrite("Wire up hooks to the handlers", "completed")), nil},
		{"checks by their kinds", session("Go.", theirs(open+"- Run linting and tests to verify the fix"), tested,
			run("mise run lint 2>&1", "0 issues.", false), failed), []string{"> - Run linting and tests to verify the fix\n" +
			"  by now: `mise run lint 2>&1` passed; `mise run test` passed\n"}},
		{"checks that are to be written", session("Go.", theirs(open+"- Add tests for the lock"), tested), nil},
		{"checks of which one failed", session("Go.", theirs(open+"- Run the tests"), tested, broken), nil},
		{"a folder", session("Go.", failed, theirs(open+"1. Create folders: `src/utils/`, `src/old/`"),
			edit("/srv/kw/src/utils/a.ts", "ok", false), edit("/srv/kw/src/utils/b.ts", "ok", false),
			edit("/srv/kw/src/old/b.ts", "ok", false), run("rm /srv/kw/src/old/b.ts", "", false)),
			[]string{"> 1. Create folders: `src/utils/`, `src/old/`\n" +
				"  by now: `src/utils/` is there, with files that were changed\n"}},
		{"a command that names a file that is gone", session("Go.", failed,
			theirs("- Test via `npx tsx src/cli-new.ts --help`"),
			edit("/srv/kw/src/cli-new.ts", "ok", false), run("mv /srv/kw/src/cli-new.ts /srv/kw/src/cli.ts", "", false)),
			[]string{"  by now: `src/cli-new.ts` is moved to "}},
		{"what was to be kept", session("Go.", failed, old,
			theirs("## Preferences\n- Keep the former renderer working\n- Use tabs"),
			run("rm /srv/kw/src/tui/tui-renderer.ts; echo done", "done", false)),
			[]string{"> - Keep the former renderer working\n  by now: deleted since: `tui-renderer.ts`\n> - Use tabs\n"}},
		{"what was deleted before", session("Go.", failed, old, gone,
			theirs("## Preferences\n- Keep the former renderer")), nil},
		{"a commit of one of many", session("Go.", theirs(open+"WP15-WP20: clean up"), commit), nil},
	} {
		t.Run(tc.why, func(t *testing.T) {
			text := render(append(tc.msgs, said("Done.")), note.Options{Budget: 8000})
			for round := range 3 {
				for _, want := range tc.want {
					if !strings.Contains(text+"\n", want) {
						t.Errorf("round %d: no %q in\n%s", round, want, text)
					}
				}
				if got := strings.Count(text, "by now:"); got != len(tc.want) {
					t.Errorf("round %d: %d lines are told of:\n%s", round, got, text)
				}
				text = render(session(summary(text)), note.Options{Budget: 8000})
			}
		})
	}
	t.Run("what became of it later", func(t *testing.T) {
		text := render(session("Go.", old, theirs(open+"- `tui-renderer.ts` and `mise run test`"), old),
			note.Options{Budget: 8000})
		text = render(session(summary(text), "And now?", tested, gone, said("Done.")), note.Options{Budget: 8000})
		if want := "  by now: `tui-renderer.ts` is deleted; `mise run test` passed\n"; !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	})
}

// TestCodeOfWhatWasOpen: of what a summary calls open and of what bound, what is long and code is left out: the steps
// stand before it and behind.
func TestCodeOfWhatWasOpen(t *testing.T) {
	features.Proves(t, "N13")
	tree := strings.Repeat("├── core/agent-session.ts         # MOVE from src/\n", 9)
	theirs := abi.Message{Role: abi.RoleUser, Kind: abi.KindSummary, Content: abi.Text("## Current Task: Move\n\n" +
		"### Agreed Structure\n```\nsrc/\n" + tree + "```\n\nNote: one file stays.\n\n## Next Steps\n1. Move files\n" +
		"```bash\nmise run test\n```\n\n## Files\n```\n" + tree + "```\n")}
	const want = "> Current Task: Move\n> Agreed Structure\n> [10 more lines]\n> Note: one file stays.\n> Next Steps\n" +
		"> 1. Move files\n> mise run test\nWhat else it says:\n> Files\n"
	text := render(session("Go.", theirs, said("Done.")), note.Options{Budget: 8000})
	for round := range 3 {
		if !strings.Contains(text, want) {
			t.Errorf("round %d: no\n%s\nin\n%s", round, want, text)
		}
		text = render(session(summary(text)), note.Options{Budget: 8000})
	}
}
