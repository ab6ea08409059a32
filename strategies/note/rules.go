package note

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/clip"
	"github.com/kagewasm/kagewasm/internal/excerpt"
	"github.com/kagewasm/kagewasm/internal/lazy"
	"github.com/kagewasm/kagewasm/internal/lists"
	"github.com/kagewasm/kagewasm/internal/lower"
	"github.com/kagewasm/kagewasm/internal/set"
	"github.com/kagewasm/kagewasm/internal/wordlist"
)

// rule is a sentence or an entry of a list by which a person bound what follows,
// and the number of the turn it was said in.
type rule struct {
	n     int
	text  string
	binds bool   // surely
	heads bool   // the rules behind it stand under it
	under string // the heading of an entry of a list
	// left is how many of a message an earlier note had no room for; then there is no text.
	left  int
	shown bool // the thread tells it
	// kept is set where an earlier note had it in its list, behind where the message has it behind those.
	kept, behind bool
}

// bindingWords are how rules, decisions, owners and what takes them back are worded,
// in lower case; maybeWords are those of which many are none.
var (
	bindingWords = newVocabulary("binding")
	maybeWords   = newVocabulary("maybe")
	// withdrawWords take back what was said before, requestWords make a question a wish.
	withdrawWords = newVocabulary("withdrawing")
	requestWords  = newVocabulary("requesting")
	// correctingWords begin a sentence that corrects what was done or said, correctWords stand in one.
	correctingWords, correctWords = newVocabulary("correcting"), newVocabulary("correct")
)

// maxPasted is the length of a message, in bytes, over which its lists are taken for
// something pasted rather than asked for.
const maxPasted = 16 << 10

// maxEntry is how long a rule or an entry of a list may be, in characters.
const maxEntry = 300

// binding reports whether the words of a person bind what follows.
func (m *Memory) binding(words string) bool {
	return slices.ContainsFunc(m.bindings.of(words, bindings), func(r rule) bool { return r.binds })
}

// bindings are the sentences and the entries of lists with which a person says what
// must be, what was decided, who does what, and what no longer holds, word for word.
func bindings(words string) (list []rule) {
	add := func(s string, binds bool) {
		if n := utf8.RuneCountInString(s); n >= 4 && n <= 2*maxEntry {
			list = append(list, rule{text: s, binds: binds})
		}
	}
	above := aboveEntries(words)
	heading := "" // of the entries before
	for line, printed := range typed(words) {
		_, item := listItem(line)
		entry := entryOf(line)
		if item && len(words) <= maxPasted || isBox(line) {
			if next := above[line]; next != "" && next != heading {
				list = append(slices.DeleteFunc(list, func(r rule) bool { return r.text == next }),
					rule{text: next, binds: true, heads: true})
			}
			heading = above[line]
			add(entry, true)
			if last := len(list) - 1; last >= 0 && list[last].text == entry {
				list[last].under = heading
			}
			continue
		}
		if printed {
			continue
		}
		for s := range sentences(line) {
			if binds(s) {
				add(s, true)
			} else if maybeWords.says(spoken(s)+" ") && (!isQuestion(s) || asksFor(s)) {
				add(s, false)
			}
		}
	}
	return list
}

// binds reports whether a sentence says what must be, what was decided, who does what, or what no longer holds.
func binds(s string) bool {
	said := spoken(s) + " "
	return (bindingWords.says(said) || gives(s) || withdraws(said)) && (!isQuestion(s) || asksFor(s))
}

// spoken is a sentence without the names in it whose parts may be words: of branches, files, symbols and code. A branch
// "soph/never-squash" forbids nothing.
func spoken(s string) string {
	if strings.ContainsAny(s, "/_`") {
		s = namesInWords().ReplaceAllString(s, "x")
	}
	if strings.IndexByte(s, '-') >= 0 && branchWords.In(lower.Text(s)) {
		s = branchNamed().ReplaceAllString(s, "$1 x")
	}
	return s
}

var (
	// namesInWords are code, what holds a low line, and what holds a slash and is no "and/or".
	namesInWords = lazy.Regexp("`[^`]*`|\\S*\\w_\\w\\S*|\\S*/\\S*[-./0-9]\\S*|\\S*[-.0-9]\\S*/\\S*")
	// branchNamed is the name of a branch in parts, behind one of these words.
	branchWords = wordlist.Of("branch", "worktree")
	branchNamed = lazy.Regexp(`(?i)\b((?:branch|worktree)(?: is| named| called)?) \w+(?:-\w+)+`)
)

// aboveEntries are the headings of the lists of a text, as rules have them, by the entries: without it an entry of
// what must not be done reads as a wish.
func aboveEntries(words string) map[string]string {
	lines, _ := sayings(words)
	above := make(map[string]string)
	for _, l := range lines {
		list := headings(lines, l)
		if _, item := listItem(l.text); len(list) == 0 || !item && !isBox(l.text) {
			continue
		}
		last := list[len(list)-1].text
		if _, item := listItem(last); !item && !isGeneral(last) && !wishes.has(bareHeading(last)) {
			above[l.text] = strings.TrimRight(strings.ReplaceAll(asHeading(last), "**", ""), ":") + ":"
		}
	}
	return above
}

// asksFor reports whether a question is a wish: "can you keep v1?"
func asksFor(s string) bool { return requestWords.says(s+" ") || withdraws(s) }

// withdraws reports whether a sentence takes back what was said before it, by a word that stands for that: "forget it",
// and not "don't forget it".
func withdraws(s string) bool {
	return withdrawWords.in(withoutNegated(lower.Text(s)) + " ")
}

// negated is a word that takes back, and does not.
var negated = lazy.Regexp(`(never|not|n't|n’t|nicht) (forget|undo|revert|cancel|ignore|scratch|roll|take|back)`)

// withoutNegated is a text without such words. Few have any.
func withoutNegated(s string) string {
	if !strings.Contains(s, "t ") && !strings.Contains(s, "never ") {
		return s
	}
	return negated().ReplaceAllString(s, "")
}

// corrects reports whether the words of a person say of what was done or said that it is not so: "no, put it in the
// other container".
func corrects(words string) bool {
	for line := range unfenced(words) {
		for s := range sentences(line) {
			return correctingWords.begins(strings.TrimLeft(s, "\"'(*_ ")) || correctWords.says(s+" ")
		}
	}
	return false
}

// idles reports whether words are small talk, after which nothing was done.
func (t *turn) idles() bool {
	words := t.words
	return words != "" && len(words) <= maxIdle && !strings.Contains(words, "\n") && len(t.came) == 0 && t.again == 0 &&
		smallTalk(words)
}

// maxIdle is how long small talk is, in bytes.
const maxIdle = 60

// takesBack reports whether the words of a person begin by taking back what was said before them.
func takesBack(words string) bool {
	n := 0
	for line := range unfenced(words) {
		for s := range sentences(line) {
			if withdraws(s) {
				return true
			}
			if n++; n == withdrawnIn {
				return false
			}
		}
	}
	return false
}

// withdrawnIn is in how many sentences at the beginning something is taken back that was said before.
const withdrawnIn = 2

// maybe reports whether a rule that an earlier note kept may be none: it is worded as
// many are that bind nothing.
func maybe(text string) bool {
	return maybeWords.says(spoken(text)+" ") && !binds(text)
}

// gives reports whether a sentence gives something to somebody to do: "and Dagny will
// rename the table".
func gives(s string) bool {
	before, _, ok := strings.Cut(s, " will ")
	if !ok {
		return false
	}
	who := before[strings.LastIndexByte(before, ' ')+1:]
	r, _ := utf8.DecodeRuneInString(who)
	return unicode.IsUpper(r) && !pronouns[who]
}

// pronouns begin sentences of which nobody is named as who does it.
var pronouns = set.Of("I", "We", "You", "It", "They", "He", "She", "This", "That", "There", "These", "Those", "Which",
	"Who",
	"What")

// lost are the rules of the turns whose words are not shown whole, in order, but for those that are shown and hold,
// with those that earlier notes kept.
func (n *Note) lost(v *view) []rule {
	list := slices.Clone(n.rules)
	for i := range v.turns {
		t := &v.turns[i]
		if v.whole(i) || t.words == "" || t.again > 0 {
			continue
		}
		list = append(list, rulesOf(t, n.rules, v.words(i), v.memory, n.focus)...)
	}
	lists.SortStable(list, inOrder)
	list = withRules(list)
	for i := range list {
		r := &list[i]
		if by := v.withdrawn(r.n); by > 0 && r.left == 0 && !strings.Contains(r.text, takenBack) {
			r.text, r.binds = fmt.Sprintf("%s%s%d])", r.text, takenBack, by), false
		}
	}
	v.seeDropped(list)
	told := func(r rule) bool {
		return r.shown && !strings.Contains(r.text, takenBack) && !strings.Contains(r.text, seeMark)
	}
	return withRules(unique(slices.DeleteFunc(list, told)))
}

// rulesOf are the rules of a turn, and whether what is shown of its words tells them. Of words that an earlier note
// told in part those behind the mark of what was left out are behind that note's list.
func rulesOf(t *turn, kept []rule, shown string, memory *Memory, focus *Focus) (list []rule) {
	before, _, cut := strings.Cut(t.words, excerpt.LeftOut)
	for _, r := range memory.bindings.of(t.words, bindings) {
		if r.heads || !strings.Contains(r.text, excerpt.LeftOut) {
			r.n, r.binds = t.n, r.binds || focus.bears(r.text)
			r.shown = !r.heads && strings.Contains(shown, r.text)
			if r.behind = cut && !strings.Contains(before, r.text); !cut || !keepsWhole(kept, r) {
				list = append(list, r)
			}
		}
	}
	return list
}

// keepsWhole reports whether an earlier note kept all of a rule of which its thread had a part.
func keepsWhole(list []rule, part rule) bool {
	return !part.heads && slices.ContainsFunc(list,
		func(r rule) bool { return r.n == part.n && strings.Contains(r.text, part.text) })
}

// inOrder orders rules by their message, and those of one as it has them.
func inOrder(x, y rule) int {
	place := func(r rule) int {
		switch {
		case r.behind:
			return 2
		case r.kept:
			return 1
		}
		return 0
	}
	return cmp.Or(x.n-y.n, place(x)-place(y))
}

// withRules are rules without the headings that none stands under, and those that stand above already.
func withRules(list []rule) (kept []rule) {
	under := rule{}
	for i, r := range list {
		alone := i+1 == len(list) || list[i+1].heads && list[i+1].text != r.text || list[i+1].n != r.n
		if r.heads && (alone || under.n == r.n && under.text == r.text) {
			continue
		}
		if kept = append(kept, r); r.heads {
			under = r
		}
	}
	return kept
}

// withdrawn is the number of the message that takes back what a person said in turn n; 0 where none does.
func (v *view) withdrawn(n int) int {
	for i := range v.turns {
		if t := &v.turns[i]; t.n == n+1 && takesBack(cmp.Or(t.words, t.opens)) {
			return t.n
		}
	}
	return 0
}

// leftOutOf are the rules of a message that stays, in turn n, which are left out of it.
func leftOutOf(m *abi.Message, pruned []abi.Message, n int) (list []rule) {
	i := slices.IndexFunc(pruned, func(p abi.Message) bool { return p.ID == m.ID })
	if i < 0 {
		return nil
	}
	for _, r := range bindings(pruned[i].Words()) {
		if r.heads || !strings.Contains(m.Text(), r.text) {
			r.n = n
			list = append(list, r)
		}
	}
	return withRules(list)
}

// unique are rules without those that were said before in the same words. The last
// one counts: order tells what holds.
func unique(list []rule) []rule {
	last := make(map[string]int, len(list))
	for i, r := range list {
		last[r.text] = i
	}
	var out []rule
	for i, r := range list {
		if last[r.text] == i || r.left > 0 || r.heads {
			out = append(out, r)
		}
	}
	return out
}

// oneLine is the text with its words on one line, cut to so many runes.
func oneLine(text string, runes int) string {
	return clip.Words(clip.OneLine(clip.Head(text, 8*8*runes)), runes)
}

// rules are those that fit: those that surely bind, and then the others, the newest messages first, and what is left of
// the tokens. Of a message the first stand there, as a list is read from its beginning, and how many are left out.
func (p *parts) rules(list []rule, budget int) (kept []rule, left int) {
	keep, full := make([]bool, len(list)), make(map[int]bool)
	budget -= p.count(headRules)
	for _, binds := range []bool{true, false} {
		for end := len(list); end > 0; {
			from := end - 1
			for from > 0 && list[from-1].n == list[end-1].n {
				from--
			}
			for i := from; i < end; i++ {
				r := &list[i]
				if r.left > 0 || r.binds != binds || full[r.n] || keep[i] {
					continue
				}
				if n := p.count("- "+r.String()) + 1; n <= budget {
					keep[i] = true
					budget -= n
				} else if !full[r.n] {
					full[r.n] = true
					budget -= p.count("- "+rule{n: r.n, left: end - i}.String()) + 1
				}
			}
			end = from
		}
	}
	told, left := false, 0
	for i, r := range list {
		switch {
		case r.heads && (i+1 == len(list) || !keep[i+1] || list[i+1].heads || list[i+1].n != r.n):
		case keep[i]:
			kept, told = append(kept, r), true
		default:
			left += max(1, r.left)
		}
		if i+1 == len(list) || list[i+1].n != r.n {
			if told && left > 0 {
				kept = append(kept, rule{n: r.n, left: left})
			}
			told, left = false, 0
		}
	}
	return kept, budget
}

// ruleLines are the lines on rules.
func ruleLines(list []rule) []string {
	if len(list) == 0 {
		return nil
	}
	return append([]string{headRules}, lists.Map(list, func(r rule) string { return "- " + r.String() })...)
}

// moreRules ends the line that counts the rules of a message that there is no room for.
const moreRules = " more of it are left out here"

// String is the rule as it is written, with the number of its turn.
func (r rule) String() string {
	if r.left > 0 {
		return fmt.Sprintf("[%d] %d%s", r.n, r.left, moreRules)
	}
	return fmt.Sprintf("[%d] %s", r.n, r.text)
}

// readRule reads a line back.
func readRule(entry string) (r rule, ok bool) {
	number, text, ok := strings.Cut(strings.TrimPrefix(entry, "["), "] ")
	n, err := strconv.Atoi(number)
	if !ok || err != nil {
		return rule{}, false
	}
	if count, ok := strings.CutSuffix(text, moreRules); ok {
		if left, err := strconv.Atoi(count); err == nil {
			return rule{n: n, left: left, kept: true}, true
		}
	}
	return rule{n: n, text: text, binds: !maybe(text), heads: strings.HasSuffix(text, ":"), kept: true}, true
}
