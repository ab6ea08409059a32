package ui

import (
	"regexp"
	"slices"
	"strings"

	"github.com/kagewasm/kagewasm/session"
)

// noteView is the note of a compaction, section by section.
type noteView struct {
	Sections []noteSection
	Lines    int // statements
	Linked   int // of them that stand in a message
	// Later is where the note can be had with its links, where to find them takes too long
	// to wait for.
	Later string
}

type noteSection struct {
	Title string
	Lines []noteLine
}

// noteLine is a line of the note with the message that it comes from.
type noteLine struct {
	Text    string
	Quote   bool
	Message string // empty where no message has it
	Role    string
	// More are further messages, of the names in a line that lists several.
	More []string
}

// linked finds, for each statement of a note, the message that says it: one that has the
// statement word for word, else the one that has its longest quoted or listed piece. Of
// several it is the last one: a note tells how things stood in the end.
func linked(summary string, gone []session.StoredMessage) *noteView {
	if summary == "" {
		return nil
	}
	f := newFinder(gone)
	n := &noteView{Sections: []noteSection{{}}}
	for _, line := range strings.Split(strings.TrimRight(summary, "\n"), "\n") {
		if title, ok := strings.CutPrefix(line, "## "); ok {
			n.Sections = append(n.Sections, noteSection{Title: title})
			continue
		}
		l := noteLine{Text: line}
		if l.Text, l.Quote = strings.CutPrefix(line, "> "); l.Quote || statement(line) {
			n.Lines++
			if l.Message, l.Role = f.find(line); l.Message != "" {
				n.Linked++
			}
		}
		s := &n.Sections[len(n.Sections)-1]
		s.Lines = append(s.Lines, l)
	}
	n.Sections = slices.DeleteFunc(n.Sections, func(s noteSection) bool { return s.Title == "" && blank(s.Lines) })
	return n
}

func blank(lines []noteLine) bool {
	return !slices.ContainsFunc(lines, func(l noteLine) bool { return strings.TrimSpace(l.Text) != "" })
}

// statement reports whether a line says something of the session.
func statement(line string) bool {
	line = strings.TrimSpace(line)
	return len(line) > 3 && line != "```" && !strings.HasSuffix(line, ":") && !frameLine.MatchString(line)
}

// frameLine matches what the host says itself: how to read the note, and counts.
var frameLine = regexp.MustCompile(`^(\[\d+\]( its message stands above)?$|\[\.\.\.|Read off the session by the host|` +
	`(?:All|A part) of it can be read|Persons, oldest first|What was said and called last|` +
	`- Besides: |- (?:It goes on|What followed stands) below|The last message that went stood after|This is the list at|` +
	`Paths are relative to |Tools called(?: in what went)?: )`)

// finder searches what the messages say that went.
type finder struct {
	rows  []finderRow
	bytes int
}

type finderRow struct{ id, role, text string }

// maxSearched bounds how much text is searched, in bytes.
const maxSearched = 24 << 20

func newFinder(gone []session.StoredMessage) *finder {
	f := &finder{}
	for i := range gone {
		m := &gone[i]
		if f.bytes > maxSearched {
			break
		}
		said := m.Text()
		for _, c := range m.ToolCalls {
			said += "\n" + c.Name + " " + unescaped(c.Arguments)
		}
		said = squeezed(said)
		f.bytes += len(said)
		f.rows = append(f.rows, finderRow{m.ID, string(m.Role), said})
	}
	return f
}

// unescaped are arguments as a note quotes them: JSON has quotes and line ends escaped.
var unescape = strings.NewReplacer(`\n`, " ", `\t`, " ", `\"`, `"`, `\\`, `\`)

func unescaped(arguments string) string { return unescape.Replace(arguments) }

// squeezed is a text whose white space is single spaces.
func squeezed(s string) string { return strings.Join(strings.Fields(s), " ") }

// minPiece is how long a piece is at least that tells where a statement comes from.
const minPiece = 6

// find returns the id and the role of the message that a line comes from.
func (f *finder) find(line string) (id, role string) {
	line = strings.TrimSpace(line)
	if quote, ok := strings.CutPrefix(line, "> "); ok {
		if id, role = f.last(squeezed(quote), 1); id != "" {
			return id, role
		}
	}
	for _, piece := range piecesOf(line) {
		if id, role = f.last(piece, minPiece); id != "" {
			return id, role
		}
	}
	return "", ""
}

func (f *finder) last(piece string, least int) (id, role string) {
	if len(piece) < least {
		return "", ""
	}
	for i := len(f.rows) - 1; i >= 0; i-- {
		if strings.Contains(f.rows[i].text, piece) {
			return f.rows[i].id, f.rows[i].role
		}
	}
	return "", ""
}

// around are what a note puts around what it took from messages.
var around = regexp.MustCompile(`\[\.\.\.\]|…| / | → |; |` + "`" + `|\((?:written|edited|created|modified)[^)]*\)`)

var lead = regexp.MustCompile(`^(?:[-*>] |\d+\. |\[[ x~]\] |(?:Agent|Changed|Also ran|That was|` +
	`The person answered|The person did not allow a call, and said|The agent had listed|` +
	`Numbers and ids|Names|Other paths|Paths mentioned|Packages and hosts|` +
	`Tools called(?: in what went)?): )+`)

// piecesOf are the pieces of a line that may stand in a message as they are: the whole
// first, then the longest.
func piecesOf(line string) []string {
	bare := squeezed(lead.ReplaceAllString(strings.TrimSpace(line), ""))
	pieces := []string{}
	for _, piece := range around.Split(bare, -1) {
		if piece = strings.Trim(piece, " .,:;"); len(piece) >= minPiece {
			pieces = append(pieces, piece)
		}
	}
	for _, word := range strings.Fields(bare) {
		if len(word) >= 2*minPiece && strings.ContainsAny(word, "/._-=") {
			pieces = append(pieces, strings.Trim(word, "(),;:"))
		}
	}
	slices.SortStableFunc(pieces, func(a, b string) int { return len(b) - len(a) })
	pieces = slices.Compact(append([]string{bare}, pieces...))
	return pieces[:min(len(pieces), 8)]
}
