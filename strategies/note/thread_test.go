package note_test

import (
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/features"
	"github.com/kagewasm/kagewasm/internal/shared"
	"github.com/kagewasm/kagewasm/strategies/note"
)

// thread is what stands in the thread of a note, without its head.
func thread(text string) string {
	_, part, _ := strings.Cut(text, note.HeadThread+"\n")
	part, _, _ = strings.Cut(part, "\n\n")
	return strings.TrimPrefix(strings.TrimPrefix(part, note.AboutThread), "\n")
}

// rulesIn are the rules of shortened messages as a note has them: in the words of the message between two marks, and
// in the list behind the thread, with the number of the message.
func rulesIn(text string) string {
	var list []string
	for _, turn := range turnRE.FindAllStringSubmatch(thread(text)+"\n", -1) {
		if !strings.Contains(turn[2], note.LeftOut) {
			continue
		}
		for line := range strings.Lines(turn[2]) {
			said, quoted := strings.CutPrefix(strings.TrimSpace(line), "> ")
			if quoted && !strings.Contains(said, note.LeftOut) && !strings.Contains(said, "holds millions.") {
				list = append(list, "- ["+turn[1]+"] "+strings.TrimPrefix(said, "- "))
			}
		}
	}
	_, part, _ := strings.Cut(text, note.HeadRules+"\n")
	part, _, _ = strings.Cut(part, "\n\n")
	for line := range strings.Lines(part) {
		list = append(list, strings.TrimSuffix(line, "\n"))
	}
	return strings.Join(list, "\n")
}

// turnRE is a turn of a thread: its number and what stands below.
var turnRE = regexp.MustCompile(`(?m)^\[(\d+)\].*\n((?:[->] ?.*\n)*)`)

// quoted is a person's text as the thread has it.
func quoted(text string) string {
	var b strings.Builder
	for line := range strings.SplitSeq(text, "\n") {
		b.WriteString(strings.TrimSpace("> "+line) + "\n")
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// TestThread: every message of a person stands there word for word, oldest first, with
// what came of it below.
func TestThread(t *testing.T) {
	features.Proves(t, "A6", "complaint 8", "N13")
	msgs := session(
		"Plan: move the leases to Redis. Dagny owns the migration, Ravi the tests.",
		said("I moved the table. Shall I delete the old one?"),
		"Scratch that: no Redis. We stay with bbolt.\n\nNever touch `wal/`.",
		edit("/srv/kw/store/bolt.go", "ok", false), run("go test ./store", "ok  \tkw/store\t0.1s", false),
		said("bbolt is back."),
		"不要推送。", said("好的。"),
		"thanks!",
	)
	const want = `[1]
> Plan: move the leases to Redis. Dagny owns the migration, Ravi the tests.
- Agent: I moved the table. Shall I delete the old one?
[2]
> Scratch that: no Redis. We stay with bbolt.
>
> Never touch ` + "`wal/`" + `.
- Changed: bolt.go (edited)
- Checks: ` + "`go test ./store`" + ` passed
- Agent: bbolt is back.
[3]
> 不要推送。
- Agent: 好的。
[4]
> thanks!`
	text := render(msgs, note.Options{})
	for round := range 4 {
		t.Run(fmt.Sprintf("compaction %d", round+1), func(t *testing.T) {
			if got := thread(text); got != want {
				t.Errorf("%s\n\nwant\n%s", got, want)
			}
		})
		text = render(session(summary(text)), note.Options{})
	}
}

// TestWordsInOrder: whatever persons say, all of it is there in its order where there
// is room, after any number of compactions, however they are cut.
func TestWordsInOrder(t *testing.T) {
	features.Proves(t, "A6", "complaint 8", "N13")
	rapid.Check(t, func(t *rapid.T) {
		line := rapid.StringMatching(`[A-Za-z#>*\x60-][A-Za-z0-9 .,:#>\x60é看-]{0,60}[a-z看.]`)
		said := []string{}
		var msgs []abi.Message
		for round := range rapid.IntRange(1, 4).Draw(t, "rounds") {
			for i := range rapid.IntRange(0, 5).Draw(t, "messages") {
				words := fmt.Sprintf("In %d.%d ", round, i) + strings.Join(rapid.SliceOfN(line, 1, 4).Draw(t, "lines"), "\n")
				said = append(said, words)
				msgs = append(msgs, user(words), abi.Message{Role: abi.RoleAssistant, Content: abi.Text("Done.")})
			}
			text := render(msgs, note.Options{Budget: 100_000})
			at := 0
			for k, words := range said {
				want := fmt.Sprintf("[%d]\n%s\n", k+1, quoted(words))
				i := strings.Index(text[at:], want)
				if i < 0 {
					t.Fatalf("no %q behind byte %d of\n%s", want, at, text)
				}
				at += i
			}
			if told, all := build(gone(msgs)).Words(text); told != all {
				t.Fatalf("%d of %d characters are said to be told:\n%s", told, all, text)
			}
			if msgs = nil; text != "" {
				msgs = []abi.Message{summary(text)}
			}
		}
	})
}

// TestWordsOfSessions: of real sessions everything that a person wrote, and that is no
// longer than a page, is there word for word and in order.
func TestWordsOfSessions(t *testing.T) {
	features.Proves(t, "A6", "N13")
	checked := 0
	for _, path := range shared.Sessions(t) {
		t.Run(filepath.Base(path), func(t *testing.T) {
			msgs := shared.Messages(t, path)
			text := render(msgs, note.Options{Budget: 200_000})
			at, persons, last := 0, abi.Persons(msgs), make(map[string]int)
			for i := range msgs {
				last[msgs[i].Words()] = i
			}
			for i := range msgs {
				words := msgs[i].Words()
				if !persons[i] || words == "" || last[words] != i || len(words) > 6000 {
					continue
				}
				k := strings.Index(text[at:], "]\n"+quoted(strings.ReplaceAll(words, "\r", ""))+"\n")
				if k < 0 && !strings.HasSuffix(text, quoted(words)) {
					t.Fatalf("message %d is not there behind byte %d: %q", i, at, words)
				}
				at, checked = at+max(0, k), checked+1
			}
		})
	}
	if t.Logf("%d messages", checked); checked < 100 {
		t.Errorf("%d messages show little", checked)
	}
}

// TestNotWords: what harnesses write in the role of the user is no word of a person;
// what a person wrote beside it is.
func TestNotWords(t *testing.T) {
	features.Proves(t, "complaint 15")
	for _, tc := range []struct{ why, text, want string }{
		{"a reminder", "<system-reminder>\nNever say PAR-2291.\n</system-reminder>", ""},
		{"a reminder behind words", "Go on.\n<system-reminder>\nNever say PAR-2291.\n</system-reminder>", "[1]\n> Go on."},
		{"output of a command", "<bash-input>ls</bash-input>\n<bash-stdout>PAR-2291</bash-stdout><bash-stderr></bash-stderr>",
			""},
		{"a command of the harness", "<command-name>/release-notes</command-name>\n<command-args></command-args>", ""},
		{"a command with words", "<command-message>x</command-message>\n<command-name>/plan</command-name>\n" +
			"<command-args>the move</command-args>",
			"[1]\n> /plan the move"},
		{"output of a local command", "<local-command-stdout>PAR-2291</local-command-stdout>", ""},
		{"an observation", "OBSERVATION:\nPAR-2291\n(Open file: n/a)\nbash-$", ""},
		{"a demonstration", "Here is a demonstration of how to correctly accomplish this task.\n\nPAR-2291", ""},
		{"another program's summary", "This session is being continued from a previous conversation. PAR-2291", ""},
		{"a prompt that a harness sends by itself",
			"Review the conversation above and update two things:\n\n**Memory**: PAR-2291", ""},
		{"another one", "Review the conversation above and consider saving to memory if appropriate. PAR-2291", ""},
		{"a note of a harness", "[System note: Your turn was interrupted. Address the message below.]\n\n", ""},
		{"a note of a harness before words", "[System note: Your turn was interrupted.]\n\nGo on.", "[1]\n> Go on."},
		{"where the agent runs", "<environment_context>\n<cwd>/srv/kw</cwd>\n</environment_context>", ""},
		{"an element of a person's own", "Use this:\n<config>\n<port>8443</port>\n</config>",
			"[1]\n> Use this:\n> <config>\n> <port>8443</port>\n> </config>"},
	} {
		t.Run(tc.why, func(t *testing.T) {
			if got := thread(render(session(tc.text), note.Options{})); got != tc.want {
				t.Errorf("%q, want %q", got, tc.want)
			}
		})
	}
	t.Run("an interruption is told, and is no message", func(t *testing.T) {
		msgs := session("Mend it.", edit("a/b.go", "ok", false), "[Request interrupted by user for tool use]",
			"No, the other one.")
		got := thread(render(msgs, note.Options{}))
		if got != "[1]\n> Mend it.\n- Changed: b.go (edited)\n- In the end the person interrupted the agent.\n"+
			"[2]\n> No, the other one." {
			t.Errorf("%s", got)
		}
		msgs = slices.Insert(msgs, 4, said("It is mended all the same."))
		const told = "- On the way the person interrupted the agent."
		if got := thread(render(msgs, note.Options{})); !strings.Contains(got, told) {
			t.Errorf("it went on:\n%s", got)
		}
	})
}

// TestAnswerByNumber: an answer that is a number says what it chose.
func TestAnswerByNumber(t *testing.T) {
	features.Proves(t, "A6")
	const plans = "Two ways:\n\n1. Keep bbolt and compact it at night.\n2. Move to SQLite, with WAL.\n\nWhich one?"
	for _, tc := range []struct {
		why, asked, answer, want string
	}{
		{"a list", plans, "2", "- That was: 2. Move to SQLite, with WAL."},
		{"with a mark", plans, "1.", "- That was: 1. Keep bbolt and compact it at night."},
		{"with parentheses", "a:\n1) one way\n2) the other", "2)", "- That was: 2) the other"},
		{"in bold", "a:\n**1. one way**\n**2. the other**", "1", "- That was: 1. one way"},
		{"ten and one are two entries", "a:\n1. one way\n10. the tenth", "10", "- That was: 10. the tenth"},
		{"a number of none", plans, "3", ""},
		{"an answer with a number in it", plans, "sorry, I missed this. 1 is correct",
			"- The agent had listed: 1. Keep bbolt and compact it at night. / 2. Move to SQLite, with WAL."},
		{"an answer with a number in words", plans, "I'll go with the second option, since it's the cheaper one.",
			"- The agent had listed: 1. Keep bbolt and compact it at night. / 2. Move to SQLite, with WAL."},
		{"of many only those that are named", "a:\n1. a\n2. b\n3. c\n4. d\n5. e\n6. f", "skip 2 and 5, do the rest",
			"- The agent had listed: 2. b / 5. e; [4 more]"},
		{"rows of a table", "| # | what |\n|---|---|\n| 1 | nil check |\n| 2 | help text |", "fix 2 first",
			"- The agent had listed: 1, nil check / 2, help text"},
		{"what stands below an entry", "1. **HAT218**\n   - Price: $261\n2. **HAT136**\n   - Price: $255\n\nWhich?",
			"the second one",
			"- The agent had listed: 1. HAT218; Price: $261 / 2. HAT136; Price: $255"},
		{"an answer point by point, with what it passes over",
			"Before I begin:\n\n1. Shall I keep the old table?\n2. Which branch?\n3. Who tests it?",
			"1. no\n2. main",
			"- The agent had listed: 1. Shall I keep the old table? / 2. Which branch? / 3. Who tests it?"},
		{"a list of its own", "I did:\n1. the lock\n2. the table", "1. mend the test\n2. push it", ""},
		{"a version is no number of an entry", plans, "update to 0.5.2", ""},
		{"nor is a part of a fraction", plans, "reconnecting, retry 2/3: what is this?", ""},
		{"a number of something else", plans, "wait for 20 minutes", ""},
		{"a wish of its own", plans, "Rewrite the parser in Go.", ""},
		{"a number that answers nothing", "It took 2 minutes.", "2", ""},
		{"a price in the text is no option", "It costs\n2.50 euros", "2", ""},
	} {
		t.Run(tc.why, func(t *testing.T) {
			text := render(session("Plan?", said(tc.asked), tc.answer), note.Options{})
			for round := range 2 {
				_, got, _ := strings.Cut(thread(text), quoted(tc.answer))
				if got = strings.TrimSpace(got); got != tc.want {
					t.Errorf("round %d: %q, want %q", round, got, tc.want)
				}
				text = render(session(summary(text)), note.Options{})
			}
		})
	}
	t.Run("the question stays beside the answer", func(t *testing.T) {
		if got := thread(render(session("Plan?", said(plans), "2"), note.Options{})); !strings.Contains(got, "Which one?") {
			t.Errorf("%s", got)
		}
	})
}

// TestClosingWords: what the agent concluded is told in its own last words of the turn.
func TestClosingWords(t *testing.T) {
	features.Proves(t, "A6")
	long := strings.Repeat("The lease table is safe now. ", 40)
	for _, tc := range []struct {
		why  string
		msgs []abi.Message
		want string
	}{
		{"the last words", session(said("I begin."), said("It was the clock.")), "- Agent: It was the clock."},
		{"not what announces a call", session(said("It was the clock."), abi.Message{Role: abi.RoleAssistant,
			Content: abi.Text("Let me commit:"), ToolCalls: []abi.ToolCall{{ID: "c", Name: "get_x", Arguments: "{}"}}}), ""},
		{"headings, tables and code are no words",
			session(said("## Result\n\n| a | b |\n|---|---|\n```\ncode\n```\nIt was the **clock**.")),
			"- Agent: [...] It was the clock."},
		{"a list", session(said("Done:\n- the lock\n- the test")), "- Agent: Done: the lock; the test"},
		{"a question at the end", session(said(long + "\n\nShall I push?")),
			"- Agent: [...] The lease table is safe now. Shall I push?"},
		{"what is cut is marked", session(said(long)), " [...]"},
	} {
		t.Run(tc.why, func(t *testing.T) {
			_, got, _ := strings.Cut(thread(render(session("Mend it.", tc.msgs, "ok"), note.Options{})), "> Mend it.")
			got, _, _ = strings.Cut(got, "\n[2]")
			if got = strings.TrimSpace(got); tc.want == "" && got != "" || !strings.HasSuffix(got, tc.want) {
				t.Errorf("%q, want %q", got, tc.want)
			}
		})
	}
}

// TestWhatStays: of a message that stays in view the note says where it stands, and
// does not say its words again.
func TestWhatStays(t *testing.T) {
	features.Proves(t, "A6")
	msgs := session("The task is PAR-1.", edit("a/b.go", "ok", false), said("Edited."),
		"And now PAR-2.", edit("a/c.go", "ok", false), said("Still at it."), edit("a/d.go", "ok", false))
	s := note.Session{Messages: msgs, Gone: []bool{false, true, true, true, false, true, true, false, false, false}}
	const want = `[1] its message stands above
- Changed: b.go (edited)
- Agent: Edited.
[2] its message stands below: "And now PAR-2."
- Changed: c.go (edited)
- More of it stands below.`
	text := write(s, note.Options{})
	if got := thread(text); got != want {
		t.Fatalf("%s\n\nwant\n%s", got, want)
	}
	t.Run("and the next compaction goes on with it", func(t *testing.T) {
		later := session(msgs[0], summary(text), msgs[4], msgs[7:], said("All done."), "Thanks, push it.")
		s := note.Session{Messages: later, Gone: slices.Repeat([]bool{true}, len(later))}
		s.Gone[0], s.Gone[len(later)-1] = false, false
		got := thread(write(s, note.Options{}))
		for _, part := range []string{"[1] its message stands above\n", "[2]\n> And now PAR-2.\n", "c.go (edited)",
			"d.go (edited)",
			"- Agent: All done."} {
			if strings.Count(got, part) != 1 {
				t.Errorf("%q is not there once:\n%s", part, got)
			}
		}
	})
	t.Run("a note by an earlier version says the same in other words", func(t *testing.T) {
		later := func(text string) string {
			return write(gone(session(summary(text), msgs[4], msgs[7:], said("All done."), "Thanks.")), note.Options{})
		}
		old := strings.Replace(text, "More of it stands below.", "It goes on below.", 1)
		if got := later(old); old == text || got != later(text) || strings.Contains(got, "below.") {
			t.Errorf("%s", got)
		}
	})
	t.Run("a turn that stays as a whole is not told", func(t *testing.T) {
		if got := thread(write(goneUpTo(3, msgs), note.Options{})); strings.Contains(got, "[2]") {
			t.Errorf("%s", got)
		}
	})
}

// TestWhatFollowedTheOnesThatStay: of a turn of which calls stay and the closing words behind them went these are told,
// and it is not said that more of it stands below.
func TestWhatFollowedTheOnesThatStay(t *testing.T) {
	features.Proves(t, "N13")
	msgs := session("Mend it.", edit("/srv/kw/a.go", "ok", false), run("make test", "ok", false),
		said("All of it is mended."), "And now?", said("Nothing."))
	s := goneUpTo(6, msgs)
	s.Gone[3], s.Gone[4] = false, false // the check and its result
	if got := thread(write(s, note.Options{})); strings.Contains(got, "More of it stands below.") ||
		!strings.Contains(got, "- Agent: All of it is mended.") {
		t.Errorf("%s", got)
	}
}

// TestGreetingsAreDropped: what an agent says to be polite stands in no note.
func TestGreetingsAreDropped(t *testing.T) {
	features.Proves(t, "I8")
	for _, polite := range []string{"Hello! Happy to help you with that today. Thanks for reaching out!",
		"You're very welcome! Let me take a look.", "Hi there! How can I help you today?", "Guten Tag! Wie kann ich helfen?",
		"Bonjour ! Comment puis-je vous aider ?", "你好！有什么可以帮你的？", "こんにちは！お手伝いします。",
		"Perfect!"} {
		if got := thread(render(session("Mend it.", said(polite), "Then go on.", said("Done.")), note.Options{})); got !=
			"[1]\n> Mend it.\n[2]\n> Then go on.\n- Agent: Done." {
			t.Errorf("%s", got)
		}
	}
}

// TestClosing: of an agent's closing words the finding stands there, and not what it
// begins with that says nothing; what a harness has it say is none of them.
func TestClosing(t *testing.T) {
	features.Proves(t, "A6", "N13")
	for _, tc := range []struct{ why, said, want string }{
		{"praise", "Great question! The edit counts as the agent's.", "[...] The edit counts as the agent's."},
		{"praise on its own line", "Perfect!\n\nAll tests pass.", "[...] All tests pass."},
		{"what it looks at", "Exactly. Let me think it through.\n\nWe cannot know it at the start.",
			"[...] We cannot know it at the start."},
		{"an answer that begins as one does", "No problem was found in the parser.", "No problem was found in the parser."},
		{"what was done, politely", "No problem, I reverted the migration.", "No problem, I reverted the migration."},
		{"a permission", "You're welcome to merge it now.", "You're welcome to merge it now."},
		{"a condition", "I'm happy to help with that once you name the port.",
			"I'm happy to help with that once you name the port."},
		{"a greeting with more", "Hello! Happy to help. The port is 8080.",
			"[...] Happy to help. The port is 8080."},
		{"a finding with an exclamation mark", "The release branch no longer builds!",
			"The release branch no longer builds!"},
	} {
		t.Run(tc.why, func(t *testing.T) {
			if got := thread(render(session("Go on.", said(tc.said)),
				note.Options{})); got != "[1]\n> Go on.\n- Agent: "+tc.want {
				t.Errorf("%s", got)
			}
		})
	}
	t.Run("the answer to a command of the harness", func(t *testing.T) {
		msgs := session("Can a hook split commits?", said("Hooks cannot do that."),
			"<command-name>/exit</command-name>\n<command-args></command-args>", said("No response requested."))
		if got := thread(render(msgs, note.Options{})); got != "[1]\n> Can a hook split commits?\n- Agent: Hooks "+
			"cannot do that." {
			t.Errorf("%s", got)
		}
	})
}

// TestRepeated: words said again stand once, where they were said last, and what came
// of them the first time stays.
func TestRepeated(t *testing.T) {
	features.Proves(t, "A6", "complaint 18")
	const words = "Run the whole suite again and tell me which of the tests fail, please."
	got := thread(render(session(words, edit("a/b.go", "ok", false), said("Two fail."), words, said("None."), "ok",
		said("x"), "ok"), note.Options{}))
	const want = "[1] the same words as [2]\n- Changed: b.go (edited)\n[2]\n> " + words + "\n- Agent: None.\n" +
		"[3]\n> ok\n- Agent: x\n[4]\n> ok"
	if got != want {
		t.Errorf("%s\n\nwant\n%s", got, want)
	}
	var many []any
	for range 50 {
		many = append(many, words, said("None."))
	}
	text := render(session(many...), note.Options{})
	for round := range 3 {
		if got := thread(text); strings.Count(got, words) != 1 ||
			!strings.HasPrefix(got, "[1-49] 49 messages of persons are "+note.AgainMark+"50]\n[50]\n> ") {
			t.Errorf("round %d: %s", round, got)
		}
		text = render(session(summary(text)), note.Options{})
	}
}

// TestFolds: where even first sentences do not fit the oldest fold into one line with
// their numbers, and numbers go on from there in the next compaction.
func TestFolds(t *testing.T) {
	features.Proves(t, "complaint 18", "complaint 8")
	var parts []any
	for i := range 300 {
		parts = append(parts, fmt.Sprintf("Look at part %d of it, and tell me.", i+1), said("I did."))
	}
	text, last := render(session(parts...), note.Options{Budget: 1500}), 300
	for round := range 4 {
		got := thread(text)
		var to, n int
		if _, err := fmt.Sscanf(got, "[1-%d] %d messages of persons are left out here", &to, &n); err != nil ||
			to != n || n < 100 {
			t.Fatalf("round %d: %d of %d are folded (%v):\n%s", round, n, to, err, got)
		}
		for k := to + 1; k <= last; k++ {
			if want := fmt.Sprintf("\n[%d]\n> ", k); strings.Count(got, want) != 1 {
				t.Fatalf("round %d: no %q:\n%s", round, want, got)
			}
		}
		if part := "> Look at part 300 of it, and tell me."; round == 0 && !strings.Contains(got, "[300]\n"+part) {
			t.Errorf("round %d: no %q:\n%s", round, part, got)
		}
		text = render(session(summary(text), "Look once more.", said("I did.")), note.Options{Budget: 1500})
		if last++; !strings.Contains(text, fmt.Sprintf("[%d]\n> Look once more.", last)) {
			t.Fatalf("round %d: numbers do not go on at %d:\n%s", round, last, text)
		}
	}
}

// TestTwoNotes: where two notes meet, as in a session that was continued, their turns
// are told one after the other, and numbers go on.
func TestTwoNotes(t *testing.T) {
	features.Proves(t, "complaint 8")
	a := render(session("First.", said("a"), "Second.", said("b")), note.Options{Recall: "`recall one`"})
	b := render(session("Third.", said("c")), note.Options{Recall: "`recall two`"})
	text := render(session(summary(a), summary(b), "Fourth."), note.Options{Recall: "`recall three`"})
	const want = "[1]\n> First.\n- Agent: a\n[2]\n> Second.\n- Agent: b\n[3]\n> Third.\n- Agent: c\n[4]\n> Fourth."
	if got := thread(text); got != want {
		t.Errorf("%s", got)
	}
	for _, where := range []string{"one", "two", "three"} {
		t.Run(where, func(t *testing.T) {
			if strings.Count(text, "A part of it can be read and searched: `recall "+where+"`\n") != 1 {
				t.Errorf("%s", text)
			}
		})
	}
}

// TestTranscripts: the note says where all of it can be read, or of the last transcripts
// of a chain, each once, that they have a part of it.
func TestTranscripts(t *testing.T) {
	features.Proves(t, "complaint 8")
	text := render(session("Begin."), note.Options{Recall: "`recall 0`"})
	if !strings.Contains(text, "All of it can be read and searched: `recall 0`\n") {
		t.Errorf("one transcript has all:\n%s", text)
	}
	for i := 1; i < 6; i++ {
		text = render(session(summary(text), "On."), note.Options{Recall: fmt.Sprintf("`recall %d`", i/2)})
	}
	if got := strings.Count(text, "\nA part of it can be read"); got != 3 || strings.Contains(text, "All of it") {
		t.Errorf("%d transcripts:\n%s", got, text)
	}
	for i := range 3 {
		if part := fmt.Sprintf("searched: `recall %d`\n", i); !strings.Contains(text, part) {
			t.Errorf("no %q:\n%s", part, text)
		}
	}
}

// TestDeedsKeepTheirSums: where there is no room for all that a call was made with, its
// sums and what they were paid with stay.
func TestDeedsKeepTheirSums(t *testing.T) {
	features.Proves(t, "A6", "N13")
	msgs := session("Book it.", called("book", map[string]any{"user": "mia_li_3668", "from": "JFK", "to": "SEA",
		"cabin":      "economy",
		"payment_id": "cert_75", "amount": 250}, `{"reservation_id": "HATHAT"}`, false), said("Booked."))
	for _, want := range []string{"- Called: book (amount 250, cabin economy, from JFK, payment_id cert_75, to SEA, " +
		"user mia_li_3668) → reservation_id HATHAT",
		"- Called: book (amount 250, payment_id cert_75, ...) → reservation_id HATHAT"} {
		t.Run(want, func(t *testing.T) {
			for budget := 900; budget > 100; budget -= 10 {
				if strings.Contains(render(msgs, note.Options{Budget: budget}), want) {
					return
				}
			}
			t.Error("no budget gives it")
		})
	}
}

// TestNoRoomForWhatCame: where there is no room to tell what was done in a turn, a mark says so, now and in the next
// note: alone the words would read as if nothing was.
func TestNoRoomForWhatCame(t *testing.T) {
	features.Proves(t, "N13")
	msgs := session("Mend the harbour.")
	for i := range 30 {
		file := fmt.Sprintf("/srv/kw/pier/of-the-harbour-number%d.go", i)
		msgs = append(msgs, session(edit(file, "ok", false),
			said(fmt.Sprintf("Pier %d carries the crane again, and the mail boat with all that is on it.", i)),
			fmt.Sprintf("And pier %d, please, the way it was before the storm.", i+1))...)
	}
	text := render(msgs, note.Options{Budget: 800})
	for round := range 2 {
		marked := 0
		for i := range 28 {
			words := fmt.Sprintf("> And pier %d, please, the way it was before the storm.\n", i+1)
			_, came, ok := strings.Cut(thread(text), words)
			if came, _, _ = strings.Cut(came, "\n"); !ok {
				continue
			}
			if !strings.HasPrefix(came, "- ") {
				t.Errorf("round %d: pier %d reads as if nothing came of it: %q", round, i+1, came)
			}
			if came == "- [...]" {
				marked++
			}
		}
		if marked == 0 {
			t.Errorf("round %d: there is room for everything:\n%s", round, thread(text))
		}
		text = render(session(summary(text), "Go on."), note.Options{Budget: 800})
	}
}

// TestMarksAreExplainedWhereTheyStand: what marks the words of persons is told where some stand in the thread.
func TestMarksAreExplainedWhereTheyStand(t *testing.T) {
	features.Proves(t, "N13")
	s := gone(session("Mend it.", edit("/srv/kw/a.go", "ok", false), said("Mended."), "Now the other one."))
	s.Gone[len(s.Gone)-1] = false
	with := write(s, note.Options{})
	s.Gone[0] = false
	without := write(s, note.Options{})
	if !strings.Contains(with, "\n> Mend it.\n") || !strings.Contains(with, note.AboutThread) ||
		strings.Contains(without, "\n> ") || strings.Contains(without, note.AboutThread) {
		t.Errorf("%s\n\n%s", with, without)
	}
}

// TestMoreOfAnEarlierTurnStays: where the next compaction takes nothing of a turn that an earlier note tells a part of,
// it is still said that more of it stands below.
func TestMoreOfAnEarlierTurnStays(t *testing.T) {
	features.Proves(t, "N13", "A6")
	const more = "- More of it stands below."
	msgs := session("Mend the first.", edit("/srv/kw/a.go", "ok", false), said("It is mended."), "And the second one?",
		edit("/srv/kw/b.go", "ok", false), run("make test", "ok", false), said("That too."))
	first := note.Session{Messages: msgs, Gone: slices.Repeat([]bool{false}, len(msgs))}
	first.Gone[1], first.Gone[2] = true, true // the change of the first
	text := write(first, note.Options{})
	if got := thread(text); strings.Count(got, more) != 1 {
		t.Fatalf("%s", got)
	}
	later := session(msgs[0], summary(text), msgs[3:])
	second := note.Session{Messages: later, Gone: slices.Repeat([]bool{false}, len(later))}
	second.Gone[1], second.Gone[4], second.Gone[5] = true, true, true // the note, and the change of the second
	if got := thread(write(second, note.Options{})); strings.Count(got, more) != 2 {
		t.Errorf("%s", got)
	}
}
