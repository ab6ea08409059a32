package note

import (
	"slices"
	"strings"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/clip"
	"github.com/kagewasm/kagewasm/strategies/note/internal/names"
)

// former is what an earlier note says of the thread: numbers in it are its own.
type former struct {
	turns    []turn
	rules    []rule
	steps    []step
	standing standing
	loads    loads
	foreign  bool // somebody else wrote a part of it
}

// summary takes over what an earlier compaction kept, and returns its thread. Package
// names reads the files, names, commands and failures for itself.
func (n *Note) summary(text string) *former {
	foreign, ours := parted(text)
	p := parser{Note: n}
	for line := range strings.Lines(ours) {
		p.line(strings.TrimRight(line, "\r\n"))
	}
	f := &former{foreign: strings.TrimSpace(foreign) != ""}
	if f.foreign {
		if _, said, ok := strings.Cut(foreign, "\nSummary:\n"); ok && strings.Contains(foreign, "Analysis:\n") {
			foreign = said // what stands before is how its model came to it
		}
		p.past = pastOf(foreign)
	}
	if !p.past.none() {
		n.past = p.past
	}
	f.turns, f.rules = readThread(p.thread), p.rules
	f.steps, f.standing = readState(p.state)
	f.loads = p.loads
	return f
}

// asides are lines that a harness adds to a summary: they are no part of it, and one
// that tells the agent what to do would be taken for a wish of today.
var asides = []string{"This session is being continued from a previous conversation",
	"If you need specific details from before compaction",
	"Please continue the conversation from where we left", "Continue the conversation from where it left off",
	"Continue with the last task that you were asked to work on"}

// sectionTitle is the title of a section that a line begins: a heading, or a numbered
// line that ends with a colon, "7. Pending Tasks:".
func sectionTitle(line string) (string, bool) {
	if title, ok := heading(line); ok {
		return title, true
	}
	bare, item := listItem(line)
	if title, ok := strings.CutSuffix(plain(bare), ":"); ok && item && clip.Digits(line) > 0 && len(title) < 60 {
		return title, true
	}
	return "", false
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
		case bare != intro && bare != headCalls && slices.Contains(heads, bare):
			found = true
		case bare == headCalls, names.Reserved(bare):
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
	loads  loads
	head   string   // the line above the entries
	thread []string // the lines of the thread
	state  []string // those of the state
	rules  []rule
	past   past
	into   *[]string // the lines of it that a quote is added to
	listed bool      // todos were met: they are the list, and not added to it
	fenced bool
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
		recall, all := strings.CutPrefix(line, recallMark)
		recall, part := strings.CutPrefix(recall, partRecall)
		if (all || part) && !slices.Contains(p.transcripts, recall) {
			p.transcripts = append(p.transcripts, recall)
		}
	case headThread:
		p.thread = append(p.thread, line)
	case headState, headBefore, headLast, belowLine:
		p.state = append(p.state, line)
	case headRules:
		if r, ok := readRule(entry); listed && ok {
			p.rules = append(p.rules, r)
		}
	case headLoaded, wasLoaded:
		p.loads.line(line)
	case headTodos:
		if !listed {
			return
		}
		if !p.listed {
			p.listed, p.todos.list, p.todos.finished, p.todos.open = true, nil, 0, 0
		}
		if t, ok := parseTodo(entry); ok && len(p.todos.list) < maxTodos {
			p.todos.list = append(p.todos.list, t)
		} else {
			p.todos.counted(entry)
		}
	case headEarlier:
		p.past.line(line, &p.into)
	}
}
