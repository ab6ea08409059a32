package note

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/kagewasm/kagewasm/internal/clip"
)

// Of what an agent says the thread has what it ended a turn with: what it came to, and what it asks. Where a short
// answer follows, what it asks is told with the options beside it: a "yes" says nothing without them.

const (
	maxSaid     = 220 // of the closing words of an agent, in characters
	maxQuestion = 160 // of a question that they end with
)

// closing are the words with which an agent ends a turn: how they begin, or what it found where that stands further
// down, and the question that they end with, with the sentence before it: what the agent came to stands there. What
// is left out between is marked.
func closing(text string) string {
	said, last, result, question := "", "", "", ""
	gap, fenced, more := false, false, false
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, fence) {
			fenced = !fenced
		}
		bare, item := listItem(line)
		bare = plain(bare)
		switch {
		case line == "" || bare == "":
			continue
		case fenced, isHeading(line), strings.IndexByte("|<{-`", bare[0]) >= 0:
			gap = gap || said != ""
			continue
		}
		question = ""
		for s := range sentences(bare) {
			if isQuestion(s) {
				question = s
			} else if question == "" && !item && strings.HasSuffix(s, ".") {
				result = s
			}
		}
		last = bare
		if said == "" {
			if bare = finding(bare); bare == "" {
				continue
			}
		}
		if more = more || utf8.RuneCountInString(said) >= maxSaid/2; more {
			continue
		}
		said, gap = joined(said, bare, gap, item), false
	}
	if said == "" {
		said = last
	}
	said = shortened(said, maxSaid)
	if (more || gap) && !strings.HasSuffix(said, leftOutHere) {
		said += leftOutHere
	}
	if strings.HasSuffix(said, leftOutHere) {
		if found := findings(text); len(found) > 0 && !strings.Contains(said, found[0]) {
			said = shortened(found[0], maxSaid) + leftOutHere
		}
	}
	if question != "" && !strings.Contains(said, question) {
		if result != "" && !strings.Contains(said, result) {
			said += " " + shortened(result, maxQuestion)
		}
		said += " " + shortened(question, maxQuestion)
	}
	return said
}

// finding is a line without what an agent begins with that says nothing: praise of up to
// four words, "Great question!", and what it is about to look at, "Let me check:".
func finding(line string) string {
	for s := range sentences(line) {
		praise := strings.HasSuffix(s, "!") && strings.Count(s, " ") < 4 || s == "Exactly." || s == "Yes." ||
			s == "Sure."
		if !praise && !strings.HasPrefix(s, "Let me ") {
			return line[strings.Index(line, s):]
		}
	}
	return ""
}

// leftOutHere marks what is left out of a line.
const leftOutHere = " [...]"

// joined adds a line to what was said. A gap is marked.
func joined(said, line string, gap, item bool) string {
	switch {
	case said == "":
		return line
	case gap:
		return said + leftOutHere + " " + line
	case item && !strings.HasSuffix(said, ":"):
		return said + "; " + line
	}
	return said + " " + line
}

// isHeading reports whether a line is one: marked as such, or short and all of it bold.
func isHeading(line string) bool {
	bold := strings.HasPrefix(line, "**") && strings.HasSuffix(strings.TrimRight(line, ":"), "**")
	return line[0] == '#' || bold && len(line) < 60 && !strings.ContainsAny(line, ".?!")
}

// shortened is a line in at most so many characters, and a mark where words are left
// out.
func shortened(line string, runes int) string {
	if short := wholeWords(line, runes); len(short) < len(line) {
		return strings.TrimSpace(short) + leftOutHere
	}
	return line
}

// plain is a line without the marks of emphasis around words.
func plain(line string) string {
	return strings.TrimSpace(strings.ReplaceAll(strings.Trim(line, "#* "), "**", ""))
}

// findingWords are how agents word what they found out, and what they must not do or could not.
var findingWords = newVocabulary("finding")

// findings are the sentences of a text in which an agent says what it found.
func findings(text string) (list []string) {
	if !findingWords.says(text) {
		return nil
	}
	for line := range unfenced(text) {
		if isHeading(line) || line[0] == '|' {
			continue
		}
		bare, _ := listItem(line)
		for s := range sentences(plain(bare)) {
			if findingWords.says(s+" ") && !strings.HasSuffix(s, "?") && utf8.RuneCountInString(s) >= minFinding {
				list = append(list, s)
			}
		}
	}
	return list
}

// minFinding is how long a sentence is, in characters, that says something.
const minFinding = 40

const (
	maxAsked  = 500 // of what a short answer speaks of, in characters
	maxBefore = 60  // of how the words began, to tell whether it is said
)

// asked are the words with which an agent ends a turn that a short answer follows, where it asks something: the last
// line that does, with the list beside it, or the line before it, and how the words begin. A list is cut at its end,
// and whole entries are told. It is empty where nothing is asked; options says that a list stands beside the question.
func asked(text string) (said string, options bool) {
	var lines []string
	at := -1
	for line := range unfenced(text) {
		if isHeading(line) || strings.Trim(line, "-|: ") == "" {
			continue
		}
		if lines = append(lines, line); asks(line) {
			at = len(lines) - 1
		}
	}
	if at < 0 {
		return "", false
	}
	from, to := at, at+1
	for to < len(lines) && isEntry(lines[to]) {
		to++
	}
	if to == at+1 {
		for from > 0 && isEntry(lines[from-1]) {
			from--
		}
		if from > 0 && (from == at || strings.HasSuffix(plain(lines[from-1]), ":")) {
			from--
		}
	}
	said, options = block(lines[from:to], at-from), slices.ContainsFunc(lines[from:to], isEntry)
	for first := range sentences(closing(text)) {
		first = strings.TrimSuffix(first, leftOutHere)
		if !strings.Contains(said, wholeWords(first, maxBefore)) {
			said = first + leftOutHere + " " + said
		}
		break
	}
	gap := strings.TrimSpace(leftOutHere)
	return strings.TrimSpace(strings.ReplaceAll(said, gap+" "+gap, gap)), options
}

// asks reports whether a line asks something.
func asks(line string) bool {
	for s := range sentences(plain(line)) {
		if isQuestion(s) {
			return true
		}
	}
	return false
}

// isQuestion reports whether a sentence asks something: marks alone, as of a status, do not.
func isQuestion(s string) bool {
	before, ok := strings.CutSuffix(s, "?")
	return ok && before != "" && strings.IndexByte("?` ", before[len(before)-1]) < 0 || strings.HasSuffix(s, "？")
}

// isEntry reports whether a line is one of a list or a table.
func isEntry(line string) bool {
	_, item := listItem(line)
	number, _ := entryNumber(line)
	return item || number != "" || line[0] == '|'
}

// block is the question, a line of lines, with what stands beside it. Of more than there is room for the last entries
// are counted.
func block(lines []string, question int) string {
	ask := lastAsked(plain(lines[question]))
	entries, room := 0, maxAsked-utf8.RuneCountInString(ask)
	var b strings.Builder
	for i, line := range lines {
		told := ask
		if i != question {
			told = plain(line)
			if strings.HasPrefix(line, "|") {
				told = strings.Trim(strings.ReplaceAll(told, " | ", ", "), "| ")
			} else if bare, item := listItem(line); item && clip.Digits(line) == 0 {
				told = plain(bare)
			}
			if !isEntry(line) && utf8.RuneCountInString(told) > maxOption {
				last := ""
				for last = range sentences(told) { // that stands beside the question
				}
				told = strings.TrimSpace(leftOutHere) + " " + last
			}
			told = shortened(told, maxOption)
			if room -= utf8.RuneCountInString(told); room < 0 {
				entries++
				continue
			}
		}
		if entries > 0 {
			fmt.Fprintf(&b, "; [%d more]", entries)
			entries = 0
		}
		switch {
		case b.Len() == 0:
		case isEntry(line) && isEntry(lines[i-1]):
			b.WriteString("; ")
		default:
			b.WriteString(" ")
		}
		b.WriteString(told)
	}
	if entries > 0 {
		fmt.Fprintf(&b, "; [%d more]", entries)
	}
	return b.String()
}

// lastAsked is a line, or of a long one its last question with the sentence before it.
func lastAsked(line string) string {
	if utf8.RuneCountInString(line) <= maxAsked/2 {
		return line
	}
	before, ask := "", ""
	for s := range sentences(line) {
		if isQuestion(s) {
			ask = strings.TrimSpace(before + " " + s)
		}
		before = s
	}
	return strings.TrimSpace(leftOutHere) + " " + shortened(ask, maxAsked)
}
