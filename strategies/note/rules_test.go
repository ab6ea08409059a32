package note_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/kagewasm/kagewasm/internal/features"
	"github.com/kagewasm/kagewasm/strategies/note"
)

// filler is much that binds nobody.
var filler = strings.Repeat("It was built for a few hundred rows and holds millions. ", 120)

// TestRulesOfShortenedMessages: of a message that is shown in part the rules, decisions,
// owners, withdrawals and the entries of its lists are kept word for word, with its
// number, in any language, over compactions.
func TestRulesOfShortenedMessages(t *testing.T) {
	features.Proves(t, "A6", "complaint 8", "N13")
	for _, tc := range []struct{ why, says, want string }{
		{"a rule", "Never push to main.", "Never push to main."},
		{"a rule from now on", "From now on use tabs.", "From now on use tabs."},
		{"a decision", "We decided to keep SQLite.", "We decided to keep SQLite."},
		{"an owner", "Dagny will rename the table.", "Dagny will rename the table."},
		{"another owner", "Ravi owns the tests.", "Ravi owns the tests."},
		{"a withdrawal", "Scratch that plan with Redis.", "Scratch that plan with Redis."},
		{"a list", "Do this:\n1. use `pflag`, not flag\n2) keep v1.2\n",
			"Do this:\n1. use `pflag`, not flag\n2) keep v1.2"},
		{"boxes", "\n- [ ] no parcel twice\n- [x] a test shows it\n", "[ ] no parcel twice\n[x] a test shows it"},
		{"a number", "It must take under 1,337.5 ms.", "It must take under 1,337.5 ms."},
		{"German", "Das muss schneller sein!", "Das muss schneller sein!"},
		{"German, withdrawn", "Vergiss das mit Redis.", "Vergiss das mit Redis."},
		{"French", "Ne touche jamais au fichier.", "Ne touche jamais au fichier."},
		{"Spanish", "Nunca borres la tabla.", "Nunca borres la tabla."},
		{"Russian", "Никогда не трогай таблицу.", "Никогда не трогай таблицу."},
		{"Chinese", "很慢。必须保持兼容。请看。", "很慢。必须保持兼容。请看。"},
		{"Japanese", "必ずテストを書いて。", "必ずテストを書いて。"},
		{"Korean", "반드시 테스트를 작성하세요.", "반드시 테스트를 작성하세요."},
		{"a wish in the form of a question", "Could you make sure that no row is lost?",
			"Could you make sure that no row is lost?"},
		{"a pasted error is none", "\nError: 400 invalid request: ids without results. Each\nblock must have a " +
			"result in the next\nmessage.\n", ""},
		{"nor what stands behind a log", "\n2026/01/23 17:58:54 INFO it must be saved\nand always is\n", ""},
		{"code is none", "\n```\n- must not\nnever(x)\n```\n", ""},
	} {
		t.Run(tc.why, func(t *testing.T) {
			msgs := session("Begin.", said("a"), filler+"\n"+tc.says+"\n"+filler, said("b"), "Go on.")
			want := ""
			for line := range strings.Lines(tc.want) {
				want += "- [2] " + strings.TrimSuffix(line, "\n") + "\n"
			}
			for round := range 4 {
				text := render(msgs, note.Options{Budget: 1000})
				if got := rulesIn(text); got != strings.TrimSuffix(want, "\n") {
					t.Fatalf("round %d: %q, want %q:\n%s", round, got, want, text)
				}
				msgs = session(summary(text), "Go on.")
			}
		})
	}
}

// TestRulesInOrder: a rule and what takes it back stay in their order, and what was said
// twice counts from the last time.
func TestRulesInOrder(t *testing.T) {
	features.Proves(t, "A6")
	msgs := session(filler+"\nAlways use tabs. Never push.\n"+filler, said("a"),
		filler+"\nScratch that, use spaces instead.\n"+filler,
		said("b"), filler+"\nNever push.\n"+filler, said("c"))
	const want = "- [1] Always use tabs.\n- [2] Scratch that, use spaces instead.\n- [3] Never push."
	for round := range 3 {
		text := render(msgs, note.Options{Budget: 1500})
		if got := rulesIn(text); got != want {
			t.Fatalf("round %d: %q, want %q", round, got, want)
		}
		msgs = session(summary(text))
	}
}

// TestRulesOnlyWhereShortened: a rule that stands in the thread is not said again.
func TestRulesOnlyWhereShortened(t *testing.T) {
	features.Proves(t, "A6", "complaint 18")
	text := render(session("Never push to main.", said("ok"), filler+" Always use tabs."), note.Options{Budget: 1500})
	for _, rule := range []string{"Never push to main.", "Always use tabs."} {
		t.Run(rule, func(t *testing.T) {
			if n := strings.Count(text, rule); n != 1 {
				t.Errorf("it is there %d times:\n%s", n, text)
			}
		})
	}
}

// TestCriteriaSurvive: a list of 30 criteria in one message is there whole in a note of
// 1,000 tokens, after five compactions, and of little more where much stands beside it.
func TestCriteriaSurvive(t *testing.T) {
	features.Proves(t, "A6", "complaint 8", "N13")
	list := "Build the exporter. It is done when:\n"
	var criteria []string
	for i := range 30 {
		criteria = append(criteria, fmt.Sprintf("column %d is called kw_col_%d and has %d,%03d rows", i+1, 17*i+3, i+1,
			37*i%1000))
		list += fmt.Sprintf("%d. %s\n", i+1, criteria[i])
	}
	for _, tc := range []struct {
		why, words string
		budget     int
	}{
		{"alone", list, 1000}, {"behind much else", longMessage(4000) + "\n" + list, 1500},
		{"inside much else", longMessage(6000) + "\n" + list + longMessage(6000), 1500},
	} {
		t.Run(tc.why, func(t *testing.T) {
			msgs := session("Hello.", said("Hello."), tc.words, edit("/srv/kw/export.go", "ok", false),
				said("I begin with the first."))
			for round := range 5 {
				text := render(msgs, note.Options{Budget: tc.budget})
				for _, c := range criteria {
					if !strings.Contains(text, c) {
						t.Fatalf("round %d: %q is lost:\n%s", round, c, text)
					}
				}
				if n := byRune(text); n > tc.budget {
					t.Fatalf("round %d: %d tokens", round, n)
				}
				msgs = session(summary(text), "Go on, please.", run("go vet ./...", "ok", false),
					said("Column by column, it goes on."))
			}
		})
	}
}

// TestRulesFromTheirStart: where a list does not fit its first entries stand there, and a mark behind them, after any
// number of compactions.
func TestRulesFromTheirStart(t *testing.T) {
	features.Proves(t, "A6", "N13")
	list := ""
	for i := range 30 {
		list += fmt.Sprintf("- column %d is called kw_col_%d and never empty\n", i+1, 17*i+3)
	}
	msgs := session("Begin.", said("a"), filler+"\n"+list+filler, said("b"), "Go on.")
	told := 30
	for round := range 3 {
		text := render(msgs, note.Options{Budget: 500 - 30*round})
		lines := strings.Split(rulesIn(text), "\n")
		for i, line := range lines {
			if !strings.Contains(line, fmt.Sprintf("column %d ", i+1)) {
				t.Fatalf("round %d: entry %d is %q:\n%s", round, i+1, line, text)
			}
		}
		_, behind, _ := strings.Cut(text, lines[len(lines)-1][len("- [2] "):]+"\n")
		if len(lines) > told || len(lines) == 30 || !strings.HasPrefix(behind, "> [... ") {
			t.Fatalf("round %d: %d of %d entries, and no mark behind them:\n%s", round, len(lines), told, text)
		}
		told = len(lines)
		msgs = session(summary(text), "Go on.")
	}
}

// TestTakenBackInOtherWords: what a person takes back by a word that stands for it is no longer told as a rule that
// holds, and who takes it back stands there too, after any number of compactions.
func TestTakenBackInOtherWords(t *testing.T) {
	features.Proves(t, "A6", "N13")
	for _, tc := range []struct {
		says string
		back bool
	}{
		{"actually, can you revert that?", true}, {"Forget it.", true}, {"hm. never mind, it is fine as it is", true},
		{"don't do that after all", true}, {"Undo your last change.", true}, {"I changed my mind.", true},
		{"Vergiss das bitte.", true}, {"算了，不用改。", true},
		{"Don't forget that the table is read.", false}, {"Never undo that migration by hand.", false},
		{"Read it again.", false}, {"Look at the log. It is long. Then revert that.", false},
	} {
		t.Run(tc.says, func(t *testing.T) {
			msgs := session(filler+"\nAlways use tabs.\n"+filler, said("a"), tc.says+"\n"+filler, said("b"), "Go on.")
			want := "- [1] Always use tabs."
			if tc.back {
				want += " (taken back in [2])"
			}
			for round := range 3 {
				text := render(msgs, note.Options{Budget: 1500})
				if got := rulesIn(text); !slices.Contains(strings.Split(got, "\n"), want) {
					t.Fatalf("round %d: %q, want %q:\n%s", round, got, want, text)
				}
				if tc.back && !strings.Contains(text, tc.says) {
					t.Fatalf("round %d: what takes it back is lost:\n%s", round, text)
				}
				msgs = session(summary(text), "Go on.")
			}
		})
	}
}

// TestNamesBindNothing: a name of a branch, a file or a symbol is no rule by the words that it is made of; a sentence
// that has one is by its own. Plain sentences and questions are none.
func TestNamesBindNothing(t *testing.T) {
	features.Proves(t, "N13")
	for _, tc := range []struct {
		said  string
		binds bool
	}{
		{"The work is on soph/never-squash-it since last week.", false},
		{"Look at branch must-have-tests when you get there.", false},
		{"It is what `assert must be nil` prints.", false},
		{"The symbol is max_always_on in that file.", false},
		{"See docs/decision-log.md for the rest.", false},
		{"Read the file.", false},
		{"That is what must happen if we don't stream, right?", false},
		{"Never squash what is on soph/fix-it.", true},
		{"You must not push to branch must-have-tests.", true},
		{"Use v1 and/or v2, never both of them.", true},
	} {
		if got := note.Binds(tc.said); got != tc.binds {
			t.Errorf("%q is a rule: %v", tc.said, got)
		}
	}
}
