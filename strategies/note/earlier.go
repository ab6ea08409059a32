package note

import (
	"slices"
	"strconv"
	"strings"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/clip"
	"github.com/kagewasm/kagewasm/internal/toolcall"
	"github.com/kagewasm/kagewasm/strategies/note/internal/names"
)

// maxEarlier is how much of a summary that somebody else wrote is remembered,
// in bytes.
const maxEarlier = 12 << 10

// former is what an earlier note says of the thread: numbers in it are its own.
type former struct {
	turns    []turn
	rules    []rule
	steps    []step
	standing standing
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
		p.quoted = nil
		if _, said, ok := strings.Cut(foreign, "\nSummary:\n"); ok && strings.Contains(foreign, "Analysis:\n") {
			foreign = said // what stands before is how its model came to it
		}
		first, others := openFirst(foreign)
		for _, line := range slices.Concat(first, others) {
			p.quote(line)
		}
		p.openFirst = len(first) > 0 && len(others) > 0
	}
	if len(p.quoted) > 0 {
		n.earlier, n.earlierAge, n.earlierOpen = p.quoted, p.age, p.openFirst
	}
	f.turns, f.rules = readThread(p.thread), p.rules
	f.steps, f.standing = readState(p.state)
	return f
}

// age says when a summary was written that follows message n of a person: before the next one, or in the middle of n
// where the agent goes on with that first.
func age(n int, next []abi.Message, origins []abi.Origin) string {
	for i := range next {
		if origins[i] == abi.FromPerson {
			break
		}
		if n > 0 && (next[i].Role == abi.RoleAssistant || next[i].Role == abi.RoleTool) {
			return withinMark + strconv.Itoa(n) + "]"
		}
	}
	return beforeMark + strconv.Itoa(n+1) + "]"
}

// asides are lines that a harness adds to a summary: they are no part of it, and one
// that tells the agent what to do would be taken for a wish of today.
var asides = []string{"This session is being continued from a previous conversation",
	"If you need specific details from before compaction",
	"Please continue the conversation from where we left", "Continue the conversation from where it left off",
	"Continue with the last task that you were asked to work on"}

// open are words in the titles of sections that say what is still to be done.
var open = []string{"pending", "current", "next", "remaining", "open", "todo", "in progress", "blocked"}

// openFirst are the lines of a summary that somebody else wrote: those that say what was still to be done, where
// there is little room they are what counts, and the others.
func openFirst(text string) (first, others []string) {
	into := &others
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if slices.ContainsFunc(asides, func(s string) bool { return strings.HasPrefix(line, s) }) {
			continue
		}
		if title, ok := sectionTitle(line); ok {
			if into = &others; toolcall.HasAny(strings.ToLower(title), open) {
				into = &first
			}
		}
		*into = append(*into, line)
	}
	return ends(first), ends(others)
}

// ends are the first and the last lines of many, in half of maxEarlier.
func ends(lines []string) []string {
	if len(lines) == 0 {
		return nil
	}
	return strings.Split(clip.Ends(strings.Join(lines, "\n"), maxEarlier/4), "\n")
}

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
		case bare == headThread || bare == headRules || bare == headState || bare == headTodos || bare == headEarlier:
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
	head      string   // the line above the entries
	thread    []string // the lines of the thread
	state     []string // those of the state
	rules     []rule
	openFirst bool   // what it says to be open stands first in it
	age       string // when the earlier summary was written
	listed    bool   // todos were met: they are the list, and not added to it
	fenced    bool
	quoted    []string // of the earlier summary
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
	case headState:
		p.state = append(p.state, line)
	case headRules:
		if r, ok := readRule(entry); listed && ok {
			p.rules = append(p.rules, r)
		}
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
		if text, ok := strings.CutPrefix(line, quoteMark); ok {
			p.quote(text)
		} else if line == openMark {
			p.openFirst = true
		} else if strings.HasPrefix(line, beforeMark) || strings.HasPrefix(line, withinMark) {
			p.age = line
		}
	}
}

// quote takes one line of a summary. Headings in it are none of the note's.
func (p *parser) quote(line string) {
	if line = strings.TrimSpace(strings.TrimLeft(strings.TrimSpace(line), "#")); line != "" {
		p.quoted = append(p.quoted, clip.Words(line, 4*maxEntry))
	}
}

// quoted adds the beginning and the end of a summary that somebody else wrote, and which
// message it is older than.
func (p *parts) quoted(n *Note, budget int) {
	list, lines := n.earlier, []string{headEarlier}
	if n.earlierAge != "" {
		lines = append(lines, n.earlierAge)
	}
	if n.earlierOpen {
		lines = append(lines, openMark)
	}
	cost := func(s string) int { return p.count(quoteMark+s) + 1 }
	budget -= p.count(strings.Join(lines, "\n")) + cost(between)
	from, to, part := 0, len(list), budget*firstPart/100
	for ; from < len(list) && cost(list[from]) <= part; from++ {
		part -= cost(list[from])
	}
	for part += budget - budget*firstPart/100; to > from && cost(list[to-1]) <= part; to-- {
		part -= cost(list[to-1])
	}
	if from == 0 && to == len(list) {
		return
	}
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

const (
	// beforeMark and withinMark say when a summary was written, by the message of a person.
	beforeMark = "It was written before ["
	withinMark = "It was written in the middle of ["
	// openMark says that the order is not its own.
	openMark = "What it says was open then is put first."
	// between stands for the lines of a summary that there is no room for.
	between = "[...]"
	// firstPart is how much of what is shown of a summary is its beginning, in hundredths.
	firstPart = 70
)
