package note_test

import (
	"strings"
	"testing"

	"github.com/kagewasm/kagewasm/internal/features"
	"github.com/kagewasm/kagewasm/strategies/note"
)

// TestAgreedLists: requirement checklists and acceptance criteria that an agent wrote down, and a person agreed to,
// stand word for word, a line each, in the next note too. Where somebody objected, or the list is of something else,
// they do not.
func TestAgreedLists(t *testing.T) {
	features.Proves(t, "A6")
	const list = "I take these from what you said:\n\n## Requirements\n\n- [ ] flags are parsed with pflag\n" +
		"- [ ] exit code 3 on a partial export\n\n## Acceptance criteria\n\n1. it finishes under 4.5 s\n" +
		"2. a closed socket is retried 3 times\n\n## Files\n\n- main.go, which is long\n\nShall I go by these?"
	want := "- [2] Agreed to, as the agent wrote it (Requirements):\n- [2] [ ] flags are parsed with pflag\n" +
		"- [2] [ ] exit code 3 on a partial export\n- [2] Agreed to, as the agent wrote it (Acceptance criteria):\n" +
		"- [2] 1. it finishes under 4.5 s\n" +
		"- [2] 2. a closed socket is retried 3 times"
	// What a person answers stays below: the list was not what they said yes to.
	other := session("Plan it.", said(list), "Hm.", said("Shall I take the other socket?"), "yes")
	s := gone(other)
	for i := len(s.Gone) - 2; i < len(s.Gone); i++ {
		s.Gone[i] = false
	}
	if text := write(s, note.Options{}); strings.Contains(text, "Agreed to") {
		t.Errorf("what stays was answered: %s", text)
	}
	written := strings.ReplaceAll(want, "Agreed to, as the agent wrote it",
		"As the agent wrote it, and nobody objected")
	for answer, want := range map[string]string{"yes, exactly these, go on": want, "approved. Now do task 3": want,
		"no, drop the second one": "", "yes, but without the second one": "", "What is the socket for?": written,
		"Please fix the socket now.": written} {
		text := render(session("Plan it.", run("ls", "x", false), said(list), answer, run("ls", "x", false), said("Done.")),
			note.Options{})
		again := render(session(summary(text), "And the next one.", said("Done.")), note.Options{})
		for _, got := range []string{text, again} {
			switch {
			case want == "" && strings.Contains(strings.ToLower(got), "as the agent wrote it"):
				t.Errorf("%q: the list stands:\n%s", answer, got)
			case !strings.Contains(got, want):
				t.Errorf("%q: no %s in\n%s", answer, want, got)
			}
		}
	}
}

// TestCriteriaOfParts: criteria of several parts of a document stand each below the part that they are for.
func TestCriteriaOfParts(t *testing.T) {
	features.Proves(t, "A6")
	const doc = "# Task\n\n## Parts\n\n### 1. start\n\n**Success criteria:**\n- it takes under 100 ms\n" +
		"- it exits with 0\n\n### 2. end\n\n**Success criteria:**\n- the transcript is linked\n"
	read := called("read", map[string]any{"path": "docs/task.md"}, doc, false)
	text := render(session("Implement docs/task.md", read, said("Done."), "Next.", said("Yes.")), note.Options{})
	for _, want := range []string{"(1. start: Success criteria):\n- [1] it takes under 100 ms\n- [1] it exits with 0\n",
		"(2. end: Success criteria):\n- [1] the transcript is linked"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
}

// TestListsOfNamedFiles: acceptance criteria stand word for word where a person made those of a file binding: what was
// read of it goes, and the list stands in each note after it. A file that nobody named binds nothing.
func TestListsOfNamedFiles(t *testing.T) {
	features.Proves(t, "A6")
	const spec = "# Export\n\nIt was slow.\n\n## Acceptance criteria\n\n1. it finishes under 4.5 s\n" +
		"2. a closed socket is retried 3 times\n\n- [ ] flags are parsed with pflag\n"
	want := "- [1] What has to hold by docs/spec.md, as it was read (Acceptance criteria):\n" +
		"- [1] 1. it finishes under 4.5 s\n" +
		"- [1] 2. a closed socket is retried 3 times\n- [1] [ ] flags are parsed with pflag"
	for words, binds := range map[string]bool{
		"Read docs/spec.md; its acceptance criteria are binding.": true,
		"Implement docs/spec.md":                                  true,
		"Stick to docs/spec.md!":                                  true,
		"Mend the export.":                                        false,
	} {
		read := called("read", map[string]any{"path": "docs/spec.md"}, spec, false)
		msgs := session(words, read, said("Done."), "Next.", said("Yes."))
		for round := range 3 {
			text := render(msgs, note.Options{})
			if strings.Contains(text, want) != binds {
				t.Errorf("%q, round %d: binds %v, got\n%s", words, round, binds, text)
			}
			if n := strings.Count(text, "it finishes under 4.5 s"); binds && n != 1 {
				t.Errorf("%q, round %d: %d times in\n%s", words, round, n, text)
			}
			msgs = session(summary(text), "And now.", said("Done."))
		}
	}
}
