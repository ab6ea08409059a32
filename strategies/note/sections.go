package note

import (
	"strings"

	"github.com/kagewasm/kagewasm/strategies/note/internal/names"
)

// Lines above the parts of a note. They are part of its form: a later compaction reads them back. The
// lines of the thread stand in thread.go, of the state in state.go, of what was loaded in loaded.go,
// and of names, commands and failures in package names; heads lists those that are read back.
const (
	// intro begins what the host says, below a summary where there is one.
	intro       = "Read off the session by the host, without a model; what is quoted is word for word."
	recallMark  = "All of it can be read and searched: "
	partRecall  = "A part of it can be read and searched: " // where no transcript has all of it
	headRules   = "## Rules, decisions and lists of messages that are shortened above"
	headTodos   = "## Todos"
	todosBelow  = "This is the list at the end of the messages below." // under that
	headEarlier = "## From the summary of an earlier compaction"
	headCalls   = "## Commands and files" // above those that failed, others, and lists of files
	quoteMark   = "> "
)

// heads are the lines that [parser] goes by.
var heads = []string{intro, headThread, headRules, headLoaded, wasLoaded, headState, headBefore, headLast, belowLine,
	headTodos, headEarlier, headCalls}

// parts are the pieces of a note that are written already, in the order in which a
// reader sees them.
type parts struct {
	texts []string
	left  int // of the budget, in tokens
	held  int // held back for what comes last
	count func(string) int
}

// hold holds so many tokens back, as far as they are left.
func (p *parts) hold(tokens int) {
	p.held = max(0, min(tokens, p.left))
	p.left -= p.held
}

// release gives back what was held back.
func (p *parts) release() { p.left, p.held = p.left+p.held, 0 }

// put adds a piece.
func (p *parts) put(lines ...string) {
	if len(lines) > 0 {
		text := strings.Join(lines, "\n")
		p.texts = append(p.texts, text)
		p.left -= p.count(text) + 1
	}
}

// headed puts a head above the first of the pieces from a place on, unless that has a head of its own.
func (p *parts) headed(head string, from int) {
	if len(p.texts) > from && !strings.HasPrefix(p.texts[from], "## ") {
		p.texts[from] = head + "\n" + p.texts[from]
		p.left -= p.count(head) + 1
	}
}

// share is so many hundredths of what is left.
func (p *parts) share(hundredths int) int { return p.left * hundredths / 100 }

// entries adds the entries that fit into a budget under a head, the newest first,
// in order.
func (p *parts) entries(head string, list []string, budget int) {
	budget -= p.count(head)
	from := len(list)
	for from > 0 {
		n := p.count("- "+list[from-1]) + 1
		if n > budget {
			break
		}
		budget -= n
		from--
	}
	if from == len(list) {
		return
	}
	lines := []string{head}
	for _, s := range list[from:] {
		lines = append(lines, "- "+s)
	}
	p.put(lines...)
}

// names adds the names that fit into what is left. It reports whether there are any, and whether there are files.
func (p *parts) names(found *names.Names, said string) (named, filed bool) {
	lists := found.Lists(p.left, said+"\n"+p.String(), p.count)
	for _, text := range []string{lists.Root, lists.Modified, lists.Read, lists.Rest} {
		if text != "" {
			p.put(text)
		}
	}
	return lists.Named, lists.Filed
}

func (p *parts) String() string { return strings.Join(p.texts, "\n\n") }
