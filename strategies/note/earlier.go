package note

import (
	"slices"
	"strconv"
	"strings"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/clip"
	"github.com/kagewasm/kagewasm/strategies/note/internal/names"
)

// maxEarlier is how much of a summary that somebody else wrote is remembered,
// in bytes.
const maxEarlier = 12 << 10

// summary takes over what an earlier compaction kept, and returns the turns of its
// thread. Package names reads the files, names, commands and failures for itself.
func (n *Note) summary(text string) []turn {
	foreign, ours := parted(text)
	p := parser{Note: n}
	for line := range strings.Lines(ours) {
		p.line(strings.TrimRight(line, "\r\n"))
	}
	if strings.TrimSpace(foreign) != "" {
		p.quoted = nil
		if _, said, ok := strings.Cut(foreign, "\nSummary:\n"); ok && strings.Contains(foreign, "Analysis:\n") {
			foreign = said // what stands before is how its model came to it
		}
		for line := range strings.Lines(clip.Ends(foreign, maxEarlier/2)) {
			p.quote(line)
		}
	}
	if len(p.quoted) > 0 {
		n.earlier = p.quoted
	}
	return readThread(p.thread)
}

// Said returns what a summary of an earlier compaction says, for a model that is to
// renew it: without its frame and without what the host added below it, but for the
// thread where there is nothing else. It is empty where there are names alone.
func Said(text string) string {
	foreign, ours := parted(text)
	if foreign = strings.TrimSpace(foreign); foreign != "" {
		return foreign
	}
	var said strings.Builder
	found := false
	for line := range strings.Lines(ours) {
		switch bare := strings.TrimRight(line, "\r\n"); {
		case bare == headThread || bare == headRules || bare == headTodos || bare == headEarlier:
			found = true
		case names.Reserved(bare):
			found = false
		}
		if found {
			said.WriteString(line)
		}
	}
	return strings.TrimSpace(said.String())
}

// parted parts a summary at what the host added to it: its own words stand before.
// Without a frame all of it is another program's.
func parted(text string) (foreign, ours string) {
	inner, ok := abi.Unfence(text)
	if !ok {
		return quote(text), ""
	}
	at := 0
	for line := range strings.Lines(inner) {
		if bare := strings.TrimRight(line, "\r\n"); bare == intro || bare == names.Heading {
			break
		}
		at += len(line)
	}
	return inner[:at], inner[at:]
}

// parser reads a note back, line by line.
type parser struct {
	*Note
	head   string   // the line above the entries
	thread []string // the lines of the thread
	listed bool     // todos were met: they are the list, and not added to it
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
	if reserved(line) {
		p.head = line
		return
	}
	entry, listed := strings.CutPrefix(line, "- ")
	switch p.head {
	case intro:
		if recall, ok := strings.CutPrefix(line, recallMark); ok && !slices.Contains(p.transcripts, recall) {
			p.transcripts = append(p.transcripts, recall)
		}
	case headThread:
		p.thread = append(p.thread, line)
	case headRules:
		number, text, ok := strings.Cut(strings.TrimPrefix(entry, "["), "] ")
		if n, err := strconv.Atoi(number); listed && ok && err == nil {
			p.rules = append(p.rules, rule{n: n, text: text, binds: true})
		}
	case headTodos:
		if t, ok := parseTodo(entry); listed && ok && len(p.todos.list) < maxTodos {
			if !p.listed {
				p.listed, p.todos.list = true, nil
			}
			p.todos.list = append(p.todos.list, t)
		}
	case headEarlier:
		if text, ok := strings.CutPrefix(line, quoteMark); ok {
			p.quote(text)
		}
	}
}

// quote takes one line of a summary. Headings in it are none of the note's.
func (p *parser) quote(line string) {
	if line = strings.TrimSpace(strings.TrimLeft(strings.TrimSpace(line), "#")); line != "" {
		p.quoted = append(p.quoted, clip.Words(line, 4*maxEntry))
	}
}

// quoted adds the beginning and the end of a summary that somebody else wrote: what it
// is about, and where it stood.
func (p *parts) quoted(head string, list []string, budget int) {
	cost := func(s string) int { return p.count(quoteMark+s) + 1 }
	budget -= p.count(head) + cost(between)
	from, to, half := 0, len(list), budget/2
	for ; from < len(list) && cost(list[from]) <= half; from++ {
		half -= cost(list[from])
	}
	for half += budget - budget/2; to > from && cost(list[to-1]) <= half; to-- {
		half -= cost(list[to-1])
	}
	if from == 0 && to == len(list) {
		return
	}
	lines := []string{head}
	for i, s := range list {
		if i == from && i < to {
			lines = append(lines, quoteMark+between)
		}
		if i < from || i >= to {
			lines = append(lines, quoteMark+s)
		}
	}
	p.put(lines...)
}

// between stands for the lines of a summary that there is no room for.
const between = "[...]"
