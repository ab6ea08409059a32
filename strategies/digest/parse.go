package digest

import (
	"strings"

	"github.com/kagewasm/kagewasm/abi"
)

// Lines that a digest is read back by.
const (
	// intro begins a digest without a summary.
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

// maxEarlier is how much of a summary that somebody else wrote is remembered,
// in bytes.
const maxEarlier = 12 << 10

// summary takes over what an earlier compaction kept. Files, names, commands
// and failures the ledger reads for itself.
func (d *Digest) summary(text string) {
	if inner, ok := abi.Unfence(text); ok {
		text = inner
	}
	ours := strings.HasPrefix(strings.TrimSpace(text), intro)
	foreign := ""
	if !ours {
		foreign, text = cutKept(text)
	}
	p := parser{Digest: d}
	for line := range strings.Lines(text) {
		p.line(strings.TrimRight(line, "\r\n"))
	}
	if strings.TrimSpace(foreign) != "" {
		p.quoted = nil
		for line := range strings.Lines(tailless(foreign, maxEarlier/8)) {
			p.quote(line)
		}
	}
	if len(p.quoted) > 0 {
		d.earlier = p.quoted
	}
}

// cutKept parts a note at what the host added to a summary. A summary of
// another program has nothing of the kind.
func cutKept(text string) (summary, kept string) {
	at := len(text)
	for _, head := range []string{headKept, ledgerHead} {
		if i := strings.Index("\n"+text, "\n"+head+"\n"); i >= 0 && i < at {
			at = i
		}
	}
	return text[:at], text[at:]
}

const ledgerHead = "## Exact names"

// parser reads a digest back, line by line.
type parser struct {
	*Digest
	head   string // the line above the entries
	listed bool   // todos were met: they are the list, and not added to it
	fenced bool
	quoted []string // of the earlier summary
}

func (p *parser) line(line string) {
	if strings.HasPrefix(line, "```") {
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
		p.quoted = append(p.quoted, clip(line, 4*maxEntry))
	}
}
