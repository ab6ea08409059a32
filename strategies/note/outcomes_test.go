package note_test

import (
	"strings"
	"testing"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/features"
	"github.com/kagewasm/kagewasm/strategies/note"
)

// TestHowChecksEnded: a check that ran below another one, or in the hook of a commit, passed with it where the output
// says that it ran; one that was stopped says so; one that never ran did not fail.
func TestHowChecksEnded(t *testing.T) {
	features.Proves(t, "I4", "N13")
	const (
		broken = "Exit code 1\nsrc/lease.ts(331,29): error TS2339: Property 'ttl' does not exist on type 'Lease'."
		script = "\n> kw@0.0.3 check\n> biome check . && tsgo --noEmit\n\nChecked 229 files in 117ms. No fixes applied.\n"
		two    = script + "\n> @kw/web@0.1.2 check\n> vitest run\n\n"
		commit = "[main 1507f8b] mend it\n 1 file changed"
		failed = "Failed when it last ran"
		passed = "`npm run check` passed in the hook of a commit\n"
		holds  = "```\n" + "A check that holds it passed later."
	)
	fails := run("npx tsgo --noEmit 2>&1", broken, true)
	read := called("Read", map[string]any{"file_path": "/srv/kw/x.md"}, "x", false)
	dup := run("golangci-lint run ./...", "Exit code 1\nlease.go:4:2: Error return value is not checked (errcheck)", true)
	for _, tc := range []struct {
		why       string
		msgs      []abi.Message
		want, not []string // in the note
	}{
		{"the hook of a commit ran the checks", session(fails, run("git commit -qam x", script+commit, false)),
			[]string{passed, holds}, []string{failed}},
		{"and those of each package", session(run("vitest run", "Exit code 1\n ✗ lease is late\n FAIL", true),
			run("git commit -am x", two+commit, false)), []string{passed, holds}, []string{failed}},
		{"the check failed by itself before", session(run("npm run check", "Exit code 2\n"+script+broken, true),
			run("git commit -am x", script+commit, false)),
			[]string{"- Checks: `npm run check` failed once, then passed in the hook of a commit\n", holds},
			[]string{failed}},
		{"the hook failed", session(fails, run("git commit -am x", "Exit code 1\n"+script+broken, true)),
			[]string{failed + ": `npx tsgo --noEmit 2>&1`"}, []string{"in the hook"}},
		{"a commit whose output says that something failed", session(fails,
			run("git commit -am x", script+broken+"\n"+commit, false)), []string{failed}, []string{"in the hook"}},
		{"a hook of which the output says nothing", session(fails, run("git commit -am x", commit, false)),
			[]string{failed}, []string{"in the hook"}},
		{"a wide check ran it", session(fails, run("npm run check", script, false)), []string{holds}, []string{failed}},
		{"a task ran it", session(dup, run("mise run lint", "[lint] $ golangci-lint run ./...\n0 issues.", false)),
			[]string{holds}, []string{failed}},
		{"a wide check that failed itself", session(fails, run("npm run check", "Exit code 2\n"+script+"lint error: 1 found",
			true)), []string{failed + ": `npx tsgo --noEmit 2>&1`"}, []string{holds}},
		{"a wide check that ran something else", session(fails, run("npm run check",
			"\n> kw@0.0.3 check\n> biome check .\n", false)), []string{failed}, []string{holds}},
		{"a wide check that goes on where it fails", session(fails, run("npm run check",
			"\n> kw@0.0.3 check\n> tsgo --noEmit; biome check .\n", false)), []string{failed}, []string{holds}},
		{"a quote in an output is no script", session(fails, run("npm run check", "> as he said\n> tsgo --noEmit\n", false)),
			[]string{failed}, []string{holds}},
		{"a check that a person stopped", session(run("npm run check", "Command aborted", false)),
			[]string{"- Checks: `npm run check` was aborted\n"}, []string{"not known", failed}},
		{"one that failed before", session(run("npm run check", "Exit code 2\n"+broken, true),
			run("npm run check", "Command aborted", false)),
			[]string{"- Checks: `npm run check` failed once, then was aborted\n"}, []string{"not known", failed}},
		{"another command that a person stopped", session(run("git push", "Command aborted", false)),
			[]string{"- Ran: `git push` (aborted)\n"}, nil},
		{"one asked for in words that it does not know", session(run("golangci-lint run --out-format=x",
			"Exit code 3\nError: unknown flag: --out-format\nFailed executing command", true)),
			[]string{"```\n$ golangci-lint run --out-format=x\n"},
			[]string{failed, "`golangci-lint run --out-format=x` failed"}},
		{"one in a folder that is not there", session(fails, run("cd web && npx tsgo --noEmit",
			"Exit code 1\n(eval):cd:1: no such file or directory: web", true)),
			[]string{failed + ": `npx tsgo --noEmit 2>&1`"}, []string{failed + ": `cd"}},
	} {
		t.Run(tc.why, func(t *testing.T) {
			text := render(session("Mend it.", run("false", "Exit code 1", true), edit("/srv/kw/a.ts", "ok", false), tc.msgs,
				said("So far."), "Go on.", read, read, read, read, said("x")), note.Options{Budget: 6000})
			for _, want := range tc.want {
				if !strings.Contains(text, want) {
					t.Errorf("no %q in\n%s", want, text)
				}
			}
			for _, not := range tc.not {
				if strings.Contains(text, not) {
					t.Errorf("%q in\n%s", not, text)
				}
			}
		})
	}
}

// TestFailuresBelow: a failure says that it passed later where a message that stays below says so, and not where that
// one came before it.
func TestFailuresBelow(t *testing.T) {
	features.Proves(t, "A6", "N13")
	const failing = "Exit code 1\n--- FAIL: TestLease (0.41s)\n    lease_test.go:40: got 2, want 1\nFAIL"
	fails, passes := run("go test ./store", failing, true), run("go test ./store", "ok  \tkw/store\t0.3s", false)
	head := session("Mend it.", fails, said("x"))
	later := func(id string, msgs []abi.Message) []abi.Message {
		msgs[0].ToolCalls[0].ID, msgs[1].ToolCallID = id, id
		return msgs
	}
	for _, tc := range []struct {
		why           string
		below, pruned []abi.Message
		want          string
	}{
		{"the same passes below", passes, nil, "\nPassed later.\n"},
		{"what holds it passes below", run("go test ./...", "ok  \tkw/store\t0.3s", false), nil,
			"\nA check that holds it passed later.\n"},
		{"another one", run("go test ./web", "ok  \tkw/web\t0.3s", false), nil, ""},
		{"it fails below again", fails, nil, ""},
		{"it failed below once more, where that is pruned", session(later("p", run("go test ./store",
			"ok  \tkw/store\t0.3s", false)), later("q", run("go test ./store", "[pruned]", false))),
			later("q", run("go test ./store", failing, true)), ""},
	} {
		t.Run(tc.why, func(t *testing.T) {
			s := goneUpTo(len(head), session(head, tc.below))
			s.Pruned = tc.pruned
			text := write(s, note.Options{Budget: 6000}) + "\n"
			_, text, ok := strings.Cut(text, "```\n$ go test ./store\n")
			if !ok || tc.want != "" && !strings.Contains(text, tc.want) || tc.want == "" && strings.Contains(text, "passed") {
				t.Errorf("%s", text)
			}
		})
	}
}

// TestWrittenOver: a file that was there before is not told as created where it is written over, or deleted and
// written.
func TestWrittenOver(t *testing.T) {
	features.Proves(t, "N13")
	const file = "/srv/kw/a.go"
	reads := called("Read", map[string]any{"file_path": file}, "package a", false)
	writes := func(output string) []abi.Message {
		return called("Write", map[string]any{"file_path": file, "content": "package a"}, output, false)
	}
	done := run("false", "Exit code 1", true)
	for _, tc := range []struct {
		why  string
		msgs []abi.Message
		want string
	}{
		{"a new file", writes("File created successfully at: " + file), "(created)"},
		{"and edited", session(writes("File created successfully at: "+file), edit(file, "ok", false)), "(created, edited)"},
		{"and written again", session(writes("File created successfully at: "+file),
			writes("The file "+file+" has been updated.")), "(created)"},
		{"one that was read", session(reads, writes("Successfully wrote 90 bytes to "+file)), "(written)"},
		{"one that the tool overwrote", writes("Successfully overwrote file: " + file), "(written)"},
		{"one that was deleted", session(done, reads, run("rm "+file, "", false),
			writes("File created successfully at: "+file)), "(written)"},
		{"by a shell", session(done, run("cat > "+file+" <<'EOF'\npackage a\nEOF", "", false)), "(written)"},
		{"by a patch that adds it", called("apply_patch", map[string]any{"input": "*** Begin Patch\n*** Add File: " + file +
			"\n+x\n*** End Patch"}, "Success. Updated the following files:\nA "+file, false), "(created)"},
	} {
		t.Run(tc.why, func(t *testing.T) {
			text := render(session("Write it.", tc.msgs, said("Done.")), note.Options{Budget: 4000})
			for round := range 3 {
				if !strings.Contains(text, "a.go "+tc.want+"\n") {
					t.Errorf("round %d: no %s in\n%s", round, tc.want, text)
				}
				text = render(session(summary(text)), note.Options{Budget: 4000})
			}
		})
	}
}
