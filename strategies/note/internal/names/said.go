package names

import (
	"slices"
	"strings"

	"github.com/kagewasm/kagewasm/internal/clip"
	"github.com/kagewasm/kagewasm/internal/lists"
	"github.com/kagewasm/kagewasm/internal/lower"
	"github.com/kagewasm/kagewasm/internal/toolcall"
	"github.com/kagewasm/kagewasm/strategies/note/internal/outcome"
)

// Of what a call that failed put out the lines stand in a note that say most, in their order, with a mark where lines
// between them are left out: a panic below the name of another test would read as that one's.

const (
	// GapLine stands where lines are left out between others, moreLines below those of which there are more.
	GapLine   = "[...]"
	moreLines = "[... more lines like these ...]"
	// maxPlaces is how many places are quoted of what failed, one for each that is told.
	maxPlaces = 3
	// headCut ends the beginning of an output that is cut within a line.
	headCut = " …"
)

// LeavesOut reports whether the lines of a quotation say that others are left out.
func LeavesOut(lines []string) bool {
	return slices.Contains(lines, GapLine) || slices.Contains(lines, moreLines) ||
		strings.HasSuffix(lines[len(lines)-1], headCut)
}

// IsCut reports whether a line of a quotation is cut at its end.
func IsCut(line string) bool { return strings.HasSuffix(line, headCut) }

// quotation is what is quoted of an output: lines of it, by their places, and those whose place is not known.
type quotation struct {
	lines     []string // of the output
	at        []int    // the places of those that are quoted
	told      []string // as they are quoted
	elsewhere []string
}

// saidBy is what is quoted of the output of a call that failed: how it begins where its source says that it failed,
// the lines that say what went wrong, the one that says why, and where the last of them is.
func saidBy(text string, failed bool, o outcome.Outcome, ran bool) string {
	text = strings.TrimSpace(text)
	q := quotation{lines: strings.Split(text, "\n")}
	head := ""
	if failed {
		head = clip.Whole(text, maxVerbatim)
	}
	begins := strings.Count(head, "\n") + 1
	if head == "" {
		begins = 0
	}
	quoted := func(line string) bool { return strings.Contains(head, strings.TrimSuffix(line, headCut)) }
	telling, lines := []int(nil), worst(o.Lines)
	if ran {
		telling = outcome.Telling(q.lines)
	}
	if len(telling) > 0 {
		if lines = lines[:min(1, len(lines))]; len(lines) > 0 && !outcome.SaysError(lines[0]) {
			lines = nil // it is how the output begins
		}
	}
	for _, at := range telling {
		if line := clip.Whole(strings.TrimSpace(q.lines[at]), maxVerbatim); at >= begins-1 && !quoted(line) {
			q.put(at, line)
		}
	}
	for _, line := range lines {
		if !quoted(line) {
			q.add(line, begins)
		}
	}
	var reasons []string
	if ran && len(telling) == 0 {
		reasons = outcome.Reasons(text)
		for _, why := range reasons { // word for word, and not as one line
			if why = clip.Whole(why, maxVerbatim); !quoted(why) {
				q.add(why, begins)
			}
		}
	}
	if len(telling) == 0 && len(reasons) == 0 && !slices.ContainsFunc(o.Lines, outcome.SaysWhy) {
		q.unread(quoted, begins, failed || o.Told)
	}
	if len(q.at) > 0 && q.at[0] == begins-1 && strings.HasSuffix(head, headCut) { // the line that is cut there is quoted
		head, begins = head[:max(0, strings.LastIndexByte(head, '\n'))], begins-1
	}
	q.place(begins, max(1, min(maxPlaces, len(telling))))
	return q.String(head, begins, len(o.Lines) > maxErrorLines)
}

// add quotes a line, which is the first with this text from a place on that is not quoted yet.
func (q *quotation) add(line string, from int) {
	text := strings.TrimSuffix(line, headCut)
	if slices.ContainsFunc(slices.Concat(q.told, q.elsewhere), func(o string) bool { return strings.Contains(o, text) }) {
		return
	}
	for i := max(0, from-1); i < len(q.lines); i++ {
		head := strings.TrimSpace(q.lines[i]) // "ERROR:" is quoted with the line below
		heads := strings.HasSuffix(head, ":") && strings.HasPrefix(text, head+" ")
		if !slices.Contains(q.at, i) && (heads || strings.Contains(q.lines[i], text)) {
			q.put(i, line)
			return
		}
	}
	q.elsewhere = append(q.elsewhere, line)
}

// unread quotes of an output in which no line is known to say why: all where it is short, and else, where it is sure
// that the call failed, the line with a word for what went wrong, or the last one. What waited too long says before
// that what it waited for.
func (q *quotation) unread(quoted func(string) bool, begins int, sure bool) {
	put := func(at int) {
		line := strings.TrimSpace(q.lines[max(0, at)])
		if at < max(0, begins-1) || line == "" || outcome.SaysExit(line) || slices.Contains(q.at, at) {
			return
		}
		if line = clip.Whole(line, maxVerbatim); !quoted(line) {
			q.put(at, line)
		}
	}
	if size := len(strings.Join(q.lines, "\n")); size <= maxVerbatim {
		for at := range q.lines {
			put(at)
		}
	} else if sure {
		at, _ := outcome.Fault(q.lines)
		if at > 0 && strings.HasPrefix(lower.Text(strings.TrimSpace(q.lines[at])), "command timed out") {
			put(at - 1)
		}
		put(at)
	}
}

// put quotes the line at a place.
func (q *quotation) put(at int, line string) {
	i, _ := slices.BinarySearch(q.at, at)
	q.at, q.told = slices.Insert(q.at, i, at), slices.Insert(q.told, i, line)
}

// place quotes where the last errors are that are quoted, or how the output begins where none is.
func (q *quotation) place(begins, most int) {
	var errors []int
	for i := range q.lines[:min(begins, len(q.lines))] {
		if i == begins-1 || toolcall.IsFailure(strings.TrimSpace(q.lines[i])) {
			errors = append(errors, i)
		}
	}
	errors = append(errors, q.at...)
	for _, at := range slices.Backward(errors) {
		i := outcome.Place(q.lines, at)
		if i < 0 || i < begins || slices.Contains(q.at, i) {
			continue
		}
		q.put(i, clip.Whole(strings.TrimSpace(q.lines[i]), maxVerbatim))
		if most--; most == 0 {
			return
		}
	}
}

// String is what is quoted behind a head of so many lines. Where there are more of the kind that is said below.
func (q *quotation) String(head string, begins int, more bool) string {
	var out []string
	next := begins
	if head != "" {
		out = append(out, head)
	}
	says := func(line string) bool {
		line = strings.TrimSpace(line)
		return line != "" && !outcome.SaysExit(line) && (len(out) == 0 || !strings.HasSuffix(out[len(out)-1], ": "+line))
	}
	for i, at := range q.at {
		between := q.lines[min(next, at):at]
		cut := i == 0 && strings.HasSuffix(head, headCut)
		if !cut && slices.ContainsFunc(between, says) {
			out = append(out, GapLine)
		}
		out, next = append(out, q.told[i]), at+1
	}
	switch cut := len(q.at) == 0 && strings.HasSuffix(head, headCut); {
	case more:
		out = append(out, moreLines)
	case !cut && slices.ContainsFunc(q.lines[min(next, len(q.lines)):], says):
		out = append(out, GapLine)
	}
	return strings.Join(append(out, q.elsewhere...), "\n")
}

// worst are the lines that say most about what went wrong, in order: those that
// begin with it, before those that mention it.
func worst(lines []string) []string {
	if len(lines) <= maxErrorLines {
		return lines
	}
	var first, others []int
	for i, line := range lines {
		if toolcall.IsFailure(line) && !strings.HasPrefix(line, "--- ") {
			first = append(first, i)
		} else {
			others = append(others, i)
		}
	}
	shown := slices.Sorted(slices.Values(append(first, others...)[:maxErrorLines]))
	return lists.Map(shown, func(i int) string { return lines[i] })
}
