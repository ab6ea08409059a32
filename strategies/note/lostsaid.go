package note

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/clip"
	"github.com/kagewasm/kagewasm/internal/lower"
)

// A person's words weigh by how particular they are. Lists of words know that in some languages; in all of them what is
// told by the way is told in words that come again and again, and an order has words of its own.

// statement is a sentence of a person, and whether nearly all that the message says.
type statement struct {
	Loss
	own   bool
	worth int
}

// statements are what else persons said: each sentence that says something, and is neither a question nor the answer
// to one alone. No list of words knows all that binds. Of the same words said again the last count. The most particular
// come first.
func (l *losses) statements(person map[string]bool, rules map[string][]string) {
	var list []statement
	for i := range l.gone {
		if m := &l.gone[i]; person[m.ID] && len(m.Words()) <= maxPasted {
			list = append(list, statementsOf(m, rules[m.ID])...)
		}
	}
	weigh(list)
	for i := range list {
		l.said[list[i].Message] = true
	}
	list = lastOf(list, func(s statement) string { return s.Text })
	slices.SortStableFunc(list, func(a, b statement) int { return b.worth - a.worth })
	for i := range list {
		l.list = append(l.list, list[i].Loss)
	}
}

// statementsOf are those of a message that are no rules.
func statementsOf(m *abi.Message, rules []string) (list []statement) {
	words, typedOnes := m.Words(), 0
	alone := !strings.Contains(strings.TrimSpace(words), "\n") // one line is nothing that was printed
	for line, printed := range typed(words) {
		bare, _ := listItem(line)
		if printed && !alone || isHeading(line) {
			continue
		}
		for s := range sentences(plain(bare)) {
			typedOnes++
			told := slices.ContainsFunc(rules, func(r string) bool { return strings.Contains(r, s) })
			if !told && (isStatement(s) || alone && isWord(s)) {
				list = append(list, statement{Loss: Loss{LostStatement, m.ID, clip.CutChars(s, maxEntry, "...")}})
			}
		}
	}
	for i := range list {
		list[i].own = typedOnes <= fewOwn
	}
	return list
}

// fewOwn is how many sentences a message has that was written to say them.
const fewOwn = 2

// isWord reports whether a sentence of one word says something by itself: "Tabs." It says yes or no to nothing, and
// does not only bid the agent go on.
func isWord(s string) bool {
	bare := strings.TrimFunc(lower.Text(s), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsNumber(r) })
	return utf8.RuneCountInString(bare) > 1 && !strings.HasSuffix(s, ":") && !onlyPolite(s) && !isQuestion(s) &&
		replyingWords.longest(bare) < len(bare) && bare != "continue" && bare != "next" && bare != "done"
}

// weigh says how particular sentences are: those with words of their own before those in words that come again and
// again, with that what is a message of its own, and what says something by a word, a number or a name.
func weigh(list []statement) {
	u, counted := usageOf(nil), make(map[string]bool)
	u.count()
	for _, s := range list {
		if !counted[s.Text] {
			counted[s.Text] = true
			u.add(s.Text)
		}
	}
	for i := range list {
		s := &list[i]
		if few, _ := u.novelty(s.Text); few >= ownWords {
			s.worth += 2
		}
		if s.own {
			s.worth++
		}
		if particular(s.Text) > 0 {
			s.worth++
		}
	}
}

// ownWords is the novelty from which on a sentence has words of its own.
const ownWords = 0.8
