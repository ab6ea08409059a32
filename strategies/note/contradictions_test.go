package note_test

import (
	"strings"
	"testing"

	"github.com/kagewasm/kagewasm/internal/features"
	"github.com/kagewasm/kagewasm/strategies/note"
)

// contradictions are how agents say that what was asked for is not what was done.
var contradictions = []string{
	"The spec says tokens live in Redis, but the code now stores them in Postgres since Redis was not reachable.",
	"Note the contradiction: the spec asks for pflag, the code uses flag now.",
	"README promises TLS 1.3 only; config.go still allows 1.2.",
	"Du wolltest UTC, im Code steht aber Europe/Berlin.",
}

// TestContradictionsBelowSummaries: where a requirement and what was done contradict each other the note tells both, as
// the agent said it, below a summary that does not name them too, and after further compactions. They have room beside
// the budget.
func TestContradictionsBelowSummaries(t *testing.T) {
	features.Proves(t, "A6")
	var parts []any
	for i, c := range contradictions {
		parts = append(parts, "And part "+strings.Repeat("I", i+1)+", please.", run("make part", "ok", false),
			said("Done. "+strings.Repeat("The part was put where it belongs. ", 12)+c+
				strings.Repeat(" It has its place there from now on.", 12)))
	}
	for i := range 8 {
		step := "Go on with step " + strings.Repeat("x", i+1) + "."
		parts = append(parts, step, run("make step", "ok", false), said("Done with it."))
	}
	counted := note.Options{Summary: "## Goal\n\nAll parts are done.", Budget: 260, Count: byRune}
	msgs := session(parts...)
	for round := range 3 {
		need := gone(msgs).NeedBeside(t.Context(), byRune, true)
		counted.Beside = need
		text := render(msgs, counted)
		for _, c := range contradictions {
			if !strings.Contains(text, c) {
				t.Errorf("round %d: %q is gone", round, c)
			}
		}
		if t.Failed() {
			t.Fatal(text)
		}
		msgs = session(summary(text), "Go on.", run("make more", "ok", false), said("Done with more."))
	}
	need := func(words string) int {
		return gone(session("Do it.", said(words), "ok")).NeedBeside(t.Context(), byRune, true)
	}
	if need(contradictions[0]) <= need("The tokens live in Redis, because it is fast.") {
		t.Error("below a summary, contradictions have no room that reasons lack")
	}
}

// TestWhatCameOfMessagesThatStay: what is told of a turn whose message stays is told by the next note too, where the
// message still stays and nothing more of the turn goes.
func TestWhatCameOfMessagesThatStay(t *testing.T) {
	features.Proves(t, "A6", "complaint 8")
	asked, answer := user("Where do the tokens live?"), said("The spec says Redis, but they live in Postgres.")
	first := write(note.Session{Messages: session("Begin.", said("Begun."), asked, answer, "Next.", said("ok")),
		Gone: []bool{true, true, false, true, false, false}}, note.Options{})
	second := write(note.Session{Messages: session(summary(first), asked, "Next.", said("ok"), "And more.", said("Well.")),
		Gone: []bool{true, false, false, true, false, false}}, note.Options{})
	for i, text := range []string{first, second} {
		for _, want := range []string{"- Agent: " + answer.Text(), "The agent has worked on it"} {
			if !strings.Contains(text, want) {
				t.Errorf("note %d lacks %q:\n%s", i+1, want, text)
			}
		}
	}
}

// TestRefutedStatements: a statement of the agent that the person refutes right afterwards is not told as if it held,
// in the next note neither. One that is answered otherwise stands as it was said.
func TestRefutedStatements(t *testing.T) {
	features.Proves(t, "A6")
	const statement = "The cache is safe, because only one goroutine writes to it."
	const mark = " (the person answered that something in this is wrong)"
	for answer, want := range map[string]bool{
		"No, that is wrong.":                      true,
		"That's not true, the janitor writes too": true,
		"Wrong. Look at janitor.go again.":        true,
		"Nein, das stimmt nicht.":                 true,
		"不对,再看一遍":                                 true,
		"No, thanks.":                             false,
		"Is that wrong?":                          false,
		"Wrong file, I meant cache_test.go.":      false,
		"Good. Now the janitor.":                  false,
	} {
		text := render(session("Is the cache safe?", said(statement), answer, said("I see."), "Go on.", said("Done.")),
			note.Options{})
		again := render(session(summary(text), "And now?", said("Well done.")), note.Options{})
		for i, text := range []string{text, again} {
			got := strings.Contains(text, "- Agent: "+statement+mark+"\n")
			if got != want || strings.Count(text, statement) != 1 {
				t.Errorf("%q, note %d: marked %v, want %v\n%s", answer, i+1, got, want, text)
			}
		}
	}
}
