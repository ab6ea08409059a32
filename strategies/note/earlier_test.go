package note_test

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/features"
	"github.com/kagewasm/kagewasm/strategies/note"
)

// TestWhenEarlierSummaryWasWritten: the note says where among the messages of persons a summary stands that somebody
// else wrote, after any number of compactions.
func TestWhenEarlierSummaryWasWritten(t *testing.T) {
	features.Proves(t, "N13")
	theirs := abi.Message{Role: abi.RoleUser, Kind: abi.KindSummary, Content: abi.Text("The lock is taken late.")}
	work, done := edit("/srv/kw/a.go", "ok", false), said("Done.")
	for _, tc := range []struct {
		why  string
		msgs []abi.Message
		want string
	}{
		{"at the beginning", session(theirs, "Mend it.", work, done), "It was written before [1]"},
		{"between two messages", session("Mend it.", work, done, theirs, "Go on.", work, done),
			"It was written before [2]"},
		{"in the middle of one", session("Look.", done, "Mend it.", work, theirs, work, done, "Go on.", done),
			"It was written in the middle of [2]"},
	} {
		t.Run(tc.why, func(t *testing.T) {
			text := render(tc.msgs, note.Options{})
			for round := range 3 {
				if !strings.Contains(text, tc.want+"\n") || strings.Count(text, "It was written") != 1 {
					t.Errorf("round %d: no %q in\n%s", round, tc.want, text)
				}
				text = render(session(summary(text)), note.Options{})
			}
		})
	}
}

// TestEarlierSummaryIsOfThen: what a summary that somebody else wrote says was open, and what it says binds, is told as
// of then, and that what followed it holds over it; where nothing followed, it says nothing of that.
func TestEarlierSummaryIsOfThen(t *testing.T) {
	features.Proves(t, "N13")
	theirs := abi.Message{Role: abi.RoleUser, Kind: abi.KindSummary, Content: abi.Text("# Context Checkpoint\n\n" +
		"## Goal\nUntangle the modes.\n\n## User Preferences\n- Keep old code working alongside new code\n\n" +
		"## Next Steps\n1. Move files\n\n## Commands\n- `npm run check`")}
	work, done := edit("/srv/kw/a.go", "ok", false), said("Done.")
	const then = "What it says was so then, or before. What 2 messages of persons said and the agent " +
		"did after it holds over it."
	want := "It was written before [2]\n" + then + "\nWhat it says was open then is put first.\n> Next Steps\n" +
		"> 1. Move files\nIts rules and decisions:\n> User Preferences\n> - Keep old code working alongside new code\n" +
		"What else it says:\n> Context Checkpoint\n> Goal\n> Untangle the modes.\n> Commands\n> - `npm run check`"
	text := render(session("Mend it.", work, theirs, "Move them.", work, done,
		"Remove the old remaining files.", work, done), note.Options{})
	for round := range 3 {
		if !strings.Contains(text, want) {
			t.Errorf("round %d: no\n%s\nin\n%s", round, want, text)
		}
		text = render(session(summary(text)), note.Options{})
	}
	t.Run("one of them stays below", func(t *testing.T) {
		msgs := session("Mend it.", work, theirs, "Move them.", work, done, "Remove the old files.", work, done,
			"And these.", done)
		text := write(goneUpTo(len(msgs)-2, msgs), note.Options{})
		if want := strings.Replace(then, "2 messages", "3 messages", 1); !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	})
	t.Run("nothing follows", func(t *testing.T) {
		if text := render(session("Mend it.", work, theirs), note.Options{}); strings.Contains(text, "holds over it") ||
			!strings.Contains(text, "> 1. Move files") {
			t.Errorf("%s", text)
		}
	})
}

// TestEarlierSummaryOfWhatIsTold: a summary that somebody else wrote of messages that the note tells too takes less
// room in it than one that is all that is known of them, and what it says was open stays.
func TestEarlierSummaryOfWhatIsTold(t *testing.T) {
	features.Proves(t, "N13", "N8")
	var text strings.Builder
	text.WriteString("## Next Steps\n1. Move the files\n\n## Files\n")
	for i := range 60 {
		fmt.Fprintf(&text, "- the mode number %d reads its results from the file of the mode before it\n", i)
	}
	theirs := abi.Message{Role: abi.RoleUser, Kind: abi.KindSummary, Content: abi.Text(text.String())}
	work, done := edit("/srv/kw/a.go", "ok", false), said("Done.")
	lines := func(msgs []abi.Message) int {
		text := render(msgs, note.Options{Budget: 2000})
		if !strings.Contains(text, "> 1. Move the files\n") {
			t.Errorf("%s", text)
		}
		return strings.Count(text, "reads its results")
	}
	alone := lines(session(theirs, "Move them.", work, done, "Mend it.", work, done))
	told := lines(session("Move them.", work, done, theirs, "Mend it.", work, done))
	if alone < 4 || 2*told > alone {
		t.Errorf("%d lines of a summary of what is told, %d of one that stands alone", told, alone)
	}
}

// TestLinesThatAreLeftOutOfAnEarlierSummary: each line of a summary is told or counted, however long it is, in a chain
// of notes too.
func TestLinesThatAreLeftOutOfAnEarlierSummary(t *testing.T) {
	features.Proves(t, "N13", "N8")
	more := regexp.MustCompile(`^> \[(\d+) more lines?\]$`)
	for _, n := range []int{20, 300, 3000} {
		var text strings.Builder
		text.WriteString("Built:\n")
		for i := range n - 1 {
			if i%7 == 6 {
				fmt.Fprintf(&text, "```\nbuild the pier number %d\n```\n", i)
				continue
			}
			fmt.Fprintf(&text, "- pier number %d, with all that hangs on it and what it cost\n", i)
		}
		msgs := session(abi.Message{Role: abi.RoleUser, Kind: abi.KindSummary, Content: abi.Text(text.String())},
			"Go on.", said("Done."))
		for _, budget := range []int{600, 1500, 4000} {
			msgs := msgs
			for round := range 3 {
				got, told := render(msgs, note.Options{Budget: budget}), 0
				_, past, _ := strings.Cut(got, "## From the summary of an earlier compaction")
				for line := range strings.Lines(past) {
					line = strings.TrimSpace(line)
					if m := more.FindStringSubmatch(line); m != nil {
						left, _ := strconv.Atoi(m[1])
						told += left
					} else if strings.HasPrefix(line, "> ") && line != "> ```" {
						told++
					}
				}
				if told != n {
					t.Errorf("%d lines, budget %d, round %d: %d are told or counted:\n%s", n, budget, round, told, got)
				}
				msgs = session(summary(got), "Go on.", said("Done."))
			}
		}
	}
}

// TestTitlesOfWhatIsToldOfAnEarlierSummary: what stands behind a gap in a summary stands below its title.
func TestTitlesOfWhatIsToldOfAnEarlierSummary(t *testing.T) {
	features.Proves(t, "N13", "N8")
	var text strings.Builder
	text.WriteString("The harbour is old.\n")
	for _, title := range []string{"Built", "Found", "Given up"} {
		text.WriteString(title + ":\n")
		for i := range 40 {
			fmt.Fprintf(&text, "- %s, pier number %d, with all that hangs on it\n", strings.ToLower(title), i)
		}
	}
	theirs := abi.Message{Role: abi.RoleUser, Kind: abi.KindSummary, Content: abi.Text(text.String())}
	seen := 0
	for budget := 600; budget < 4000; budget += 200 {
		got := render(session(theirs, "Go on.", said("Done.")), note.Options{Budget: budget})
		if at := strings.Index(got, "> - given up, pier"); at >= 0 {
			if seen++; !strings.Contains(got[:at], "> Given up:\n") {
				t.Errorf("budget %d: what was given up stands below another title:\n%s", budget, got)
			}
		}
	}
	if seen == 0 {
		t.Error("the end of the summary is never told")
	}
}
