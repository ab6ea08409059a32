package note

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/clip"
	"github.com/kagewasm/kagewasm/internal/excerpt"
	"github.com/kagewasm/kagewasm/internal/set"
)

// rule is a sentence or an entry of a list by which a person bound what follows,
// and the number of the turn it was said in.
type rule struct {
	n     int
	text  string
	binds bool // surely
}

// bindingWords are how rules, decisions, owners and what takes them back are worded,
// in lower case; maybeWords are those of which many are none.
var (
	bindingWords = newVocabulary("binding")
	maybeWords   = newVocabulary("maybe")
)

// maxPasted is the length of a message, in bytes, over which its lists are taken for
// something pasted rather than asked for.
const maxPasted = 16 << 10

// maxEntry is how long a rule or an entry of a list may be, in characters.
const maxEntry = 300

// binding reports whether the words of a person bind what follows.
func binding(words string) bool {
	return slices.ContainsFunc(bindings(words), func(r rule) bool { return r.binds })
}

// bindings are the sentences and the entries of lists with which a person says what
// must be, what was decided, who does what, and what no longer holds, word for word.
func bindings(words string) (list []rule) {
	add := func(s string, binds bool) {
		if n := utf8.RuneCountInString(s); n >= 4 && n <= 2*maxEntry {
			list = append(list, rule{text: s, binds: binds})
		}
	}
	for line := range unfenced(words) {
		entry, item := listItem(line)
		if item && len(words) <= maxPasted || isBox(line) {
			add(entry, true)
			continue
		}
		if pasted(line) {
			continue
		}
		for s := range sentences(line) {
			if bindingWords.says(s+" ") || gives(s) {
				add(s, true)
			} else if maybeWords.says(s + " ") {
				add(s, false)
			}
		}
	}
	return list
}

// maybe reports whether a rule that an earlier note kept may be none: it is worded as
// many are that bind nothing.
func maybe(text string) bool {
	return maybeWords.says(text+" ") && !bindingWords.says(text+" ") && !gives(text)
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

// lost are the rules of the turns whose words are not shown whole, in order,
// with those that earlier notes kept.
func (n *Note) lost(v *view) []rule {
	list := slices.Clone(n.rules)
	for i := range v.turns {
		t := &v.turns[i]
		if v.whole(i) || t.words == "" || t.again > 0 {
			continue
		}
		shown := v.words(i)
		for _, r := range bindings(t.words) {
			if !strings.Contains(shown, r.text) && !strings.Contains(r.text, excerpt.LeftOut) {
				r.n, r.binds = t.n, r.binds || n.focus.bears(r.text)
				list = append(list, r)
			}
		}
	}
	slices.SortStableFunc(list, func(x, y rule) int { return x.n - y.n })
	return unique(list)
}

// leftOutOf are the rules of a message that stays, in turn n, which are left out of it.
func leftOutOf(m *abi.Message, pruned []abi.Message, n int) (list []rule) {
	i := slices.IndexFunc(pruned, func(p abi.Message) bool { return p.ID == m.ID })
	if i < 0 {
		return nil
	}
	for _, r := range bindings(pruned[i].Words()) {
		if !strings.Contains(m.Text(), r.text) {
			r.n = n
			list = append(list, r)
		}
	}
	return list
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
		if last[r.text] == i {
			out = append(out, r)
		}
	}
	return out
}

// oneLine is the text with its words on one line, cut to so many runes.
func oneLine(text string, runes int) string {
	return clip.Words(clip.OneLine(clip.Head(text, 8*8*runes)), runes)
}

// rules are the lines on the rules that fit: those that surely bind, and then the others,
// the newest first.
func (p *parts) rules(list []rule, budget int) []string {
	keep := make([]bool, len(list))
	budget -= p.count(headRules)
	for _, binds := range []bool{true, false} {
		for i := len(list) - 1; i >= 0; i-- {
			if n := p.count("- "+list[i].String()) + 1; list[i].binds == binds && n <= budget {
				keep[i] = true
				budget -= n
			}
		}
	}
	lines := []string{headRules}
	for i, r := range list {
		if keep[i] {
			lines = append(lines, "- "+r.String())
		}
	}
	if len(lines) == 1 {
		return nil
	}
	return lines
}
