// Package outline names the sections of a structured summary, and reads and
// writes texts that have them. Structure forces preservation: each section is
// an item on a checklist, filled or marked empty, never left out.
//
// Two sets ship: [Handoff] (FEATURES K24) and [Continuation] (I4). A summary in
// either is markdown, a "## Title" line for each section.
package outline

import (
	"slices"
	"strings"
)

// Section is one heading of a summary.
type Section struct {
	Title string
	// About says what belongs there, as a prompt says it.
	About string
}

// Outline is a set of sections, in order.
type Outline struct {
	// Name is what configuration calls it.
	Name     string
	Sections []Section
}

// Handoff is the default (FEATURES K24).
var Handoff = Outline{"handoff", []Section{
	{"Goal", "what the user wants, in one to three sentences"},
	{"Constraints & Preferences", "requirements, checklists and acceptance criteria, word for word; how the user wants it done"},
	{"Progress", "what is done, what is under way, what is blocked and by what; files modified and what changed in them"},
	{"Key Decisions", "decisions that were stated, each with its reason: chose X because Y"},
	{"Next Steps", "what comes next, in order"},
	{"Critical Context", "what has to be known to go on: failed approaches, errors in their exact words, values, names, files read"},
	{"Additional Notes", "contradictions between what was required and what was done, and anything else"},
}}

// Continuation has eight sections (FEATURES I4).
var Continuation = Outline{"continuation", []Section{
	{"Session Intent", "what the user wants to accomplish overall"},
	{"Current Task", "what is being worked on, and how far it is"},
	{"Files Modified", "path and what changed in each, lines where they are known; no contents"},
	{"Files Read", "paths only"},
	{"Key Decisions", "decisions that were stated, each with its reason: chose X because Y"},
	{"Failed Approaches", "what was tried and did not work, and why; always kept"},
	{"Errors Encountered", "error messages in their exact words, and what fixed them"},
	{"Next Steps", "what comes next, in order"},
}}

// All are the outlines that ship, the default first.
func All() []Outline { return []Outline{Handoff, Continuation} }

// Named finds an outline; the empty name is the default's.
func Named(name string) (Outline, bool) {
	if name == "" {
		return Handoff, true
	}
	all := All()
	i := slices.IndexFunc(all, func(o Outline) bool { return o.Name == name })
	if i < 0 {
		return Outline{}, false
	}
	return all[i], true
}

// None marks a section of which there is nothing to say.
const None = "(none)"

// Render writes every section in order. One that fill has nothing for is marked
// with [None].
func (o Outline) Render(fill func(title string) string) string {
	var b strings.Builder
	for i, s := range o.Sections {
		if i > 0 {
			b.WriteString("\n\n")
		}
		b.WriteString("## " + s.Title + "\n")
		if text := strings.TrimSpace(fill(s.Title)); text != "" {
			b.WriteString(text)
		} else {
			b.WriteString(None)
		}
	}
	return b.String()
}

// Missing are the titles of the sections that a text does not have, or has with
// nothing under them: not even a mark that there is nothing.
func (o Outline) Missing(text string) []string {
	found := Parse(text)
	var missing []string
	for _, s := range o.Sections {
		if found[key(s.Title)] == "" {
			missing = append(missing, s.Title)
		}
	}
	return missing
}

// Parse reads what stands under each heading of a text, by heading in lower
// case and without what stands in parentheses: "## Files Read (reference only)"
// is "files read". Any level of heading counts, and bold lines do.
func Parse(text string) map[string]string {
	found := make(map[string]string)
	title, body := "", []string(nil)
	end := func() {
		if text := strings.TrimSpace(strings.Join(body, "\n")); title != "" && text != "" {
			if was := found[title]; was != "" {
				text = was + "\n" + text
			}
			found[title] = text
		}
		body = nil
	}
	fenced := false
	for line := range strings.SplitSeq(text, "\n") {
		if strings.HasPrefix(strings.TrimSpace(line), "```") {
			fenced = !fenced
		}
		if t, ok := heading(line); ok && !fenced {
			end()
			title = t
			continue
		}
		body = append(body, line)
	}
	end()
	return found
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

// key is a title as [Parse] has it.
func key(title string) string {
	title, _, _ = strings.Cut(title, "(")
	return strings.ToLower(strings.Trim(title, " \t:*#"))
}
