package note_test

import (
	"reflect"
	"runtime"
	"strings"
	"testing"

	"github.com/kagewasm/kagewasm/internal/features"
	"github.com/kagewasm/kagewasm/strategies/note"
)

// TestSections: both sets have the sections that the ledger of features
// names.
func TestSections(t *testing.T) {
	features.Proves(t, "K24", "I4")
	for _, tc := range []struct {
		o    note.Outline
		want string
	}{
		{note.Handoff, "Goal, Constraints & Preferences, Progress, Key Decisions, Next Steps, Critical Context, " +
			"Additional Notes"},
		{note.Continuation, "Session Intent, Current Task, Files Modified, Files Read, Key Decisions, Failed " +
			"Approaches, Errors Encountered, Next Steps"},
	} {
		t.Run(tc.o.Name, func(t *testing.T) {
			var titles []string
			for _, s := range tc.o.Sections {
				titles = append(titles, s.Title)
			}
			if got := strings.Join(titles, ", "); got != tc.want {
				t.Errorf("%s: %s", tc.o.Name, got)
			}
			if o, ok := note.OutlineNamed(tc.o.Name); !ok || o.Name != tc.o.Name {
				t.Errorf("%s is not found by its name", tc.o.Name)
			}
		})
	}
	if o, ok := note.OutlineNamed(""); !ok || o.Name != note.Handoff.Name {
		t.Error("no name is not the default")
	}
	if _, ok := note.OutlineNamed("haiku"); ok {
		t.Error("an unknown name is found")
	}
}

// TestPopulated: a section is filled or marked empty, and what is missing is
// found.
func TestPopulated(t *testing.T) {
	features.Proves(t, "I4", "I10")
	text := note.Continuation.Render(func(s note.Section) string {
		if s.Title == "Session Intent" {
			return "go home\n"
		}
		return ""
	})
	if missing := note.Continuation.Missing(text); len(missing) > 0 {
		t.Errorf("rendered, and missing %v", missing)
	}
	if !strings.Contains(text, "## Files Read\n"+note.None) {
		t.Errorf("no mark for an empty section:\n%s", text)
	}
	for _, tc := range []struct {
		why, text string
		want      []string
	}{
		{"a heading with nothing under it is missing", strings.Replace(text, "go home", "", 1), []string{"Session Intent"}},
		{"a heading that is not there is missing", strings.Replace(text, "## Next Steps\n"+note.None, "", 1),
			[]string{"Next Steps"}},
		{"levels, case, colons and what stands in parentheses do not matter",
			strings.NewReplacer("## Files Read", "### FILES READ (reference only):", "## Current Task",
				"**Current Task:**").Replace(text), nil},
		{"a heading inside a code block is code", strings.Replace(text, "## Next Steps", "```\n## Next Steps", 1),
			[]string{"Next Steps"}},
		{"a rule below the last section is no part of it", strings.Replace(text, "## Next Steps\n"+note.None, "", 1) +
			"\n\n## Next Steps\n(none): the model left it out\n\n---\n\n**Turn Context (split turn):**\n\n## Done So Far\nx",
			[]string{"Next Steps"}},
		{"a rule is nothing to say", strings.Replace(text, "## Next Steps\n"+note.None, "## Next Steps\n\n---", 1),
			[]string{"Next Steps"}},
		{"an empty text has none", "", []string{"Session Intent", "Current Task", "Files Modified", "Files Read",
			"Key Decisions", "Failed Approaches", "Errors Encountered", "Next Steps"}},
	} {
		t.Run(tc.why, func(t *testing.T) {
			if got := note.Continuation.Missing(tc.text); !reflect.DeepEqual(got, tc.want) {
				t.Errorf("missing %q, want %q", got, tc.want)
			}
		})
	}
}

// TestMarkedOnce: a section that was left out stands in the summary once, whether its heading was there or not.
func TestMarkedOnce(t *testing.T) {
	features.Proves(t, "I4")
	const left = "\n(none): the model left it out"
	o := note.Outline{Sections: []note.Section{{Title: "Goal"}, {Title: "Progress"}, {Title: "Next Steps"}}}
	for text, want := range map[string]string{
		"## Goal\nship": "## Goal\nship\n\n## Progress" + left + "\n\n## Next Steps" + left,
		"## Goal\nship\n\n## Progress\n\n## Next Steps": "## Goal\nship\n\n## Progress" + left + "\n\n## Next Steps" + left,
		"## Progress\n## Goal\nship\n":                  "## Progress" + left + "\n## Goal\nship\n\n\n## Next Steps" + left,
		// What stands under a deeper heading is said.
		"## Goal\nship\n## Progress\n### Done\nx\n## Next Steps\n**First:**\ny": "## Goal\nship\n## Progress\n### Done\nx\n" +
			"## Next Steps\n**First:**\ny",
		"## Goal\nship\n## Progress\n### Done\n## Next Steps\ny": "## Goal\nship\n## Progress" + left +
			"\n### Done\n## Next Steps\ny",
		"# Goal\n## Progress\nx\n### Next Steps\ny": "# Goal" + left + "\n## Progress\nx\n### Next Steps\ny",
		// A mark inside a block of code would be no heading.
		"## Goal\nship\n## Progress\n```\nmake": "## Goal\nship\n## Progress\n```\nmake\n```\n\n## Next Steps" + left,
	} {
		if got := o.MarkMissing(text); got != want || o.MarkMissing(got) != got {
			t.Errorf("%q is marked\n%q, want\n%q", text, got, want)
		}
	}
}

func TestParse(t *testing.T) {
	got := note.Parse("before\n# Goal\nship it\n## Next Steps (soon)\n1. a\n2. b\n# Goal\nand again")
	want := map[string]string{"goal": "ship it\nand again", "next steps": "1. a\n2. b"}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("parsed %q", got)
	}
}

// TestHeadingsManyTimes: a summary that repeats a heading costs its length, not its
// square.
func TestHeadingsManyTimes(t *testing.T) {
	allocated := func(n int) uint64 {
		text := strings.Repeat("## Goal\nto go on\n", n)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		said := note.Outlines()[0].Parse(text)["Goal"]
		runtime.ReadMemStats(&after)
		if len(said) != len("to go on\n")*n-1 {
			t.Errorf("%d times: %d bytes", n, len(said))
		}
		return after.TotalAlloc - before.TotalAlloc
	}
	if few, many := allocated(2_000), allocated(20_000); many > 20*few {
		t.Errorf("%d bytes for 2,000 headings, %d for 20,000", few, many)
	}
}
