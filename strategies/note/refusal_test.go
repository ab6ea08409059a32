package note_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/features"
	"github.com/kagewasm/kagewasm/internal/shared"
	"github.com/kagewasm/kagewasm/strategies/note"
	"github.com/kagewasm/kagewasm/tokens"
)

// TestWhatTheAgentRefused: what an agent refused is told, in small notes too, and what a person said to it stands with
// it: "that's all right" is no consent to what was asked for.
func TestWhatTheAgentRefused(t *testing.T) {
	features.Proves(t, "A6", "N13")
	const (
		cannot = "Additionally, since it has no insurance, it cannot be canceled under the current policy."
		offer  = "I can transfer you to a human agent. Would you like me to do that?"
	)
	refuses := said("Since your reservation was created on 2024-05-01, it is beyond the 24-hour window. " + cannot +
		"\n\nIf you need further assistance, " + offer)
	look := called("search_direct_flight", map[string]any{"origin": "JFK"}, "[]", false)
	msgs := session("I need to change my reservation.", said("Which one?"), "H9ZU1C. Cancel it, please.", refuses,
		"That's all right. I'll handle it later. I also wonder why it does not refund to gift cards anymore.",
		said("Refunds go to the original payment methods. Anything else?"),
		"Find me the cheapest flight to the West Coast, to any place there.", look, look,
		said("The cheapest one goes to Seattle: HAT069, at $51. "+strings.Repeat("It leaves at six. ", 20)))
	for budget := 350; budget < 1500; budget += 50 {
		text := render(msgs, note.Options{Budget: budget})
		for round := range 3 {
			got := thread(text)
			before, _, told := strings.Cut(got, "> That's all right.")
			if told && !strings.Contains(before, cannot) {
				t.Fatalf("budget %d, round %d: the refusal is not told:\n%s", budget, round, got)
			}
			if !told && budget > 600 {
				t.Fatalf("budget %d, round %d: the answer is not told:\n%s", budget, round, got)
			}
			text = render(session(summary(text)), note.Options{Budget: budget})
		}
	}
	t.Run("before the names of what was looked at, in a real one", func(t *testing.T) {
		counter, err := tokens.New(tokens.O200k, tokens.Options{})
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range shared.Glob(t, "data", "sessions", "tau-bench__airline-gpt4o-task10-*.jsonl") {
			of := note.Session{Messages: shared.Messages(t, path)}
			for i := range of.Messages { // the task, the last calls and the closing words stay
				of.Gone = append(of.Gone, i > 1 && i < len(of.Messages)-2 && i != 34 && i != 35)
			}
			for budget := 650; budget < 1200; budget += 50 {
				got := thread(write(of, note.Options{Budget: budget, Count: counter.Text}))
				if !strings.Contains(got, "it cannot be canceled under the current policy.") {
					t.Errorf("budget %d: the refusal is not told:\n%s", budget, got)
				}
			}
		}
	})
	t.Run("in its place among the closing words", func(t *testing.T) {
		long := strings.Repeat("I looked at all of it. ", 12)
		msgs := session("Cancel it.", said("It is an old one. "+long+"\n\nI'm unable to cancel it.\n\n"+long+
			"\n\n"+offer), "ok")
		if got := thread(render(msgs, note.Options{})); !strings.Contains(got, "- Agent: It is an old one. [...] I'm "+
			"unable to cancel it. [...] "+"I looked at all of it. "+offer) {
			t.Errorf("%s", got)
		}
	})
	t.Run("in short it is marked where something is left out", func(t *testing.T) {
		const refused = "I cannot change the number of passengers."
		for _, tc := range []struct{ said, short string }{
			{refused + " " + offer, refused + " [...]"},
			{"It was made in May by a friend of hers, as a gift. " + refused, "[...] " + refused},
			{"It is an old one. " + refused + " " + offer, "[...] " + refused + " [...]"},
		} {
			told := 0
			for budget := 80; budget < 300; budget += 5 {
				got := thread(render(session("Take him off it, please.", said(tc.said), "Show me the others.", look), note.Options{
					Budget: budget}))
				_, line, ok := strings.Cut(got, "- Agent: ")
				line, _, _ = strings.Cut(line, "\n")
				if ok && line == tc.short {
					told++
				} else if ok && line != tc.said {
					t.Errorf("%d: %q", budget, line)
				}
			}
			if told == 0 {
				t.Errorf("%q is never told in short", tc.said)
			}
		}
	})
	t.Run("entries of lists, questions and conditions refuse nothing", func(t *testing.T) {
		long := strings.Repeat("The table is read by three programs. ", 30)
		for _, none := range []string{"- The table cannot be read twice.", "Shall I say that it cannot be read?",
			"If it cannot be read twice, I lock it."} {
			msgs := session("Look.", said(long+"\n\n"+none+"\n\nDone."), "ok")
			if got := thread(render(msgs, note.Options{})); strings.Contains(got, "read twice") {
				t.Errorf("%q is told:\n%s", none, got)
			}
		}
	})
}

// TestAnswersThatGoOn: what the agent asked stands above an answer that goes on behind it, in small notes too.
func TestAnswersThatGoOn(t *testing.T) {
	features.Proves(t, "A6", "N13")
	long := strings.Repeat("The old table is read by three programs. ", 8)
	msgs := session("Find me some flights.")
	answers := []string{"Yes, let's go with the economy class for this one, and take the card for it.",
		"No. Leave it as it is, I will look at it myself tomorrow.", "That works, please add one bag to it as well."}
	for i, answer := range answers {
		ask := fmt.Sprintf("HAT07%d goes at noon. Shall I book it in economy?", i)
		msgs = append(msgs, session(said(long+"\n\n"+ask), answer, said(long+"\n\n"+long),
			fmt.Sprintf("Now tell me of number %d, and of what it costs.", i+1))...)
	}
	told := 0
	for budget := 250; budget < 1200; budget += 25 {
		got := thread(render(msgs, note.Options{Budget: budget}))
		for _, answer := range answers {
			if before, _, ok := strings.Cut(got, "> "+answer); ok {
				question := before[max(0, strings.LastIndex(before, "\n> ")):] // and what came of it
				if told++; !strings.Contains(question, "Shall I book it in economy?") {
					t.Errorf("%d: %q stands alone:\n%s", budget, answer, got)
				}
			}
		}
	}
	if told == 0 {
		t.Error("no answer is told")
	}
}

// TestOffersThatAreTakenUp: what a person takes up without having been asked stands above their words, all of it where
// there is room: "let's go with the cheaper one" says nothing else.
func TestOffersThatAreTakenUp(t *testing.T) {
	features.Proves(t, "A6", "N13")
	offer := "Two boats go to Hjelm on that day:\n\n### The mail boat\n- **Leaves:** 07:40\n- **Seats:**\n" +
		"  - Deck: 31 kr\n  - Saloon: 64 kr\n\n### The ferry\n- **Leaves:** 11:15\n- **Seats:**\n  - Deck: 45 kr\n" +
		"  - Saloon: 80 kr\n\nThe cheapest seat there and back is 62 kr. Let me know what you think of it, or whether " +
		"I may help with more."
	const told = "Two boats go to Hjelm on that day: **The mail boat** Leaves: 07:40; Seats: Deck: 31 kr; Saloon: 64 kr " +
		"**The ferry** Leaves: 11:15; Seats: Deck: 45 kr; Saloon: 80 kr The cheapest seat there and back is 62 kr."
	long := strings.Repeat("The island has one road and no cars. ", 8)
	for _, answer := range []string{"Great! Let's go with the deck. Can you get me a seat?",
		"I'll take the saloon, please.",
		"Is my bill of last week paid? If so, do it, I mean the deck.", "ok, book the deck of the first one for Ane and me"} {
		msgs := session("Which boats go to Hjelm on Friday?", said(offer), answer, said(long), "And what is there to see?",
			said(long))
		text := render(msgs, note.Options{})
		for round := range 2 {
			before, _, _ := strings.Cut(thread(text), "> "+answer)
			if !strings.Contains(asWords(before), asWords(told)) {
				t.Errorf("%q, round %d: the offer is not told:\n%s", answer, round, thread(text))
			}
			text = render(session(summary(text)), note.Options{})
		}
	}
	t.Run("one that is asked, and ordered beside another wish, before others", func(t *testing.T) {
		msgs := session("Look.", said("I see some ways. "+long+"\n\n"+listOf(4)+"\nThe first is cheaper. "+
			"Want me to tackle these?"), "is all of it committed? if yes, do it, if not commit first", said(long))
		for i := range 30 {
			msgs = append(msgs, session(fmt.Sprintf("Now tell me of part %d of the island.", i), said(long))...)
		}
		told := 0
		for budget := 600; budget < 3000; budget += 200 {
			got := thread(render(msgs, note.Options{Budget: budget}))
			if strings.Contains(got, "move table 4 ") && strings.Contains(got, "Want me to tackle these?") {
				told++
			}
		}
		if told < 8 {
			t.Errorf("told in %d of 12 notes", told)
		}
	})
	t.Run("one that is too long is told as other closing words are", func(t *testing.T) {
		msgs := session("Look.", said("I see many ways:\n\n"+listOf(40)+"\nThe first is cheaper."), "let's go with the first")
		if got := thread(render(msgs, note.Options{})); !strings.Contains(got, "- Agent: I see many ways: move table 1 ") ||
			strings.Contains(got, "move table 9") {
			t.Errorf("%s", got)
		}
	})
}

// TestClosingWordsInShort: in whatever room closing words are told, the last entry of a list has what the list stands
// under, and a short answer stands before what explains it.
func TestClosingWordsInShort(t *testing.T) {
	features.Proves(t, "A6", "N13")
	long := strings.Repeat("The island has one road and no cars. ", 8)
	undone := "The harbour works again, as far as the mole.\n\n**Not done:**\n" + listOf(12) + "- raise the buoys"
	ticket := "No. You have a flexible ticket, though, so you can move it to another day. " + long
	msgs := session("Go on.", said(undone), "Great, let's keep that for later. What of my seat?", said(long),
		"Can I cancel the seat on the mail boat?", said(ticket), "Then tell me of the island, of its road and its cars.",
		said(long))
	inShort := 0
	for budget := 120; budget < 900; budget += 5 {
		text := thread(render(msgs, note.Options{Budget: budget}))
		for line := range strings.Lines(text) {
			if head, _, _ := strings.Cut(text, line); strings.Contains(line, "raise the buoys") &&
				!strings.Contains(line, "Not done") && !strings.Contains(head, "\n  **Not done:**\n") {
				t.Fatalf("budget %d: %s", budget, line)
			}
			if strings.Contains(line, "You have a flexible ticket") {
				if !strings.Contains(line, "No. You have") {
					t.Fatalf("budget %d: %s", budget, line)
				}
				inShort++
			}
		}
	}
	if inShort == 0 {
		t.Error("the answer is never told")
	}
}

// TestListsInShort: where there is little room for closing words with two lists, what is left to do never stands under
// what is done.
func TestListsInShort(t *testing.T) {
	features.Proves(t, "A6", "N13")
	done := "Good progress! We've completed WP1 to WP14:\n\n**Completed:**\n" +
		"- WP1-WP10: the session (885 lines) with all that is shared in it\n" +
		"- WP11-WP12: print mode and the mode for programs\n" +
		"- WP13: what modes export\n- WP14: the new entry points of the program\n\n**Remaining:**\n" +
		"- WP15: make the interactive mode (of the renderer, to use the session)\n" +
		"- WP16: switch the new entry point to it\n" +
		"- WP17: (optional) move the parts of the screen\n- WP18-WP20: the clean-up\n\n" +
		"The next big task is WP15, which makes the interactive mode of the renderer. " +
		"It is the largest of what remains.\n\n" +
		"Would you like me to go on with WP15, or would you prefer to test what there is first (print mode can be tested)?"
	forms := note.InShort(note.Asked(done))
	if !slices.ContainsFunc(forms, func(f string) bool { return strings.Contains(f, "Would you like me to") }) {
		t.Errorf("the question is never told: %q", forms)
	}
	for _, f := range forms {
		if at := strings.Index(f, "WP16"); at >= 0 && !strings.Contains(f[:at], "Remaining") {
			t.Errorf("%s", f)
		}
	}
	one := "Shall I do these? " + strings.Repeat("move a table to the other file, and then back again; ", 5) + "stop"
	if forms := note.InShort(one); strings.Count(forms[0], "; ") != 5 {
		t.Errorf("one list is told by its entries: %q", forms[0])
	}
}

// TestWhatACallWasAbout: where a call is told without its arguments the first id among them stays.
func TestWhatACallWasAbout(t *testing.T) {
	features.Proves(t, "A6")
	args := map[string]any{"reservation_id": "YAX4DR", "cabin": "business", "note": strings.Repeat("as he asked for ", 3)}
	msgs := session("Upgrade it.", called("update_reservation", args, `{"status": "ok", "reservation_id": "YAX4DR"}`, false),
		said("Done."), strings.Repeat("And now tell me of the weather there. ", 8), said("It is fine."))
	told := 0
	for budget := 100; budget < 400; budget += 10 {
		_, got, ok := strings.Cut(thread(render(msgs, note.Options{Budget: budget})), "- Called: update_reservation")
		if got, _, _ = strings.Cut(got, "\n"); ok {
			if told++; !strings.Contains(got, "reservation_id YAX4DR") {
				t.Errorf("%d:\n%s", budget, got)
			}
		}
	}
	if told == 0 {
		t.Error("the call is never told")
	}
}

// TestAnswersBeforeWhatWasChanged: in a large note without room for all of it what the agent answered, where nothing
// else came of a question, and its closing words of late are told before each file that was changed long ago.
func TestAnswersBeforeWhatWasChanged(t *testing.T) {
	features.Proves(t, "A6", "N13")
	var msgs []abi.Message
	for i := range 60 {
		msgs = append(msgs, session(fmt.Sprintf("Now move what is left of package number %d to where it belongs, and all of "+
			"its tests with it, as we said. %s", i, strings.Repeat("It is long. ", 12)))...)
		for k := range 6 {
			msgs = append(msgs, edit(fmt.Sprintf("/srv/kw/internal/package-number-%d/file-of-it-%d.go", i, k), "ok", false)...)
		}
		msgs = append(msgs, session(said(fmt.Sprintf("All of package %d is moved, and its tests pass.", i)),
			fmt.Sprintf("Why is package number %d read twice there?", i),
			said(fmt.Sprintf("It is read twice as the index %d is kept apart from it.", i)))...)
	}
	text := render(msgs, note.Options{Budget: 9_000})
	for round := range 3 {
		got := thread(text)
		if strings.Count(got, "file-of-it-0.go (edited)") > 50 {
			t.Fatalf("round %d: there is room for all of it", round)
		}
		for i := 48; i < 60; i++ {
			want := fmt.Sprintf("- Agent: It is read twice as the index %d is kept apart from it.", i)
			if !strings.Contains(got, want) {
				t.Errorf("round %d: no %q", round, want)
			}
		}
		if want := "- Agent: All of package 59 is moved, and its tests pass."; !strings.Contains(got, want) {
			t.Errorf("round %d: no %q", round, want)
		}
		text = render(session(summary(text)), note.Options{Budget: 9_000})
	}
	t.Run("in a real one", func(t *testing.T) {
		counter, err := tokens.New(tokens.O200k, tokens.Options{})
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range shared.Glob(t, "data", "sessions", "pi-mono__before-compaction.jsonl") {
			got := thread(write(gone(shared.Messages(t, path)), note.Options{Budget: 10_000, Count: counter.Text}))
			for _, want := range []string{"Want me to implement Option A?", "- Agent: Done. The fix:"} {
				if !strings.Contains(got, want) {
					t.Errorf("no %q in\n%s", want, got)
				}
			}
		}
	})
}
