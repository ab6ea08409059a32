package note

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/kagewasm/kagewasm/internal/clip"
	"github.com/kagewasm/kagewasm/internal/lazy"
	"github.com/kagewasm/kagewasm/internal/lists"
	"github.com/kagewasm/kagewasm/internal/lower"
	"github.com/kagewasm/kagewasm/internal/set"
)

// refersTo says what a short answer speaks of that names entries of a list by their
// numbers: the entries, word for word. Without them nobody knows what was decided.
func (m *Memory) refersTo(answer, asked string) string {
	if points := pointsOf(answer); len(points) > 1 {
		return m.answered(points, asked)
	}
	if !isAnswer(answer) {
		return ""
	}
	options := m.numbered.of(asked, numbered)
	pure := strings.Trim(answer, "0123456789ABCDEFGH +,&/.)!") == "" && len(answer) <= maxChoice
	numbers := numbersIn(answer)
	var named, all []string
	for _, o := range options {
		if slices.Contains(numbers, o.number) {
			named = append(named, o.text)
		}
		all = append(all, o.text)
	}
	switch {
	case pure && len(named) > 0:
		return choiceMark + strings.Join(named, betweenEntries)
	case pure || len(all) < 2 || !namesEntries(answer, len(named)):
		return ""
	case len(all) > maxOptions && len(named) == 0:
		return ""
	case len(all) > maxOptions:
		return listing(named, len(all)-len(named))
	}
	return listing(all, 0)
}

// pointsOf are the numbers with which the lines of an answer begin: "1. no", "2. yes".
func pointsOf(answer string) (points []string) {
	if len(answer) > maxPoints {
		return nil
	}
	for line := range unfenced(answer) {
		if number, _ := entryNumber(line); number != "" {
			points = append(points, number)
		}
	}
	return points
}

// answered are the entries of the list of somebody who asks, where an answer speaks of some of them point by point: all
// of them, as what it passes over is open.
func (m *Memory) answered(points []string, asked string) string {
	options := m.numbered.of(asked, numbered)
	named := lists.Filter(options, func(o option) bool { return slices.Contains(points, o.number) })
	if len(named) < 2 || !strings.ContainsAny(asked, "?？") {
		return ""
	}
	shown := options[:min(len(options), 2*maxOptions)]
	most := max(maxOption/2, maxListed/len(shown))
	return listing(lists.Map(shown, func(o option) string { return shortened(o.text, most) }), len(options)-len(shown))
}

// listing tells entries that an agent had listed, and counts those that are left out.
func listing(told []string, more int) string {
	line := listedMark + strings.Join(told, betweenEntries)
	if more > 0 {
		line += fmt.Sprintf("; [%d"+moreEntries, more)
	}
	return line
}

// isAnswer reports whether the words of a person are so short that they may speak of what the agent said.
func isAnswer(words string) bool {
	return words != "" && len(words) <= maxAnswer && !strings.Contains(words, "\n")
}

// answers reports whether a turn says nothing without what the agent said before it: "yes".
func (t *turn) answers() bool {
	words := cmp.Or(t.words, t.opens)
	return words != "" && len(words) <= maxBare && !strings.Contains(words, "\n") && t.again == 0
}

// answersTo reports whether a turn answers what the agent asked at the end of the one before.
func (t *turn) answersTo(before *turn) bool {
	return t.answers() && asks(before.said) && !asks(cmp.Or(t.words, t.opens))
}

// repliesTo reports whether a turn answers what the agent asked at the end of the one before, and says something else:
// it begins with that, "yes, and ...", or orders it beside, "is all committed? then do it".
func (t *turn) repliesTo(before *turn) bool {
	words := cmp.Or(t.words, t.opens)
	return !t.answers() && t.again == 0 && asks(before.said) && (replies(words) || orders(words))
}

// takesUp reports whether a turn takes up what the agent said at the end of the one before without having asked:
// "let's go with the cheaper one".
func (t *turn) takesUp(before *turn) bool {
	words := cmp.Or(t.words, t.opens)
	return t.again == 0 && before.said != "" && !asks(before.said) && accepts(words)
}

// questions reports whether a person asks something in a turn, be it in a sentence that is no question: "I wonder why".
func (t *turn) questions() bool { return asks(t.words) || wonderingWords.says(t.words) }

// wonderingWords are how people ask in sentences that are no questions.
var wonderingWords = newVocabulary("wondering")

// inShort are the forms in which the closing words of an agent are told where there is no room for all of them, longest
// first: with the entries of a list shortened, and what they ask in a few words.
func inShort(said string) []string {
	forms := []string{brief(said, true), brief(said, false)}
	if entries, ok := shortEntries(said); ok {
		return append([]string{entries}, forms...)
	}
	return forms
}

// shortEntries are closing words that hold a list, with its entries shortened. They are not ok where another list may
// begin in an entry: what is left to do would stand under what is done.
func shortEntries(said string) (short string, ok bool) {
	entries := strings.Split(said, "; ")
	for i, e := range entries {
		entries[i] = shortened(e, maxBefore)
		if left := strings.TrimPrefix(e, strings.TrimSuffix(entries[i], leftOutHere)); strings.Contains(left, ":") {
			return "", false
		}
	}
	return strings.Join(entries, "; "), len(entries) > 2
}

// entryBehind is the number of an entry that a sentence ends with.
var entryBehind = lazy.Regexp(`:? \d{1,2}\.$`)

// firstSaid is the first sentence of an agent's closing words that says something by itself, in short.
func firstSaid(said string) string {
	for part := range strings.SplitSeq(said, leftOutHere) {
		before := "" // a sentence that is too short alone: "No."
		for s := range sentences(strings.TrimSpace(part)) {
			s = entryBehind().ReplaceAllString(s, "")
			if isPraise(s) || strings.HasSuffix(s, ":") {
				before = ""
				continue
			}
			if both := before + " " + s; before != "" && strings.Contains(part, both) {
				s = both
			}
			if before = s; utf8.RuneCountInString(s) >= minAnswer {
				short := shortened(s, maxQuestion)
				if cut, ok := strings.CutSuffix(short, leftOutHere); ok {
					return marked(pieceOf(said, cut))
				}
				return pieceOf(said, s)
			}
		}
	}
	return shortened(said, maxBrief)
}

// brief is what the closing words of an agent ask, in a few words: with the sentence before it, where it points at that
// and there is room.
func brief(said string, room bool) string {
	ask, before := "", ""
	for s := range sentences(said) {
		if isQuestion(s) {
			if ask = s; room && pointing().MatchString(s) && utf8.RuneCountInString(before) <= maxBrief {
				ask = strings.TrimSpace(before + " " + s)
			}
		}
		before = s
	}
	switch ask {
	case said:
		return said
	case "":
		return endsOf(said)
	}
	gap := strings.TrimSpace(leftOutHere)
	return gap + " " + shortened(strings.TrimSpace(strings.TrimPrefix(ask, gap)), 2*maxBrief)
}

// pointing is what a question says that is nothing without the sentence before it.
var pointing = lazy.Regexp(`(?i)\b(that|this|it|these|those|them|one|so)\b`)

// listedInShort are the forms in which the entries are told that an answer speaks of, longest first: shortened, then
// those alone that it names by number.
func listedInShort(line, answer string) []string {
	mark, told, _ := strings.Cut(line, ": ")
	more := ""
	if at := strings.LastIndex(told, "; ["); at >= 0 && strings.HasSuffix(told, moreEntries) {
		told, more = told[:at], told[at:]
	}
	all := entriesOf(told)
	inShort := func(entries []string, size int) string {
		return strings.Join(lists.Map(entries, func(e string) string { return shortened(e, size) }), betweenEntries)
	}
	forms := []string{line, mark + ": " + inShort(all, 100) + more, mark + ": " + inShort(all, maxBefore) + more}
	numbers := numbersIn(answer)
	named := lists.Filter(all, func(e string) bool { return slices.Contains(numbers, e[:clip.Digits(e)]) })
	if n := len(all) - len(named); n > 0 && len(named) > 0 && more == "" {
		forms = append(forms, fmt.Sprintf("%s: %s; [%d%s", mark, inShort(named, maxBefore), n, moreEntries))
	}
	return forms
}

// entriesOf are the entries of a list as they are told: where the first has a number each has one.
func entriesOf(told string) (list []string) {
	numbered := func(e string) bool {
		n := clip.Digits(e)
		return n > 0 && n < len(e) && strings.IndexByte(".):,", e[n]) >= 0
	}
	for _, e := range strings.Split(told, betweenEntries) {
		if n := len(list); n > 0 && numbered(list[0]) && !numbered(e) {
			list[n-1] += betweenEntries + e
			continue
		}
		list = append(list, e)
	}
	return list
}

// betweenEntries stands between the entries that an answer speaks of.
const betweenEntries = " / "

// endsOf is the first sentence of closing words that ask nothing, and the last one that says something: what it comes
// to stands there.
func endsOf(said string) string {
	all := slices.Collect(sentences(said))
	last := len(all) - 1
	for last > 0 && helpingWords.begins(all[last]) {
		last--
	}
	if last <= 0 {
		return shortened(said, maxQuestion)
	}
	first, end := all[0], endOfList(all[last])
	if utf8.RuneCountInString(first)+utf8.RuneCountInString(end) > maxAnswer {
		return shortened(said, maxQuestion)
	}
	if last > 1 {
		first += leftOutHere
	}
	told := first + " " + end
	if last < len(all)-1 {
		told = marked(told)
	}
	return told
}

// endOfList is a sentence that holds a list with its last entry alone, and with what the list stands under: that may
// say that none of it was done.
func endOfList(sentence string) string {
	head, list, ok := strings.Cut(sentence, ": ")
	at := strings.LastIndex(list, "; ")
	if !ok || at < 0 || strings.Contains(head, "; ") {
		return sentence
	}
	return head + ":" + leftOutHere + " " + list[at+len("; "):]
}

// helpingWords are how sentences begin that offer help with whatever it may be.
var helpingWords = newVocabulary("helping")

// minAnswer is how long the first sentence of an answer is, in characters, that says something by itself.
const minAnswer = 24

// maxBrief is how long a question is that is told in short, in characters.
const maxBrief = 100

const (
	choiceMark = "That was: "
	listedMark = "The agent had listed: "
)

const (
	maxChoice  = 20   // of an answer that is a choice alone, in bytes
	maxAnswer  = 200  // of one that speaks of a list, in bytes
	maxBare    = 40   // of one that says nothing by itself, in bytes
	maxPoints  = 2000 // of one that goes point by point, in bytes
	maxOptions = 5    // entries that are all told
	maxOption  = 200  // of one, in characters
	maxListed  = 800  // of all that an answer goes through point by point, where no entry is told in less than half
)

// Words that name entries of a list: some alone, ordinals beside words that say of what.
var (
	choices   = set.Of("former", "latter", "both", "option", "options", "either")
	ordinals  = set.Of("first", "second", "third", "fourth", "fifth", "last")
	ofEntries = set.Of("one", "ones", "option", "approach", "way", "variant", "item", "point", "choice", "suggestion")
	// behindOrdinal follow an ordinal that stands for an entry, and not for what is called next: "the last commit".
	behindOrdinal = set.Of("and", "is", "but", "please", "then", "sounds", "seems", "looks", "would", "or", "with", "for",
		"instead", "makes", "it", "i", "let", "as", "of", "works", "should", "because", "if", "to", "since", "in", "on")
)

// namesEntries reports whether an answer speaks of entries of a list: by so many of their
// numbers, or by words.
func namesEntries(answer string, numbers int) bool {
	before := ""
	words := strings.FieldsFunc(lower.Text(answer), func(r rune) bool { return unicode.IsSpace(r) || r == '/' })
	for i, word := range words {
		w := strings.TrimFunc(word, noLetter)
		next, ends := "", strings.TrimRightFunc(word, noLetter) != word
		if i+1 < len(words) && !ends {
			next = strings.TrimFunc(words[i+1], noLetter)
		}
		of := ofEntries[before] || ofEntries[next] || before == "the" && (ends || i+1 == len(words) || behindOrdinal[next])
		if choices[w] || ordinals[w] && of {
			return true
		}
		before = w
	}
	return numbers > 0
}

func noLetter(r rune) bool {
	return r < 'a' || r > 'z'
}

// numbersIn are the numbers in a text that stand for themselves, as they are written: "1", "#2", "1+2", and not those
// of "0.5.22", "2/3" or "v2"; and capital letters that do: "B".
func numbersIn(text string) (list []string) {
	for word := range strings.FieldsSeq(text) {
		word = strings.Trim(word, "#.,:;!?()\"'")
		if isLetter(word) {
			list = append(list, word)
		} else if strings.Trim(word, "0123456789+,&") == "" {
			list = append(list, strings.FieldsFunc(word, func(r rune) bool { return r < '0' || r > '9' })...)
		}
	}
	return list
}

// option is an entry of a numbered list.
type option struct{ number, text string }

// numbered are the entries of the last numbered list of a text, each with what stands
// below it. Rows of a table that begin with a number are entries too.
func numbered(text string) (list []option) {
	lines, _ := sayings(text)
	end := -1 // the place of the last line of the entry; -1 behind it
	for _, l := range lines {
		number, rest := entryNumber(l.text)
		bare, item := listItem(l.text)
		switch {
		case number != "":
			if number == "1" || number == "A" || len(list) > 0 && list[len(list)-1].number == number {
				list = nil
			}
			list, end = append(list, option{number, shortened(plain(rest), maxOption)}), l.place
		case item && end >= 0 && !isHeading(l.text):
			last := &list[len(list)-1]
			last.text = shortened(joined(last.text, plain(bare), l.place > end+1, item), maxOption)
			end = l.place
		default:
			end = -1
		}
	}
	return list
}

// entryNumber reads the number that a line begins with, as an entry of a list or a row of
// a table: "2. Move", "**2)** Move", "| 2 | Move |"; or a capital letter: "B. Move", "Option B: Move".
// All of the line is what it says.
func entryNumber(line string) (number, rest string) {
	bare := strings.TrimLeft(line, "*#|[( ")
	n := clip.Digits(bare)
	if n == 0 && line[0] != '|' {
		return entryLetter(bare)
	}
	if n == 0 || n > 3 {
		return "", ""
	}
	after := bare[n:]
	if line[0] == '|' {
		if strings.HasPrefix(strings.TrimSpace(after), "|") {
			return bare[:n], strings.Trim(strings.ReplaceAll(bare, " | ", ", "), "| ")
		}
		return "", ""
	}
	if after == "" || strings.IndexByte(".):", after[0]) < 0 || len(after) > 1 && after[1] != ' ' && after[1] != '*' {
		return "", ""
	}
	return bare[:n], bare
}

// entryLetter reads the letter that a line begins with.
func entryLetter(bare string) (letter, rest string) {
	option := strings.TrimPrefix(bare, "Option ")
	if len(option) < 3 || !isLetter(option[:1]) || strings.IndexByte(".):", option[1]) < 0 ||
		option[2] != ' ' && option[2] != '*' {
		return "", ""
	}
	return option[:1], bare
}

// isLetter reports whether a word is a letter that entries of a list have.
func isLetter(word string) bool { return len(word) == 1 && word[0] >= 'A' && word[0] <= 'H' }
