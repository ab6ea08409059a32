package note_test

import (
	"strings"
	"testing"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/features"
	"github.com/kagewasm/kagewasm/strategies/note"
)

// TestPassedLaterByFirstLine: a script of several lines is not resolved by its first one,
// after a compaction either.
func TestPassedLaterByFirstLine(t *testing.T) {
	features.Proves(t, "I4")
	const failed = "Exit code 1\n--- FAIL: TestLease (0.41s)"
	const command = "go test ./internal/store -run TestLease"
	text := render(session("Mend it.", run("go vet ./...\n"+command, failed, true)), note.Options{})
	more := session(summary(text), run("false", "Exit code 1", true), run("go vet ./...", "", false), said("Done."))
	if text = render(more, note.Options{}); strings.Contains(text, "Passed later.") ||
		!strings.Contains(text, "$\ngo vet ./...\n"+command) {
		t.Errorf("%s", text)
	}
}

// TestRejectedWithWords: what a person says when rejecting a call is a person's word:
// all of it is there.
func TestRejectedWithWords(t *testing.T) {
	features.Proves(t, "A6")
	const words = "It should also check if it's the last of the unique commits, and never force the push (see PAR-2291)."
	const result = "The user doesn't want to proceed with this tool use. The tool use was rejected (eg. if it was a " +
		"file edit, the " +
		"new_string was NOT written to the file). To tell you how to proceed, the user said:\n" + words
	for what, call := range map[string][]abi.Message{
		"an edit": edit("/srv/kw/resume.go", result, true), "a command": run("git push --force", result, true),
		"any other tool": called("create_comment", map[string]any{"issue": "ENT-98"}, result, true),
	} {
		t.Run(what, func(t *testing.T) {
			text := render(session("Mend the resume command.", call, said("I see.")), note.Options{})
			for round := range 3 {
				if got := thread(text); !strings.Contains(got, words) || strings.Contains(got, "(edited)") {
					t.Fatalf("round %d:\n%s", round, text)
				}
				text = render(session(summary(text)), note.Options{})
			}
		})
	}
}
