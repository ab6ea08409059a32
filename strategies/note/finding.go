package note

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/kagewasm/kagewasm/internal/clip"
	"github.com/kagewasm/kagewasm/internal/lazy"
	"github.com/kagewasm/kagewasm/internal/lists"
	"github.com/kagewasm/kagewasm/internal/lower"
)

// What an agent says on the way is mostly what it is about to do. Three kinds of sentences say what no call shows, and
// who goes on needs them: what it found, what it decided and why, and what it tried that came to nothing. Many say so
// in words that no list has: these give a reason, or say that something went wrong, and have room beside the budget.

// finding is such a sentence, what that stands under, and what it weighs.
type finding struct {
	under, text string
	weight      weight
}

// weight says what a sentence tells.
type weight int

const (
	found    weight = iota // what was found, in so many words
	reasoned               // a reason, or that something went wrong
	decided                // in so many words what was decided, or came to nothing
)

// weighs reports whether it says more than what was found.
func (f finding) weighs() bool { return f.weight > found }

// String is the sentence as it is told.
func (f finding) String() string { return f.behind("") }

// behind is the sentence as it is told with what stands before it, which ends with a blank.
func (f finding) behind(before string) string {
	said := before + shortened(f.text, maxSaid)
	if f.under != "" {
		return f.under + " " + said
	}
	return said
}

// findings are the sentences of a text in which an agent says what it found, decided, or tried in vain.
func findings(text string) []finding {
	return sentencesThat(text, isFinding)
}

// isFinding reports whether a sentence says what an agent found, decided, or tried in vain.
func isFinding(s string) bool {
	n := utf8.RuneCountInString(s)
	return n >= minWeighty && mayFind(s) &&
		(n >= minFinding && (saysFinding(s) || reasons(s) || wentWrong(s) || contradicts(s)) || isWeighty(s+" "))
}

// sentencesThat are the sentences of a text, no questions, of which something is true, each with the one before or
// behind it where one says little without the other.
func sentencesThat(text string, is func(string) bool) (list []finding) {
	lines, _ := sayings(text)
	for _, l := range lines {
		if isHeading(l.text) || l.text[0] == '|' {
			continue
		}
		bare, _ := listItem(l.text)
		line := plain(bare)
		said := slices.Collect(sentences(line))
		end := 0 // of the sentence in the line
		for i, s := range said {
			begin := end + strings.Index(line[end:], s)
			behind := end == begin-1 // one blank behind the sentence before it
			end = begin + len(s)
			if strings.HasSuffix(s, "?") || !is(s) || isTold(list, i, s) {
				continue
			}
			text, begins, weight := s, begin == 0, weightOf(s)
			if i > 0 && weight > found && behind && pronoun().MatchString(s) {
				text, begins = shortened(said[i-1], maxSaid)+" "+s, i == 1
			}
			if i+1 < len(said) && strings.HasPrefix(line[end:], " "+said[i+1]) &&
				(explaining().MatchString(said[i+1]) || weight > found && (!saysSomething(s) || helping().MatchString(said[i+1]))) {
				text += " " + said[i+1]
			}
			f := finding{headingOf(lines, l, begins), text, weight}
			if k := len(list) - 1; k >= 0 && strings.HasPrefix(text, list[k].text) {
				list[k] = f // the one before it is told in it
				continue
			}
			list = append(list, f)
		}
	}
	return list
}

// isTold reports whether the last of a list tells a sentence too that stands behind its own in a line.
func isTold(list []finding, i int, s string) bool {
	return i > 0 && len(list) > 0 && strings.HasSuffix(list[len(list)-1].text, " "+s)
}

// mayFind reports whether a sentence has words by which it may be a finding: most have none, and need no closer look.
func mayFind(s string) bool {
	low := lower.Text(s + " ")
	return maybeFinding.in(low) || strings.Contains(low, "tried ") || strings.Contains(low, "attempted ") ||
		strings.IndexByte(low, ';') >= 0 || strings.IndexByte(low, ':') >= 0
}

// saysSomething reports whether a sentence is long enough to say what was found.
func saysSomething(s string) bool { return utf8.RuneCountInString(strings.TrimSpace(s)) >= minFinding }

// saysFinding reports whether a sentence says what an agent found, decided, or did that came to nothing.
func saysFinding(s string) bool {
	return findingWords.says(s+" ") || decides(s+" ") || tried().MatchString(s)
}

// isWeighty reports whether a text says in so many words what an agent decided, or tried in vain.
func isWeighty(text string) bool { return decides(text) || tellsFailing(text) }

// weightOf is what a sentence weighs.
func weightOf(s string) weight {
	switch {
	case isWeighty(s + " "):
		return decided
	case saysFinding(s) || !reasons(s) && !wentWrong(s) && !contradicts(s):
		return found
	}
	return reasoned
}

// wentWrong reports whether a sentence says that something went wrong, whatever it is.
func wentWrong(s string) bool { return troubleWords.says(s+" ") && !intends().MatchString(s) }

// isReasoned reports whether a line tells nothing but reasons of the agent, and what went wrong.
func isReasoned(line string) bool {
	return isFound(line) && !slices.ContainsFunc(foundIn(line), func(s string) bool { return weightOf(s) != reasoned })
}

// tellsMore reports whether a line tells what the agent decided, tried in vain, or gave a reason for.
func tellsMore(line string) bool { return isFound(line) && (isWeighty(line) || isReasoned(line)) }

// foundIn are the sentences that a line tells.
func foundIn(line string) []string {
	_, list, _ := strings.Cut(line, ": ")
	return strings.Split(list, foundBreak)
}

// reasons reports whether a sentence says what is so for the sake of what, or against what. What it is about to look at
// says nothing of that.
func reasons(s string) bool {
	if strings.HasSuffix(s, ":") || intends().MatchString(s) && !wills().MatchString(s) && !lets(s) {
		return false
	}
	return reasoningWords.says(s+" ") || apart().MatchString(s)
}

// decides reports whether a text says what an agent decided, or prefers for a reason.
func decides(text string) bool {
	low := lower.Text(text)
	return decidingWords.in(low) || choosingWords.in(low) && (becauseWords.in(low) || prefers().MatchString(low))
}

// tellsFailing reports whether a text says that something the agent tried came to nothing. What it is about to look at
// says nothing of that yet.
func tellsFailing(s string) bool {
	return (failingWords.says(s) || tried().MatchString(s)) && !intends().MatchString(s)
}

// lets reports whether a sentence says what an agent does next, with the reason, and not what it looks at.
func lets(s string) bool { return does().MatchString(s) && becauseWords.says(s+" ") }

// findingWords are how agents word what they found out, and what they must not do or could not. decidingWords are how
// they word what they decided, failingWords that something came to nothing.
var (
	findingWords  = newVocabulary("finding")
	decidingWords = newVocabulary("deciding")
	failingWords  = newVocabulary("failing")
)

// choosingWords say that somebody prefers one thing to another, becauseWords why.
var choosingWords, becauseWords = newVocabulary("choosing"), newVocabulary("because")

// reasoningWords say what is so for the sake of what, or against what, troubleWords that something went wrong.
var reasoningWords, troubleWords = newVocabulary("reasoning"), newVocabulary("trouble")

// maybeFinding are all of them: most sentences have none.
var maybeFinding = newVocabulary("finding", "failing", "deciding", "choosing", "reasoning", "trouble",
	"contradicting", "claiming")

var (
	// apart are the marks between two halves of a sentence of which one gives the reason for the other.
	apart = lazy.Regexp(`\w[;:] \p{Ll}`)
	// wills is how a sentence begins that says what an agent will do: with a reason it is a decision.
	wills = lazy.Regexp(`^(I|We)(['’]ll| will) `)
	// prefers is how a sentence in lower case begins that prefers one thing to another: "Using SQLite over DuckDB".
	prefers = lazy.Regexp(`^(i am |i'm |i’m |we are |done[.:] )?(using|keeping|kept|preferring|sticking with|going for) `)
	// tried is how a sentence begins that says what an agent tried itself.
	tried = lazy.Regexp(`^((I|We)( have|['’]ve)? )?(also |first )?([Tt]ried|[Aa]ttempted) `)
	// intends is how a sentence begins that says what an agent is about to do.
	intends = lazy.Regexp(`^(Let me|Let's|Let’s|Now|Next|I'll|I’ll|I will|I need to|We need to|If|To|Check|Run|` +
		`Looking|Checking|Reading|Before I|I['’]m( now| also)? \w+ing) `)
	// does is how a sentence begins that says what an agent is about to change.
	does = lazy.Regexp(`^(Let me|Let's|Let’s) (add|use|keep|make|move|put|fix|change|update|remove|drop|rename|replace|rewrite|` +
		`skip|switch|simplify|split|extract|revert|set|store|write|create|delete|disable|enable|ignore|bump|pin) `)
	// explaining is how a sentence begins that says more of what the one before it found: "I found a bug. It uses both."
	explaining = lazy.Regexp(`^(It|It['’]s|They|They['’]re|These|Both|That['’]s|That is|This is)\b`)
	// helping is what a sentence says that tells what helped where something else had come to nothing.
	helping = lazy.Regexp(`\b(fixed|fixes|solved|solves|resolved|helped|worked|works|switched|instead|increased|[Rr]eplaced|[Rr]ewrote)\b`)
	// pronoun is how a sentence begins that says nothing without the one before it: "I tried a lock. It deadlocked."
	pronoun = lazy.Regexp(`^(It|It['’]s|They|That|This|These|Those|Both|But|However|So|Still)\b`)
)

const (
	// minFinding is how long a sentence is, in characters, that says something, minWeighty one that says
	// what was decided or came to nothing.
	minFinding = 40
	minWeighty = 16
)

// withFinding is a list with one more finding, last where it was met before. Of each weight it has the last ones: what
// was decided or came to nothing is not given up for what was only found.
func withFinding(list []finding, f finding) []finding {
	list = append(slices.DeleteFunc(list, func(o finding) bool { return o == f }), f)
	most := maxFound
	if f.weighs() {
		most = maxWeighty
	}
	alike := func(o finding) bool { return o.weight == f.weight }
	if len(lists.Filter(list, alike)) > most {
		i := slices.IndexFunc(list, alike)
		list = slices.Delete(list, i, i+1)
	}
	return list
}

// onTheWay tells findings in the order in which they were said: those of one weight that stand together in a line. Of
// what was only found the last count more.
func onTheWay(list []finding) (lines []string) {
	earlier := len(lists.Filter(list, func(f finding) bool { return f.weight == found })) - maxFindings
	for len(list) > 0 {
		n := 1
		for n < len(list) && list[n].weight == list[0].weight && n != earlier {
			n++
		}
		mark := foundMark
		if list[0].weight == found {
			if earlier > 0 {
				mark = earlierMark
			}
			earlier -= n
		}
		lines, list = append(lines, foundLines(mark, list[:n])...), list[n:]
	}
	return lines
}

// foundLines tell findings, so many in each line at most. What several stand under is told once in a line.
func foundLines(mark string, list []finding) (lines []string) {
	for some := range slices.Chunk(list, maxFindings) {
		under, said := "", make([]string, len(some))
		for i, f := range some {
			if f.under == under {
				f.under = ""
			} else {
				under = f.under
			}
			said[i] = f.String()
		}
		lines = append(lines, mark+strings.Join(said, foundBreak))
	}
	return lines
}

// isToldBy reports whether a line tells nothing but findings that words of the agent tell too.
func isToldBy(line, said string) bool {
	if !isFound(line) || said == "" {
		return false
	}
	said = plainLine(said)
	return !slices.ContainsFunc(foundIn(line), func(f string) bool {
		f = f[max(0, strings.LastIndex(f, leftOutHere)):] // without what it stands under
		return !strings.Contains(said, plainLine(strings.TrimPrefix(f, leftOutHere)))
	})
}

// plainLine is a text on one line without emphasis.
func plainLine(text string) string { return strings.ReplaceAll(clip.OneLine(text), "**", "") }

// isFound reports whether a line tells what the agent found and decided on the way.
func isFound(line string) bool {
	return strings.HasPrefix(line, foundMark) || strings.HasPrefix(line, earlierMark) ||
		strings.HasPrefix(line, alsoMark)
}

const (
	// foundMark begins what an agent said on the way to its closing words, earlierMark what it said before that.
	foundMark   = "Agent on the way: "
	earlierMark = "Agent earlier on the way: "
	// alsoMark begins what it decided in its closing words, where these are told without it.
	alsoMark = "Agent also: "
	// foundBreak stands between two of these sentences.
	foundBreak = " / "
	// maxFindings is how much of that is told in one line, in sentences, maxFound how much of a turn in all, and
	// maxWeighty how much more of what was decided or came to nothing, and of reasons.
	maxFindings, maxFound, maxWeighty = 3, 8, 24
)
