package note

import (
	"math"
	"strings"

	"github.com/kagewasm/kagewasm/internal/lists"
	"github.com/kagewasm/kagewasm/internal/lower"
)

// Section is one heading of a summary.
type Section struct {
	Title string
	// About says what belongs there, as a prompt says it.
	About string
}

// Outline is the sections of a structured summary, in order. Structure forces
// preservation: each section is an item on a checklist, filled or marked empty,
// never left out. Such a summary is markdown, a "## Title" line a section.
type Outline struct {
	// Name is what configuration calls it.
	Name     string
	Sections []Section
}

// Both outlines have these.
var (
	keyDecisions = Section{"Key Decisions", "decisions that were stated, each with its reason: chose X because Y"}
	nextSteps    = Section{"Next Steps", "what comes next, in order"}
)

// handoff is the default.
var handoff = Outline{"handoff", []Section{
	{"Goal", "what the user wants, in one to three sentences"},
	{"Constraints & Preferences",
		"requirements, checklists and acceptance criteria, word for word; how the user wants it done"},
	{"Progress",
		"what is done, what is under way, what is blocked and by what; files modified and what changed in them"},
	keyDecisions, nextSteps,
	{"Critical Context",
		"what has to be known to go on: failed approaches, errors in their exact words, values, names, files read"},
	{"Additional Notes", "contradictions between what was required and what was done, and anything else"},
}}

// continuation has eight sections.
var continuation = Outline{"continuation", []Section{
	{"Session Intent", "what the user wants to accomplish overall"},
	{"Current Task", "what is being worked on, and how far it is"},
	{"Files Modified", "path and what changed in each, lines where they are known; no contents"},
	{"Files Read", "paths only"},
	keyDecisions,
	{"Failed Approaches", "what was tried and did not work, and why; always kept"},
	{"Errors Encountered", "error messages in their exact words, and what fixed them"},
	nextSteps,
}}

// Outlines returns the outlines that ship, the default first.
func Outlines() []Outline { return []Outline{handoff, continuation} }

// OutlineNamed finds an outline that ships; the empty name is the default's.
func OutlineNamed(name string) (Outline, bool) {
	for _, o := range Outlines() {
		if name == "" || name == o.Name {
			return o, true
		}
	}
	return Outline{}, false
}

// none marks a section of which there is nothing to say.
const none = "(none)"

// Render writes every section in order. One that fill has nothing for is marked
// as empty.
func (o Outline) Render(fill func(s Section) string) string {
	var b strings.Builder
	for i, s := range o.Sections {
		if i > 0 {
			b.WriteString("\n\n")
		}
		b.WriteString("## " + s.Title + "\n")
		if text := strings.TrimSpace(fill(s)); text != "" {
			b.WriteString(text)
		} else {
			b.WriteString(none)
		}
	}
	return b.String()
}

// Missing are the titles of the sections that a text does not have, or has with
// nothing under them: not even a mark that there is nothing.
func (o Outline) Missing(text string) []string {
	found := o.Parse(text)
	missing := lists.Filter(o.Sections, func(s Section) bool { return found[s.Title] == "" || found[s.Title] == omitted })
	return lists.Map(missing, func(s Section) string { return s.Title })
}

// omitted marks a section that who wrote a summary left out. It still counts as
// missing.
const omitted = none + ": the model left it out"

// MarkMissing returns the text with each missing section marked as left out: under its
// heading where that stands there, else at the end. A mark inside a block of code would be
// no heading, so one that is open at the end is closed before it.
func (o Outline) MarkMissing(text string) string {
	missing := make(map[string]bool)
	for title, said := range o.Parse(text) {
		missing[key(title)] = said == ""
	}
	var b strings.Builder
	fenced := false
	for line := range strings.Lines(text) {
		b.WriteString(line)
		if isFence(line) {
			fenced = !fenced
		}
		if t, ok := heading(line); ok && !fenced && missing[t] {
			missing[t] = false
			if strings.HasSuffix(line, "\n") {
				b.WriteString(omitted + "\n")
			} else {
				b.WriteString("\n" + omitted)
			}
		}
	}
	for _, s := range o.Sections {
		if !missing[key(s.Title)] {
			continue
		}
		if fenced {
			b.WriteString("\n" + fence)
			fenced = false
		}
		b.WriteString("\n\n## " + s.Title + "\n" + omitted)
	}
	return b.String()
}

// Parse returns what a text says in each section, by title.
func (o Outline) Parse(text string) map[string]string {
	found, said := parse(text, o.Sections...), make(map[string]string, len(o.Sections))
	for _, s := range o.Sections {
		said[s.Title] = found[key(s.Title)]
	}
	return said
}

// parse reads what stands under each heading of a text, by heading in lower
// case and without what stands in parentheses: "## Files Read (reference only)"
// is "files read". Any level of heading counts, and bold lines do. Below one of
// the sections a deeper heading belongs to it, but where that is a section itself
// or stands behind a rule.
func parse(text string, sections ...Section) map[string]string {
	own := make(map[string]bool, len(sections))
	for _, s := range sections {
		own[key(s.Title)] = true
	}
	bodies := make(map[string][]string) // a title may stand there many times
	title, level, body := "", 0, []string(nil)
	said := 0 // the lines of the body up to the last one that says something
	end := func() {
		if text := strings.TrimSpace(strings.Join(body[:said], "\n")); title != "" && text != "" {
			bodies[title] = append(bodies[title], text)
		}
		body, said = nil, 0
	}
	fenced, ruled := false, false
	for line := range strings.SplitSeq(text, "\n") {
		if isFence(line) {
			fenced = !fenced
		}
		t, is := heading(line)
		is = is && !fenced
		if is && (!own[title] || own[t] || ruled || depth(line) <= level) {
			end()
			title, level, ruled = t, depth(line), false
			continue
		}
		body = append(body, line)
		switch {
		case is:
		case !between(line):
			said = len(body)
		case !fenced && strings.TrimSpace(line) != "":
			ruled = true
		}
	}
	end()
	found := make(map[string]string, len(bodies))
	for title, texts := range bodies {
		found[title] = strings.Join(texts, "\n")
	}
	return found
}

// depth is the level of a heading; a bold line is below all others.
func depth(line string) int {
	line = strings.TrimSpace(line)
	if n := len(line) - len(strings.TrimLeft(line, "#")); n > 0 {
		return n
	}
	return math.MaxInt
}

// between reports whether a line stands between two sections and belongs to none: it is empty, or a rule.
func between(line string) bool {
	line = strings.TrimSpace(line)
	return line == "" || len(line) >= 3 && strings.Trim(line, line[:1]) == "" && strings.ContainsAny(line[:1], "-*_")
}

func heading(line string) (string, bool) {
	line = strings.TrimSpace(line)
	if rest := strings.TrimLeft(line, "#"); rest != line && strings.HasPrefix(rest, " ") {
		return key(rest), true
	}
	if rest, ok := strings.CutPrefix(line, "**"); ok {
		if rest, ok = strings.CutSuffix(strings.TrimSuffix(rest, ":"), "**"); ok && !strings.Contains(rest, "**") {
			return key(rest), true
		}
	}
	return "", false
}

// key is a title as parse has it.
func key(title string) string {
	title, _, _ = strings.Cut(title, "(")
	return lower.Text(strings.Trim(title, " \t:*#"))
}
