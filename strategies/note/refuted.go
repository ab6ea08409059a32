package note

import (
	"strings"

	"github.com/kagewasm/kagewasm/internal/lower"
)

// What an agent said is quoted as it said it. Where the person answers that it is wrong, the quote says so: the
// answer may be left out, or stand far below.

// refutingWords begin an answer which says that a statement is wrong, wrongWords are such an answer by themselves.
var (
	refutingWords = newVocabulary("refuting")
	wrongWords    = newWordSet("wrong")
	// concedingWords say in such an answer that what was said is right, or was.
	concedingWords = newVocabulary("conceding")
)

// refutedMark stands behind such a quote.
const refutedMark = " (the person answered that something in this is wrong)"

// refutes reports whether an answer begins by saying that what was said is wrong: at once, or behind a "no".
func refutes(answer string) bool {
	for line := range unfenced(answer) {
		for s := range sentences(line) {
			first, rest, _ := strings.Cut(strings.TrimLeft(s, "\"'(*_ "), ",")
			if isQuestion(s) {
				return false
			}
			rest = strings.TrimSpace(rest)
			if concedingWords.says(s) {
				return false
			}
			no := len(first) <= maxBare && correctingWords.longest(lower.Text(first)) == len(first)
			return saysWrong(first) || rest != "" && no && saysWrong(rest)
		}
	}
	return false
}

// saysWrong reports whether a clause says that something is wrong.
func saysWrong(clause string) bool {
	return wrongWords.has(lower.Text(strings.Trim(clause, " .!"))) || refutingWords.begins(clause)
}

// quoted are closing words as they are told, with the mark of those that were refuted.
func (t *turn) quoted(said string) string {
	if !t.refuted || strings.HasSuffix(said, fence) || isQuestion(said) {
		return said
	}
	return said + refutedMark
}
