package note

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/kagewasm/kagewasm/internal/lower"
	"github.com/kagewasm/kagewasm/internal/set"
)

// There is seldom room for all rules of what was loaded. Those come first that a session is most likely to break, or
// broke: what is worded without exceptions, what has to do with a call that the person rejected or with how they
// corrected the agent, and what names a command that ran.

// What a rule is worth, together.
const (
	worthEnforced = 4 // a person rejected a call or corrected the agent in words of it
	worthAbsolute = 3 // in capitals: "NEVER", "BEFORE any"
	worthForbids  = 2
	worthUsed     = 2 // it names a command that ran
	worthDemands  = 1

	minRejected  = 2 // words that a rule shares with a call that was rejected, and with what was said to that
	minCorrected = 3 // and with the words of a person that correct
)

// enforcing is what a session did with rules.
type enforcing struct {
	rejected  []map[string]bool // the words of calls that persons did not allow, and of what they said
	corrected []map[string]bool // the words of persons that correct
	ran       string            // what was done
	known     map[string]int    // what rules are worth
}

// enforced is what came of rules in a session.
func (n *Note) enforced() *enforcing {
	e := &enforcing{known: make(map[string]int)}
	for _, r := range n.standing.rejected {
		e.rejected = append(e.rejected, wordsOf(r.call))
	}
	var ran strings.Builder
	for i := range n.turns {
		t := &n.turns[i]
		if t.words != "" && len(t.words) <= maxNewestWords && corrects(t.words) {
			e.corrected = append(e.corrected, wordsOf(t.words))
		}
		for _, line := range t.came {
			ran.WriteString(line + "\n")
		}
	}
	for i := range n.steps {
		ran.WriteString(n.steps[i].did + "\n")
	}
	e.ran = ran.String()
	return e
}

// worth is how much a rule counts beside others.
func (e *enforcing) worth(rule string) (worth int) {
	if worth, ok := e.known[rule]; ok {
		return worth
	}
	defer func() { e.known[rule] = worth }()
	if absolute(rule) {
		worth += worthAbsolute
	}
	switch {
	case forbids(rule):
		worth += worthForbids
	case demands(rule), strings.HasPrefix(rule, toolsMark):
		worth += worthDemands
	}
	if e.names(rule) {
		worth += worthUsed
	}
	if words := wordsOf(rule); shares(e.rejected, words, minRejected) || shares(e.corrected, words, minCorrected) {
		worth += worthEnforced
	}
	return worth
}

// names reports whether a rule names, between backticks, a command that ran: its first two words.
func (e *enforcing) names(rule string) bool {
	if !strings.Contains(rule, "`") {
		return false
	}
	for _, quoted := range quotedName().FindAllString(rule, -1) {
		words := strings.Fields(strings.Trim(quoted, "`"))
		if len(words) > 1 && strings.Contains(e.ran, "`"+words[0]+" "+words[1]) {
			return true
		}
	}
	return false
}

// shares reports whether one of several texts has so many words in common with a rule.
func shares(texts []map[string]bool, rule map[string]bool, least int) bool {
	return slices.ContainsFunc(texts, func(text map[string]bool) bool {
		n := 0
		for w := range rule {
			if text[w] {
				n++
			}
		}
		return n >= least
	})
}

// wordsOf are the words of a text that say what it is about, without their endings.
func wordsOf(text string) map[string]bool {
	words := make(map[string]bool)
	for w := range strings.FieldsFuncSeq(lower.Text(text), func(r rune) bool { return !unicode.IsLetter(r) }) {
		if utf8.RuneCountInString(w) < minName || instructing.has(w) {
			continue
		}
		for _, ending := range []string{"ing", "ies", "ied", "es", "ed", "s", "y"} {
			if rest, ok := strings.CutSuffix(w, ending); ok && utf8.RuneCountInString(rest) >= minName {
				w = rest
				break
			}
		}
		words[w] = true
	}
	return words
}

// absolute reports whether a rule has a word in capitals that allows no exception.
func absolute(rule string) bool {
	for w := range strings.FieldsFuncSeq(rule, func(r rune) bool { return !unicode.IsLetter(r) }) {
		if absolutes[w] {
			return true
		}
	}
	return false
}

// absolutes are such words.
var absolutes = set.Of("NEVER", "ALWAYS", "MUST", "ONLY", "BEFORE", "AFTER", "FIRST", "STOP", "DELETE", "NO", "NOT",
	"ANY", "EVERY", "ALL", "WITHOUT", "REQUIRED", "MANDATORY", "FORBIDDEN", "CRITICAL", "ABSOLUTELY", "IMMEDIATELY",
	"NIE", "NIEMALS", "IMMER", "NICHT", "MUSS", "KEIN", "KEINE", "JAMAIS", "TOUJOURS", "NUNCA", "SIEMPRE", "SEMPRE", "MAI",
	"НИКОГДА", "ВСЕГДА", "НЕЛЬЗЯ")
