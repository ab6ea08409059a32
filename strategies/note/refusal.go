package note

import (
	"slices"
	"strings"

	"github.com/kagewasm/kagewasm/internal/clip"
)

// What an agent refused, and why, binds what follows as much as what it did: who goes on must not offer it again, and
// what a person answers to it ("that's all right") is taken for consent without it. So of the closing words of a turn
// the sentence that refuses stays.

// refusingWords are how agents word what they may not do, cannot do, or will not do.
var refusingWords = newVocabulary("refusing")

// refuses reports whether a sentence of an agent refuses something.
func refuses(s string) bool {
	return refusingWords.says(s+" ") && !isQuestion(s) && !strings.HasPrefix(s, "If ") && !strings.HasSuffix(s, ":")
}

// refused is a sentence of an agent that refuses something, and what it stands under.
type refused struct{ said, under string }

// refusal is the first sentence of a text that refuses something, empty where none does. Entries of lists speak of
// other things for the most part.
func refusal(text string) refused {
	if !refusingWords.says(text + " ") {
		return refused{}
	}
	lines, _ := sayings(text)
	for _, l := range lines {
		if isHeading(l.text) || isCode(l.text) || isEntry(l.text) {
			continue
		}
		bare := plain(l.text)
		for s := range sentences(bare) {
			if refuses(s) {
				return refused{s, headingOf(lines, l, strings.HasPrefix(bare, s))}
			}
		}
	}
	return refused{}
}

// withRefusal are the closing words of an agent as they are told with what it refuses in them, in its place.
func (m *Memory) withRefusal(said, text string) string {
	r := m.refusals.of(text, refusal)
	refused, under := r.said, r.under
	if refused == "" || strings.Contains(said, refused) {
		return said
	}
	const gap = leftOutHere + " "
	flat := clip.OneLine(plain(text))
	place := strings.Index(flat, clip.First(refused, maxBefore))
	said, cut := strings.CutSuffix(said, leftOutHere)
	said, further := strings.CutPrefix(said, strings.TrimSpace(leftOutHere)+" ")
	var before, after []string
	for _, part := range strings.Split(said, gap) {
		if i := strings.Index(part, clip.First(refused, maxBefore)); i >= 0 { // it was cut there
			part = strings.TrimSpace(part[:i])
		}
		switch at := strings.Index(flat, clip.First(part, maxBefore)); {
		case part == "":
		case at > place && place >= 0:
			after = append(after, part)
		default:
			before = append(before, part)
		}
	}
	if n := len(before); n > 0 && under != "" && strings.HasSuffix(before[n-1], strings.TrimSuffix(under, leftOutHere)) {
		under = ""
	}
	told := strings.TrimSpace(under + " " + shortened(refused, maxSaid))
	said = strings.Join(slices.Concat(before, []string{told}, after), gap)
	if further && (len(before) > 0 || place > 0) {
		said = strings.TrimSpace(leftOutHere) + " " + said
	}
	if cut {
		said = marked(said)
	}
	return said
}

// refused adds what the agent refused, the newest first: in short where there is no room for all of its words. It
// returns what that costs.
func (v *view) refused(budget int) int {
	left := budget
	for i := len(v.turns) - 1; i >= 0; i-- {
		said := v.turns[i].said
		refused := v.memory.refusals.of(said, refusal).said
		if i := strings.LastIndex(refused, moreEntries); i >= 0 {
			refused = strings.TrimSpace(refused[i+len(moreEntries):])
		}
		if refused == "" || v.folded(i) || strings.Contains(v.said[i], refused) {
			continue
		}
		before := 0
		if v.said[i] != "" { // in short
			before = v.count(agentMark+v.said[i]) + 2
		}
		for _, form := range []string{said, pieceOf(said, refused)} {
			if n := v.count(agentMark+form) + 2 - before; n <= left && (n <= left/2 || form != said) {
				v.said[i], left = form, left-n
				break
			}
		}
	}
	return budget - left
}

// pieceOf is a piece of what was said, with marks where something stands before it and behind it.
func pieceOf(said, piece string) string {
	before, after, _ := strings.Cut(said, piece)
	if strings.TrimSpace(before) != "" {
		piece = strings.TrimSpace(leftOutHere) + " " + piece
	}
	if strings.TrimSpace(after) != "" {
		piece += leftOutHere
	}
	return piece
}

// replyingWords are how people begin an answer to what somebody asked.
var replyingWords = newVocabulary("replying")

// acceptingWords are how people begin to take up what somebody said, orderingWords how they tell somebody to do what he
// proposed.
var (
	acceptingWords = newVocabulary("accepting")
	orderingWords  = newVocabulary("ordering")
)

// accepts reports whether words take up what somebody said, and say something by themselves: "great, book it", "let's
// go with the second one". Thanks do not.
func accepts(words string) bool {
	if len(words) > maxAccepted || smallTalk(words) {
		return false
	}
	for s := range sentences(strings.TrimSpace(words)) {
		if acceptingWords.begins(s) || replies(s) {
			return true
		}
		break
	}
	return orders(words)
}

// orders reports whether words tell somebody to do what he proposed, beside what else they say: "Is all of it
// committed? If so, do it."
func orders(words string) bool {
	if len(words) > maxAccepted {
		return false
	}
	for s := range sentences(strings.TrimSpace(words)) {
		for clause := range strings.SplitSeq(s, ",") {
			if orderingWords.begins(strings.TrimSpace(clause)) && !isQuestion(s) {
				return true
			}
		}
	}
	return false
}

// maxAccepted is how long words are, in bytes, that take up what somebody said.
const maxAccepted = 400

// replies reports whether words begin with a short answer to what somebody asked, and go on: "That's all right. I ...",
// "Yes, with ..."
func replies(words string) bool {
	for s := range sentences(strings.TrimSpace(words)) {
		first, _, _ := strings.Cut(s, ",")
		return len(first) <= maxBare && !isQuestion(s) && replyingWords.begins(first)
	}
	return false
}
