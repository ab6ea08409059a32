package note

import (
	"strings"

	"github.com/kagewasm/kagewasm/internal/clip"
	"github.com/kagewasm/kagewasm/internal/lists"
	"github.com/kagewasm/kagewasm/strategies/note/internal/work"
)

// What another agent reported is the work of many calls in one text, mostly with headings.

const (
	maxReport      = 600  // of what another agent reported, in characters
	maxFullReport  = 2400 // of that where a note has room left
	maxReportHeads = 5    // headings that are told of what is left out of it
	maxAbout       = 100  // of what it was asked, which stands before it
	minTold        = 40   // of a line, in characters: what holds so much of it tells it
)

// report is what another agent reported, in short: how it begins, without the title and what only announces the rest,
// what it found, and the headings of what is left out.
func report(text string) string { return reportWithin(maxReport, text) }

// fullReport is more of it, for a note that has room left.
func fullReport(text string) string { return reportWithin(maxFullReport, text) }

// reportWithin is a report in about so many characters.
func reportWithin(runes int, text string) string {
	lines, _ := sayings(text)
	said := reportIn(runes, text, lines)
	if !strings.HasSuffix(said, leftOutHere) {
		return said
	}
	heads := lists.Filter(lines, func(l saying) bool { return isHeading(l.text) })
	heads = heads[min(1, len(heads)):] // the first one is the title
	above := headingsOfTold(lines, said)
	left := lists.Filter(heads, func(l saying) bool {
		return !above[l.place] && !strings.Contains(said, strings.TrimSuffix(plain(l.text), ":"))
	})
	return strings.TrimSuffix(said, leftOutHere) + " " + markOf(headingsIn(outermost(left), false), maxReportHeads)
}

// headingsOfTold are the places of the headings of lines that are told.
func headingsOfTold(lines []saying, said string) map[int]bool {
	above, seen := make(map[int]bool), make(map[string]bool)
	for _, l := range lines {
		entry, _ := listItem(plain(l.text))
		begins := clip.First(plain(entry), minTold)
		if isHeading(l.text) || begins == "" || seen[begins] || !strings.Contains(said, begins) {
			continue
		}
		seen[begins] = true // told once, of the first such line
		for _, h := range headings(lines, l) {
			above[h.place] = true
		}
	}
	return above
}

// outermost are headings of the first level of which there is more than one.
func outermost(heads []saying) []saying {
	for level := 1; level < levelBold; level++ {
		marks := strings.Repeat("#", level) + " "
		own := lists.Filter(heads, func(l saying) bool { return strings.HasPrefix(l.text, marks) })
		if len(own) > 1 {
			return own
		}
	}
	return heads
}

// reportIn is a report, of these lines, without its headings.
func reportIn(runes int, text string, lines []saying) string {
	for _, l := range lines {
		if isHeading(l.text) || onlyAnnounces(plain(l.text)) || announcingWords.begins(plain(l.text)) {
			continue
		}
		if before, rest, ok := strings.Cut(text, l.text); ok && before != "" && len(before) < 2*maxReport {
			if said := closingIn(runes, l.text+rest, findings); said != "" {
				return goingOn(said)
			}
		}
		break
	}
	return closingIn(runes, text, findings)
}

// onlyAnnounces reports whether a line is one sentence that stands over what follows.
func onlyAnnounces(line string) bool {
	n := 0
	for range sentences(line) {
		n++
	}
	return n < 2 && strings.HasSuffix(line, ":")
}

// announcingWords begin sentences of a report that only announce what follows.
var announcingWords = newVocabulary("announcing")

// report is what another agent reported, in short. The report stays known by that, where no other one reads so.
func (m *Memory) report(text string) string {
	short := m.reports.of(text, report)
	if m.reported == nil {
		m.reported = make(map[string]string)
	}
	if known, met := m.reported[short]; met && known != text {
		text = ""
	}
	m.reported[short] = text
	return short
}

// longer is more of a report than in short, empty where no more is known.
func (m *Memory) longer(short string) string {
	if text := m.reported[short]; text != "" {
		return m.fullest.of(text, fullReport)
	}
	return ""
}

// shorterReports are a line that tells a report with less of it, longest first: an earlier note may have had room for
// much, and this one may have little.
func shorterReports(line string) []string {
	said, _, cut := strings.Cut(line, " "+gapBegins)
	if cut {
		said = marked(said)
	}
	return []string{said, shortened(said, maxReport+maxAbout), shortened(said, maxReport/2+maxAbout)}
}

// moreOf is a line that tells a report with more of it, where more is known.
func (m *Memory) moreOf(line string) string {
	for i := range len(line) {
		if !strings.HasPrefix(line[i:], ": ") { // what the agent was asked may hold one too
			continue
		}
		if more := m.longer(line[i+2:]); more != "" {
			return line[:i+2] + more
		}
	}
	return line
}

// tellReports adds what other agents reported, the newest first, and returns what it costs: it is
// found nowhere else, and files and names that stand in it are read again.
func tellReports(v *view, budget int) int {
	left := budget
	for i := len(v.turns) - 1; i >= 0; i-- {
		for k, line := range v.turns[i].came {
			if strings.HasPrefix(line, work.Reported) && v.came[i][k] == "" && !v.folded(i) {
				v.takeLine(i, k, &left, append([]string{v.memory.moreOf(line), line}, shorterReports(line)...)...)
			}
		}
	}
	return max(0, budget) - max(0, left)
}
