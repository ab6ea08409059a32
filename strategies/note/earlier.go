package note

import (
	"slices"
	"strings"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/clip"
	"github.com/kagewasm/kagewasm/strategies/note/internal/names"
)

// maxEarlier is how much of a summary that somebody else wrote is remembered,
// in bytes.
const maxEarlier = 12 << 10

// summary takes over what an earlier compaction kept. Package names reads the
// files, names, commands and failures for itself.
func (n *Note) summary(text string) {
	text, ours := unframed(text)
	foreign := ""
	if !ours {
		foreign, text = cutAt(text, headKept, names.Heading)
	}
	p := parser{Note: n}
	for line := range strings.Lines(text) {
		p.line(strings.TrimRight(line, "\r\n"))
	}
	if strings.TrimSpace(foreign) != "" {
		p.quoted = nil
		for line := range strings.Lines(clip.Head(foreign, maxEarlier)) {
			p.quote(line)
		}
	}
	if len(p.quoted) > 0 {
		n.earlier = p.quoted
	}
}

// Said returns what a summary of an earlier compaction says, for a model that is
// to renew it: without its frame and what the host added below it; of a note
// without a summary, its sections. It is empty where there are names alone.
func Said(text string) string {
	text, ours := unframed(text)
	heads := []string{headKept, names.Heading}
	if ours {
		text = strings.TrimPrefix(text, intro)
		heads = heads[1:]
	}
	said, _ := cutAt(text, heads...)
	return strings.TrimSpace(said)
}

// unframed is a summary without its frame, and whether it is a note of ours from
// its first line on. Without a frame it is another program's.
func unframed(text string) (inner string, ours bool) {
	inner, ok := abi.Unfence(text)
	if !ok {
		inner = quote(text)
	}
	inner = strings.TrimSpace(inner)
	return inner, strings.HasPrefix(inner, intro)
}

// cutAt parts a note at what the host added to a summary: at the first line
// that is one of the heads.
func cutAt(text string, heads ...string) (summary, kept string) {
	at := 0
	for line := range strings.Lines(text) {
		if slices.Contains(heads, strings.TrimSuffix(line, "\n")) {
			break
		}
		at += len(line)
	}
	return text[:at], text[at:]
}

// parser reads a note back, line by line.
type parser struct {
	*Note
	head   string // the line above the entries
	listed bool   // todos were met: they are the list, and not added to it
	fenced bool
	quoted []string // of the earlier summary
}

func (p *parser) line(line string) {
	if strings.HasPrefix(line, fence) {
		p.fenced = !p.fenced
		return
	}
	if p.fenced {
		return
	}
	if text, ok := strings.CutPrefix(line, quoteMark); ok && p.head == headEarlier {
		p.quote(text)
		return
	}
	entry, ok := strings.CutPrefix(line, "- ")
	if !ok {
		p.head = line
		return
	}
	switch p.head {
	case headRequests:
		p.requests = add(p.requests, entry, maxRequests, true)
	case headMusts:
		p.musts = add(p.musts, entry, maxMusts, true)
	case headDecisions:
		p.decisions = add(p.decisions, entry, maxDecisions, false)
	case headNext:
		p.next = add(p.next, entry, maxNext, false)
	case headTodos:
		if t, ok := parseTodo(entry); ok && len(p.todos.list) < maxTodos {
			if !p.listed {
				p.listed, p.todos.list = true, nil
			}
			p.todos.list = append(p.todos.list, t)
		}
	}
}

// quote takes one line of a summary. Headings in it are none of the note's.
func (p *parser) quote(line string) {
	if line = strings.TrimSpace(strings.TrimLeft(strings.TrimSpace(line), "#")); line != "" {
		p.quoted = append(p.quoted, clip.Words(line, 4*maxEntry))
	}
}
