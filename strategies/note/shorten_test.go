package note_test

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/features"
	"github.com/kagewasm/kagewasm/strategies/note"
)

// markRE is the line that stands for words that are left out.
var markRE = regexp.MustCompile(`(?m)^\[\.\.\. (\d+)` + note.LeftOut + `(: message m7)? \.\.\.\]$`)

// TestNothingGained: what is no longer than the mark that would stand for it is not left out.
func TestNothingGained(t *testing.T) {
	features.Proves(t, "A6")
	words := strings.Repeat("word ", 230) + "and these are the last ones."
	for runes := 1150; runes < len(words); runes++ {
		if got := note.Shorter(words, runes, "m00015"); got != words {
			t.Fatalf("%d: %s", runes, got)
		}
	}
}

// TestShorter: a long message is shown by its beginning and its end, with how much is
// left out between and how to find it; where there is little room, by its first sentence.
func TestShorter(t *testing.T) {
	features.Proves(t, "A6")
	prose := "The table is slow. " + strings.Repeat("It was built for a few hundred rows. ", 200) + "Never push to main."
	log := "This fails:\n" + strings.Repeat("2026-01-23T14:05:06Z ERROR lease 8443 expired\n", 60) + "Mend the clock."
	code := "See:\n```go\n" + strings.Repeat("x := 1\n", 200) + "```\nWhy?"
	for _, tc := range []struct {
		why, words string
		runes      int
		want       string
	}{
		{"short ones stay", "Mend it.", 160, `Mend it\.`},
		{"as long as there is room", strings.Repeat("é", 400), 400, strings.Repeat("é", 400)},
		{"the beginning and the end", prose, 400, `The table is slow\. It was .*\nMARK\n.*rows\. Never push to main\.`},
		{"the first sentence", prose, 160, `The table is slow\.\nMARK`},
		{"the first one that says something", "That's really helpful, thanks! " + prose, 160, `\[\.\.\.\] The table is slow\.\nMARK`},
		{"small talk where there is nothing else", "Wow! " + strings.Repeat("That's really great. ", 20), 160, `Wow!\nMARK`},
		{"what was shortened so before", "[...] The table is slow.\n[... 300 characters left out here: message m7 ...]" +
			strings.Repeat("\nAnd so on.", 20), 160, `\[\.\.\.\] The table is slow\.\nMARK\nAnd so on\.`},
		{"a log that was pasted, not the words around it", log, 1200,
			`This fails:\n(2026\S+ ERROR lease 8443 expired\n){2}MARK\n2026\S+ ERROR lease 8443 expired\nMend the clock\.`},
		{"code that was pasted", code, 1200, "See:\n```go\nx := 1\nMARK\n```\nWhy\\?"},
		{"without spaces between words", strings.Repeat("不要推送", 200), 160, `(不要推送)+(不|不要|不要推)?\nMARK`},
	} {
		t.Run(tc.why, func(t *testing.T) {
			got := markRE.ReplaceAllString(note.Shorter(tc.words, tc.runes, "m7"), "MARK")
			if !regexp.MustCompile(`\A` + tc.want + `\z`).MatchString(got) {
				t.Errorf("%q, want %q", got, tc.want)
			}
		})
	}
}

// TestMarksCountOnce: of a message that was cut before, a mark that stays speaks for what
// it spoke for, and one that goes is counted by the mark in its place.
func TestMarksCountOnce(t *testing.T) {
	features.Proves(t, "A6", "N13")
	const old = "[... 5000 characters left out here: message m7 ...]"
	words := func(n int) string { return strings.TrimSpace(strings.Repeat("word ", n)) }
	for _, tc := range []struct {
		why, words string
		marks      int
	}{
		{"one at the beginning stays", "Begin.\n" + old + "\n" + words(400), 2},
		{"one at the end stays", words(400) + "\n" + old + "\nEnd.", 2},
		{"one in the middle goes", words(200) + "\n" + old + "\n" + words(200), 1},
	} {
		t.Run(tc.why, func(t *testing.T) {
			got := note.Shorter(tc.words, 1200, "m7")
			total := 0
			marks := markRE.FindAllStringSubmatch(got, -1)
			for _, m := range marks {
				n := 0
				_, _ = fmt.Sscan(m[1], &n)
				total += n
			}
			all := len(strings.Fields(strings.ReplaceAll(tc.words, old, "")))*5 + 5000
			left := len(strings.Fields(markRE.ReplaceAllString(got, ""))) * 5
			if len(marks) != tc.marks || total < all-left-20 || total > all-left+20 {
				t.Errorf("%d marks say %d characters, %d went:\n%s", len(marks), total, all-left, got)
			}
		})
	}
}

// TestCutsAreWhole: wherever a message is cut, every word, number and address that is
// shown is whole, every cut is marked, and the marks count what they stand for.
func TestCutsAreWhole(t *testing.T) {
	features.Proves(t, "A6")
	word := rapid.OneOf(
		rapid.SampledFrom([]string{"1773489600000", "1,337", "1.299,95", "+49", "(0)30", "901820-0", "12'000.5",
			"v1.2.3-rc.1", "5ms", "€4.50",
			"https://example.com/a/b?c=d&e=1773489600000#f", "/srv/kw/internal/store/lease_table.go:12:3", "kage@example.com",
			"https://example.com/" + strings.Repeat("a/b?c=d&", 40), strings.Repeat("QmFzZTY0", 100),
			"PAR-2291", "`go test ./...`", "don't", "naïve", "x̂_ŷ", "🙂", "und", "The", "a."}),
		rapid.StringMatching(`[a-zA-Zé0-9_.,:/-]{1,40}`),
	)
	rapid.Check(t, func(t *rapid.T) {
		var b strings.Builder
		for i := range rapid.IntRange(1, 300).Draw(t, "words") {
			if i > 0 {
				b.WriteString(rapid.SampledFrom([]string{" ", " ", " ", " ", "\n", "\n\n", ", "}).Draw(t, "space"))
			}
			b.WriteString(word.Draw(t, "word"))
		}
		words := b.String()
		runes := rapid.SampledFrom([]int{6000, 1200, 400, 160}).Draw(t, "runes")
		got := note.Shorter(words, runes, "m7")
		if !utf8.ValidString(got) {
			t.Fatalf("invalid utf-8: %q", got)
		}
		if got == words {
			return
		}
		met := make(map[string]int)
		for _, w := range strings.Fields(words) {
			met[w]++
		}
		shown := markRE.ReplaceAllString(got, "")
		for _, w := range strings.Fields(shown) {
			if met[w]--; met[w] < 0 {
				t.Fatalf("%q is no word of\n%q\nbut is shown in\n%q", w, words, got)
			}
		}
		left, marked := 0, 0
		for _, m := range markRE.FindAllStringSubmatch(got, -1) {
			n := 0
			if _, err := fmt.Sscan(m[1], &n); err != nil || n == 0 {
				t.Fatalf("a mark of nothing: %q", got)
			}
			left, marked = left+n, marked+1
		}
		if marked == 0 {
			t.Fatalf("nothing is marked: %q", got)
		}
		space := 4 * marked // white space around a mark may be left out uncounted
		if n := utf8.RuneCountInString(words) - utf8.RuneCountInString(shown); left < n-space || left > n+space {
			t.Fatalf("%d characters are said to be left out, %d are:\n%q\n%q", left, n, words, got)
		}
		if most := runes + 64*marked; utf8.RuneCountInString(got) > most {
			t.Fatalf("%d characters, at most %d:\n%q", utf8.RuneCountInString(got), most, got)
		}
	})
}

// TestScriptsWithoutSpaces: where no spaces stand between words a text is cut between
// characters, and no letter or number is.
func TestScriptsWithoutSpaces(t *testing.T) {
	features.Proves(t, "A6")
	rapid.Check(t, func(t *rapid.T) {
		part := rapid.SampledFrom([]string{"不要推送", "必ず", "1773489600000", "PAR-2291", "保持兼容。", "ไม่", "テスト"})
		words := strings.Join(rapid.SliceOfN(part, 60, 400).Draw(t, "parts"), "")
		got := note.Shorter(words, 160, "m7")
		shown := markRE.Split(got, 2)[0] // its last sentence may stand behind the mark
		if shown = strings.TrimSpace(shown); shown == words || shown == "" {
			return
		}
		if !strings.HasPrefix(words, shown) {
			t.Fatalf("%q does not begin\n%q", shown, words)
		}
		last, _ := utf8.DecodeLastRuneInString(shown)
		next, _ := utf8.DecodeRuneInString(words[len(shown):])
		ascii := func(r rune) bool { return r < utf8.RuneSelf && (unicode.IsLetter(r) || unicode.IsDigit(r) || r == '-') }
		if ascii(last) && ascii(next) || unicode.Is(unicode.Mn, next) {
			t.Fatalf("cut between %q and %q:\n%q", last, next, got)
		}
	})
}

// longMessage is a message of so many characters in which the marks of a beginning and an
// end stand.
func longMessage(runes int) string {
	return "Begin here. " + strings.Repeat("And then it goes on for a while. ", runes/33) + "The end is here."
}

// TestLongShrinkFirst: where there is not room for all words the long messages shrink,
// the oldest first, and those that bind what follows last.
func TestLongShrinkFirst(t *testing.T) {
	features.Proves(t, "A6", "complaint 18")
	msgs := session(longMessage(3000), said("a"), "A short one: keep it.", said("b"),
		longMessage(3000)+" Never push to main.", said("c"), longMessage(2900)+" Really.", said("d"))
	whole := func(text, words string) bool { return strings.Contains(text, quoted(words)) }
	seen := make(map[string]bool)
	for budget := 3500; budget >= 150; budget -= 50 {
		text := render(msgs, note.Options{Budget: budget})
		short, binds := whole(text, "A short one: keep it."), whole(text, longMessage(3000)+" Never push to main.")
		first := strings.Contains(text, "[1]\n> "+longMessage(3000)+"\n")
		last := whole(text, longMessage(2900)+" Really.")
		if first && !last || last && !binds || binds && !short {
			t.Errorf("%d tokens: the first whole %v, the last %v, the one that binds %v, the short one %v:\n%s", budget,
				first, last, binds, short, text)
		}
		seen[fmt.Sprint(first, last, binds, short)] = true
	}
	for _, state := range []string{"true true true true", "false true true true", "false false true true",
		"false false false true"} {
		t.Run(state, func(t *testing.T) {
			if !seen[state] {
				t.Errorf("no budget shows it: %v", seen)
			}
		})
	}
}

// TestNewestShrinksLast: while older words can shrink, the newest stay whole.
func TestNewestShrinksLast(t *testing.T) {
	features.Proves(t, "A6")
	var msgs []abi.Message
	for i := range 12 {
		msgs = append(msgs, user(fmt.Sprintf("Rule %d, you must always ", i)+strings.Repeat("mend the lease table, ",
			15)+"now."), said("Done."))
	}
	newest := user("The last wish: " + strings.Repeat("mend the docs as well, ", 15) + "now.")
	told := 0
	for budget := 6000; budget > 800; budget -= 100 {
		text := render(append(msgs[:len(msgs):len(msgs)], newest), note.Options{Budget: budget})
		whole := strings.Contains(text, newest.Text())
		if whole {
			told++
		} else if strings.Contains(text, msgs[0].Text()) || strings.Contains(text, msgs[4].Text()) {
			t.Fatalf("%d: an older rule is whole, and the newest is not:\n%s", budget, text)
		}
	}
	if told < 20 {
		t.Errorf("the newest wish is whole in %d notes", told)
	}
}

// TestNotCutAgain: what was shortened stays as it was left in the compactions that
// follow: its mark, and how to find it. Where there is less room its first sentence, and what it says in particular,
// stay, and the mark stands for all that was left out, by then and now.
func TestNotCutAgain(t *testing.T) {
	features.Proves(t, "complaint 8", "complaint 18", "N13")
	m := user(longMessage(9000) + " Call +49 30 901820-0 or see https://example.com/a?b=1773489600000.")
	m.ID = "m7"
	text := render(session(m, said("a"), "Go on."), note.Options{Budget: 1200})
	was, _, _ := strings.Cut(thread(text), "\n- Agent:")
	if marks := markRE.FindAllString(strings.ReplaceAll(was, "> ", ""), -1); len(marks) != 1 ||
		!strings.Contains(marks[0], ": message m7 ") {
		t.Fatalf("%q in\n%s", marks, text)
	}
	short := 0
	for budget := 1200; budget >= 140; budget -= 40 {
		text = render(session(summary(text), "Go on.", said("b")), note.Options{Budget: 1200})
		less := render(session(summary(text), "Go on.", said("b")), note.Options{Budget: budget})
		got, _, _ := strings.Cut(thread(less), "\n- Agent:")
		got, _, _ = strings.Cut(got, "\n[")
		if got == was || strings.Contains(got, note.FoldedAlone) {
			continue
		}
		marks := markRE.FindAllStringSubmatch(strings.ReplaceAll(got, "> ", ""), -1)
		n := 0
		if len(marks) == 1 {
			_, _ = fmt.Sscan(marks[0][1], &n)
		}
		if short++; !strings.HasPrefix(got, "[1]\n> Begin here.\n> [... ") || n < 8900 {
			t.Fatalf("%d tokens:\n%s\n\nwas\n%s", budget, got, was)
		}
	}
	if short == 0 {
		t.Error("no budget leaves the first sentence alone")
	}
}

// TestSmallTalkGoesFirst: where there is not room for all words, small talk goes before what says something, and a
// message that corrects what was done goes after the one that it corrects.
func TestSmallTalkGoesFirst(t *testing.T) {
	features.Proves(t, "A6", "complaint 18")
	const (
		ask   = "then put the pending results into a queue of their own, above the editor, where one sees them, and flush it"
		wrong = "no, we want them in the container, and on the next submit we move them to the chat and add them to " +
			"the context"
	)
	talk := []string{"wow", "jesus, you are a monster", "thanks, that was quick", "cool, love it"}
	msgs := session("Untangle the modes.", said("Untangled."))
	var asks []string
	for i, words := range talk {
		what := fmt.Sprintf("and what becomes of results of mode number %d that nobody has seen, "+
			"who takes them from there?", i)
		asks = append(asks, what)
		msgs = append(msgs, session(words, said("Yes."), what, said("Nobody."))...)
	}
	msgs = append(msgs, session(ask, edit("/srv/kw/a.go", "ok", false), said("Put there."), wrong,
		edit("/srv/kw/b.go", "ok", false), said("Moved."), "Go on.", said("Done."), "And now?", said("Nothing."))...)
	first, corrected := 0, 0
	for budget := 1500; budget >= 100; budget-- {
		text := render(msgs, note.Options{Budget: budget})
		shows := func(words string) bool { return strings.Contains(text, "\n> "+words+"\n") }
		if talks := slices.IndexFunc(talk, shows); talks >= 0 {
			for _, what := range asks {
				if !shows(what) {
					t.Fatalf("%d tokens: %q stays, and %q does not:\n%s", budget, talk[talks], what, text)
				}
			}
		} else if shows(asks[len(asks)-1]) {
			first++
		}
		if shows(ask) && !shows(wrong) {
			t.Fatalf("%d tokens: what was corrected is shown and not what corrects it:\n%s", budget, text)
		}
		if shows(wrong) && !shows(ask) {
			corrected++
		}
	}
	if first == 0 || corrected == 0 {
		t.Errorf("in %d sizes small talk went first, in %d what was corrected", first, corrected)
	}
}

// TestNothingToSearchIsNotTold: where nobody can search what went, a note sends nobody to search
// it; and what it leaves out stays known to the next note.
func TestNothingToSearchIsNotTold(t *testing.T) {
	features.Proves(t, "N13")
	var parts []any
	for i := range 80 {
		parts = append(parts, fmt.Sprintf("Look at part %d of it, %s.", i, strings.Repeat("closely and with care ", 8)),
			said(fmt.Sprintf("Part %d is fine.", i)))
	}
	msgs := session(parts...)
	for _, recall := range []string{"", "kagewasm recall s-1 QUERY"} {
		text := render(msgs, note.Options{Budget: 500, Recall: recall})
		if !strings.Contains(text, "messages of persons are left out here") {
			t.Fatalf("nothing is left out:\n%s", text)
		}
		if strings.Contains(text, "search the transcript") != (recall != "") {
			t.Errorf("with %q:\n%s", recall, text)
		}
		again := render(session(summary(text), "Go on.", said("Gone on.")), note.Options{Budget: 500, Recall: recall})
		head, _, _ := strings.Cut(again[strings.Index(again, "\n["):][1:], "\n")
		if !strings.Contains(head, "left out here") {
			t.Errorf("the next note has forgotten it: %s", head)
		}
	}
}

// TestParticularsOfLongMessages: a rule, an owner, a criterion or a decision that stands in the middle of several
// hundred words of prose, in words that no list knows, or behind a log, is shown where the message is shortened.
func TestParticularsOfLongMessages(t *testing.T) {
	features.Proves(t, "N13")
	prose := strings.Repeat("We looked at the lease table together and saw what it does. ", 60)
	log := strings.Repeat("2026-01-23 14:05:06 INFO worker-3 processed 8443 rows in 12 ms\n", 120)
	for _, said := range []string{"Ticket OPS-4471 belongs to Priya from now.", "Go with the blue one.",
		"Treat the vendor folder as read-only.", "Public API names are frozen since v3.", "El timeout queda en 45 segundos.",
		"Done means: p95 under 180 ms on the small box.", "Option 2, but without the Redis part.",
		"Не трогай файл legacy.conf.", "I'd rather have two small PRs than a big one."} {
		for what, words := range map[string]string{"prose": prose + said + " " + prose,
			"a log": "Here is what I see:\n\n" + log + "\n\n" + said} {
			for _, runes := range []int{1200, 400, 160} {
				got := note.Shorter(words, runes, "m7")
				if !strings.Contains(got, said) {
					t.Errorf("%s in %s, %d characters:\n%s", said, what, runes, got)
				}
				if n := len([]rune(got)); n > runes+200 {
					t.Errorf("%s in %s: %d characters of %d", said, what, n, runes)
				}
			}
		}
	}
}

// TestRepeatedParticulars: a sentence that a message repeats stands once at each of its places.
func TestRepeatedParticulars(t *testing.T) {
	features.Proves(t, "N13")
	words := "Chapter 7. " + strings.Repeat("Everybody remembered the afternoon differently. ", 40)
	for _, runes := range []int{1200, 400, 160} {
		got := note.Shorter(words, runes, "m7")
		if !strings.HasPrefix(got, "Chapter 7.") || len(got) > runes+200 {
			t.Errorf("%d characters: %s", runes, got)
		}
	}
}

// TestLongMessagesHaveRoom: the words of persons stand whole where there is room beside the budget, through any number
// of compactions, and what they pasted does not take it.
func TestLongMessagesHaveRoom(t *testing.T) {
	features.Proves(t, "N13")
	var msgs []abi.Message
	var asked []string
	for i := range 8 {
		words := fmt.Sprintf("This is about part %d. ", i)
		for k := range 40 {
			words += fmt.Sprintf("It has a page with the number %d that we saw. ", 100*i+k)
		}
		asked = append(asked, strings.TrimSpace(words))
		read := run(fmt.Sprintf("cat p%d.go", i), strings.Repeat("a line of it\n", 50), false)
		msgs = session(msgs, asked[i], read, said("Read."))
	}
	for round := range 3 {
		went := goneUpTo(len(msgs), session(msgs, "And now?"))
		text := write(went, note.Options{Budget: 1000, Beside: went.NeedBeside(t.Context(), inFours, false), Count: inFours})
		for _, words := range asked {
			if !strings.Contains(strings.ReplaceAll(text, "\n> ", "\n"), words) {
				t.Fatalf("round %d: no %s in\n%s", round, words, text)
			}
		}
		msgs = session(summary(text))
	}
}
