package note

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/kagewasm/kagewasm/internal/clip"
	"github.com/kagewasm/kagewasm/internal/lists"
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
	all, places := sayings(text)
	list := lists.Filter(all, func(l saying) bool { return !isHeading(l.text) && !isCode(l.text) })
	var told []saying
	said := ""
	for i, l := range list {
		bare, item := listItem(l.text)
		if bare = plain(bare); len(told) == 0 {
			bare = finding(bare)
		}
		switch {
		case bare == "":
		case len(told) == 0:
			said, told = bare, list[i:i+1]
			if item {
				said = above(all, l) + bare
			}
		case utf8.RuneCountInString(said) < maxSaid/2:
			said, told = joined(said, bare, !l.follows(told[0]), item), list[i:i+1]
		}
	}
	if said == "" && len(list) > 0 {
		last, item := listItem(list[len(list)-1].text)
		if said, told = plain(last), list[len(list)-1:]; item && len(list) > 1 {
			said = strings.TrimSpace(leftOutHere) + " " + said
		}
	}
	if said = shortened(said, maxSaid); len(told) > 0 && told[0].place+1 < places {
		said = marked(said)
	}
	if strings.HasSuffix(said, leftOutHere) {
		if found := findings(text); len(found) > 0 && !strings.Contains(said, found[0]) {
			said = marked(shortened(found[0], maxSaid))
		}
	}
	result, question, gap := question(list)
	if question != "" && !strings.Contains(said, question) {
		if result != "" && !strings.Contains(said, result) {
			if said += " " + shortened(result, maxQuestion); gap {
				said = marked(said)
			}
		}
		said += " " + shortened(question, maxQuestion)
	}
	return said
}

// above is what stands above an entry of a list with which a quote begins: the heading of the list, or a mark for the
// entries before it. A list says nothing without its heading.
func above(lines []saying, entry saying) string {
	i := slices.Index(lines, entry)
	switch {
	case i <= 0:
		return ""
	case isEntry(lines[i-1].text):
		return strings.TrimSpace(leftOutHere) + " "
	case isHeading(lines[i-1].text) && entry.follows(lines[i-1]):
		return plain(lines[i-1].text) + " "
	}
	return ""
}

// question is what the last line asks, and the last sentence before it that is no entry of a
// list; gap says that something stands between them.
func question(list []saying) (result, question string, gap bool) {
	at, of := 0, 0 // places of sentences
	for i, l := range list {
		if i > 0 && !l.follows(list[i-1]) {
			at++
		}
		bare, item := listItem(l.text)
		question = ""
		for s := range sentences(plain(bare)) {
			if at++; isQuestion(s) {
				question, gap = s, at > of+1
			} else if question == "" && !item && strings.HasSuffix(s, ".") {
				result, of = s, at
			}
		}
	}
	return result, question, gap
}

// isCode reports whether a line is one of a table, or of code.
func isCode(line string) bool {
	bare, item := listItem(line)
	if bare = plain(bare); bare == "" || item {
		return bare == ""
	}
	return strings.IndexByte("|<{-", bare[0]) >= 0 || strings.Count(bare, "`") == 2 && bare == "`"+strings.Trim(bare, "`")+
		"`"
}

// marked is what was said with a mark at its end that more was.
func marked(said string) string { return strings.TrimSuffix(said, leftOutHere) + leftOutHere }

// finding is a line without what an agent begins with that says nothing: praise of up to
// four words, "Great question!", and what it is about to look at, "Let me check:".
func finding(line string) string {
	for s := range sentences(line) {
		praise := strings.HasSuffix(s, "!") && strings.Count(s, " ") < 4 || s == "Exactly." || s == "Yes." ||
			s == "Sure."
		if !praise && !strings.HasPrefix(s, "Let me ") && !strings.HasPrefix(s, "Now let me ") {
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
	if short := clip.First(line, runes); len(short) < len(line) {
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
	lines, _ := sayings(text)
	lines = lists.Filter(lines, func(l saying) bool { return !isHeading(l.text) })
	at := -1
	for i, l := range lines {
		if asks(l.text) {
			at = i
		}
	}
	if at < 0 {
		return "", false
	}
	entry := func(i int) bool { return isEntry(lines[i].text) }
	from, to := at, at+1
	for to < len(lines) && entry(to) {
		to++
	}
	if to == at+1 {
		for from > 0 && entry(from-1) {
			from--
		}
		if from > 0 && (from == at || strings.HasSuffix(plain(lines[from-1].text), ":")) {
			from--
		}
	}
	said = block(lines[from:to], at-from)
	options = slices.ContainsFunc(lines[from:to], func(l saying) bool { return isEntry(l.text) })
	for first := range sentences(closing(text)) {
		first, _, _ = strings.Cut(first, leftOutHere)
		if !strings.Contains(said, clip.First(first, maxBefore)) {
			said = marked(first) + " " + said
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
func block(lines []saying, question int) string {
	ask := lastAsked(plain(lines[question].text))
	entries, room := 0, maxAsked-utf8.RuneCountInString(ask)
	var b strings.Builder
	for i, l := range lines {
		told := ask
		if i != question {
			told = beside(l.text)
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
		case !l.follows(lines[i-1]):
			b.WriteString(leftOutHere + " ")
		case isEntry(l.text) && isEntry(lines[i-1].text):
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

// beside is a line that stands beside a question: an entry, or of a long line its last sentence.
func beside(line string) string {
	told := plain(line)
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
	return shortened(told, maxOption)
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
