package note_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/features"
	"github.com/kagewasm/kagewasm/strategies/note"
)

// TestWhatIsLeftToDo: what an agent says is left to do is told with its closing words, all of the list, after any
// number of compactions.
func TestWhatIsLeftToDo(t *testing.T) {
	features.Proves(t, "A6", "N13")
	const done = "The harbour works again, all of it as we drew it last week on the big map, with both of its piers.\n\n" +
		"**Mended:**\n- the crane and both of its ropes\n- the lamps of the mole\n- the bell\n\n"
	for _, tc := range []struct{ why, said, answer, want string }{
		{"below a heading", done + "## Remaining\n- paint the mole\n- tell the pilots", "And the boats, please. All of them.",
			"**Remaining** paint the mole; tell the pilots"},
		{"below a line with a colon", done + "Next steps (for spring):\n1. dredge the inlet\n2. buy a boat", "thanks",
			"Next steps (for spring): 1. dredge the inlet; 2. buy a boat"},
		{"with more below each entry", done + "**Not done:**\n- the inlet\n  - it is frozen\n- the buoys",
			"And the boats, please. All of them.", "Not done: the inlet [...] the buoys"},
		{"before what it says then and asks",
			done + "**Still open:**\n- the inlet\n- the buoys\n\nThe inlet takes longest. Shall I begin there?", "yes",
			"Still open: the inlet; the buoys The inlet takes longest. Shall I begin there?"},
		{"in another language", done + "**Noch offen:**\n- die Einfahrt\n- die Tonnen", "danke, und jetzt die Boote bitte",
			"Noch offen: die Einfahrt; die Tonnen"},
		{"not a list of what was done", done + "**Further work done:**\n- the inlet\n- the buoys",
			"And the boats, please. All of them.", "Mended: the crane and both of its ropes"},
		{"nor what was done after all", "The harbour works again.\n\n**Missing:**\n- tests\n- docs\n\nI have added both now.",
			"And the boats, please. All of them.", "Missing: tests; docs I have added both now."},
		{"nor a heading without a list", done + "## Next steps\n\nI have none.", "And the boats, please. All of them.",
			"Mended: the crane and both of its ropes"},
	} {
		t.Run(tc.why, func(t *testing.T) {
			text := render(session("Mend the harbour.", said(tc.said), tc.answer), note.Options{})
			for round := range 3 {
				if !strings.Contains(thread(text), tc.want) {
					t.Errorf("round %d: no %q in\n%s", round, tc.want, thread(text))
				}
				text = render(session(summary(text)), note.Options{})
			}
		})
	}
	t.Run("a long list is told in short", func(t *testing.T) {
		got := thread(render(session("Mend it.", said(done+"**Remaining:**\n"+listOf(30)), "And the boats."), note.Options{}))
		if !strings.Contains(got, "Remaining: move table 1 ") || !strings.Contains(got, " more]") {
			t.Errorf("%s", got)
		}
	})
}

// TestSmallTables: a small table behind a line that announces it is told with that line: what was found stands there.
func TestSmallTables(t *testing.T) {
	features.Proves(t, "N13")
	long := strings.Repeat("The log is read by three programs. ", 9)
	const table = "| Boat | Leaks? |\n|---|---|\n| Ane | yes, at the bow |\n| Bo | no |\n\n"
	for _, tc := range []struct{ why, said, want string }{
		{"a small one", "Here is what I found:\n\n**The leaks:**\n\n" + table + "So one has to be caulked. " + long,
			"Here is what I found: The leaks: Boat, Leaks?; Ane, yes, at the bow; Bo, no So one has to be caulked."},
		{"a large one",
			"Here is what I found:\n\n" + strings.Repeat(table[:len(table)-1], 6) + "\nOne has to be caulked. " + long,
			"Here is what I found: [...] One has to be caulked."},
		{"one that nothing announces", "I looked at them.\n\n" + table + "One has to be caulked. " + long,
			"I looked at them. [...] One has to be caulked."},
	} {
		t.Run(tc.why, func(t *testing.T) {
			msgs := session("Do the boats leak?", said(tc.said), "And now tell me of the nets, and of who mends them.")
			if got := thread(render(msgs, note.Options{})); !strings.Contains(got, tc.want) {
				t.Errorf("no %q in\n%s", tc.want, got)
			}
		})
	}
}

// TestQuestionsAreAnswered: where persons ask and nothing but an answer comes of it, the answer stands beside the
// question, in notes of a conversation before names.
func TestQuestionsAreAnswered(t *testing.T) {
	features.Proves(t, "A6", "N13")
	asked := []string{"Which boats go out on a Monday?", "I also wonder why the ferry does not.",
		"What does the bell mean?",
		"Mich interessiert noch eines: ich frage mich, wer die Lampen putzt.", "Tell me who owns the mole."}
	msgs := session("Hello there.")
	for i, question := range asked {
		names := fmt.Sprintf(`{"pier_%d_name": "Hjelm%dPier", "boat_%d_id": "SKIFF%d"}`, i, i, i, 1000+i)
		msgs = append(msgs, session(question, called("look_up", map[string]any{"of": i}, names, false),
			said(fmt.Sprintf("That is settled by rule %d of the harbour, which the council made in the year 19%d0. "+
				strings.Repeat("It hangs on the door of the office, for everybody to read. ", 4), i, i)))...)
	}
	msgs = append(msgs, session("Thank you.", said("You are welcome."))...)
	for budget := 1600; budget <= 2400; budget += 100 {
		text := render(msgs, note.Options{Budget: budget})
		for round := range 2 {
			for i, question := range asked {
				_, after, told := strings.Cut(thread(text), quoted(question))
				after, _, _ = strings.Cut(after, "\n[")
				if !told || !strings.Contains(after, fmt.Sprintf("Agent: That is settled by rule %d", i)) {
					t.Fatalf("budget %d, round %d: %q has no answer:\n%s", budget, round, question, text)
				}
			}
			text = render(session(summary(text)), note.Options{Budget: budget})
		}
	}
}

// TestQuestionsThatPoint: where a question points at the sentence before it, the two are told in short together.
func TestQuestionsThatPoint(t *testing.T) {
	features.Proves(t, "A6", "N13")
	long := strings.Repeat("The lamp of the mole went out at night. ", 6)
	msgs := session("Why is the mole dark?", said(long+"I can put the old lamp back. Would you like me to do that?"),
		"yes", said(long), "Tell me of the boats then, and of all who sail them.", said(long))
	told := 0
	for budget := 150; budget < 500; budget += 10 {
		if strings.Contains(thread(render(msgs, note.Options{Budget: budget})),
			"- Agent: [...] I can put the old lamp back. Would you like me to do that?") {
			told++
		}
	}
	if told == 0 {
		t.Error("they are never told together")
	}
}

// TestAllDeedsBeforeTheirSums: that something was done is told of all calls before what they were called with.
func TestAllDeedsBeforeTheirSums(t *testing.T) {
	features.Proves(t, "A6")
	var msgs []abi.Message
	for i := range 4 {
		args := map[string]any{"guest_id": strings.Repeat("ane_of_the_mole_", 4), "amount": 40 + i,
			"payment_id": strings.Repeat("card_771_", 8)}
		msgs = append(msgs, session(fmt.Sprintf("Book a seat on boat %d.", i), called("book_seat", args,
			fmt.Sprintf(`{"seat_id": "SEAT%d"}`, i), false), said("It is booked."))...)
	}
	inShort := 0
	for budget := 150; budget < 400; budget += 10 {
		got := thread(render(msgs, note.Options{Budget: budget}))
		if strings.Count(got, "Called: book_seat") >= 3 && !strings.Contains(got, "amount") {
			inShort++
		}
	}
	if inShort == 0 {
		t.Error("where there is little room the newest calls are told with their sums, and older ones are not told")
	}
}
