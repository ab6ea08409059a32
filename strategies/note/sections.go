package note

import (
	"slices"
	"strings"

	"github.com/kagewasm/kagewasm/internal/lists"
	"github.com/kagewasm/kagewasm/strategies/note/internal/names"
)

// Lines above the parts of a note. They are part of its form: a later compaction
// reads them back. Those of names, commands and failures stand in package names.
const (
	// intro begins a note without a summary.
	intro         = "Read off the session without a model; what is quoted is word for word."
	headKept      = "## Kept word for word"
	headRequests  = "Requests, newest last:"
	headMusts     = "Required:"
	headTodos     = "Todos:"
	headDecisions = "Stated:"
	headNext      = "Said last:"
	headEarlier   = "From an earlier summary:"
	quoteMark     = "> "
)

// heads are the lines that [parser] and [cutAt] go by.
var heads = []string{headKept, headRequests, headMusts, headTodos, headDecisions, headNext, headEarlier}

// Heads of the lists of files.
const (
	headRoot     = "root"
	headModified = "modified"
	headRead     = "read"
)

// order are all parts, as they stand where an outline has no section for them.
var order = []string{
	headRequests, headMusts, headTodos, headRoot, headModified, names.HeadCommands, headDecisions, headNext,
	names.HeadFailed, names.HeadErrors, headRead, headEarlier,
}

// kept is what stands below a summary.
func (p *parts) kept(found *names.Names, summary string) string {
	var b strings.Builder
	for _, head := range []string{headMusts, headTodos, names.HeadFailed, names.HeadErrors} {
		if text := p.text[head]; text != "" {
			b.WriteString("\n\n" + text)
		}
	}
	if b.Len() > 0 {
		p.used += p.count(headKept) + 1
	}
	lists := found.Lists(p.budget+p.extra-p.used, summary+b.String(), p.count)
	text := join(lists.Rest, lists.Root, lists.Modified, lists.Read)
	if b.Len() == 0 && (lists.Rest != "" || text == "") {
		return text // under a heading of their own
	}
	return strings.TrimSpace(headKept + b.String() + "\n\n" + text)
}

// sections fills an outline. Names that do not belong to a section stand at
// the end.
func (p *parts) sections(found *names.Names, o Outline) string {
	frame := intro + "\n\n" + o.Render(func(Section) string { return "" })
	said := ""
	for _, text := range p.text {
		said += text + "\n"
	}
	files := found.Lists(p.budget+p.extra-p.used-p.count(frame), said, p.count)
	p.text[headRoot], p.text[headModified], p.text[headRead] = files.Root, files.Modified, files.Read
	placed := make(map[string]bool)
	body := o.Render(func(s Section) string {
		var texts []string
		for _, head := range s.parts {
			if !placed[head] {
				texts = append(texts, p.text[head])
				placed[head] = true
			}
		}
		return join(texts...)
	})
	rest := lists.Filter(order[:], func(head string) bool { return !placed[head] })
	others := join(lists.Map(rest, func(head string) string { return p.text[head] })...)
	return join(intro, body, others, files.Rest)
}

// join puts an empty line between texts.
func join(texts ...string) string {
	return strings.Join(slices.DeleteFunc(texts, func(s string) bool { return s == "" }), "\n\n")
}
