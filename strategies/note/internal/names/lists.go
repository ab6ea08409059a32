package names

import (
	"strings"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/clip"
	"github.com/kagewasm/kagewasm/internal/toolcall"
)

// Lists are the names one list at a time, for a caller that puts them in
// sections of its own. Each is read back by Build wherever it stands in a summary; an empty list is the empty string.
type Lists struct {
	// Root says what the paths in all lists are relative to.
	Root string
	// Modified and Read are the files, with what is known of changes.
	Modified, Read string
	// Rest are the tools and all other names, under [Heading].
	Rest string
	// Named: there is a name in Rest, and not tools alone. Filed: there is a file.
	Named, Filed bool
}

// Lists chooses the names that fit into budget tokens, in all lists together.
// Names that said holds are left out, but for files. The budget is kept but
// for what headings cost.
func (l *Names) Lists(budget int, said string, count func(string) int) Lists {
	var n Lists
	if l.root != "" {
		n.Root = rootLine + l.root
		if budget >= smallNames {
			n.Root += asWritten
		}
	}
	left := budget - count(Heading+"\n"+n.Root)
	tools := l.toolLine(left/toolsPart, count)
	left -= count(tools)
	shown := make(map[string]bool)
	for _, text := range []string{tools, said} {
		l.words.scan(text, words, func(name string, _ class, _ string) { addParts(shown, name) })
	}
	p := l.pick(left, shown, count)
	n.Modified, n.Read = strings.TrimSpace(p.text(listModified)), strings.TrimSpace(p.text(listRead))
	if n.Root != "" && !strings.HasSuffix(n.Root, asWritten) && p.asWritten() {
		n.Root += asWritten
	}
	rest := tools
	for k := listPaths; k < numLists; k++ {
		rest += p.text(k)
	}
	n.Named, n.Filed = rest != tools, n.Modified+n.Read != ""
	if budget < smallNames && !n.Filed && len(p.lists[listPaths]) == 0 {
		n.Root = "" // there is no path that is relative to it
	}
	if rest != "" && n.Root != "" && !n.Filed { // no list of files stands below it
		rest, n.Root = n.Root+"\n"+rest, ""
	}
	if rest != "" {
		n.Rest = Heading + "\n" + strings.TrimRight(rest, "\n")
	}
	return n
}

// toolsPart is the part of the room for names, one of so many, that tools may take.
const toolsPart = 10

// Files returns what tool calls read and modified, whole paths where they are
// known, sorted. What was modified is not listed as read; what of it was deleted or moved away is listed so as well.
func (l *Names) Files() abi.Files { return l.files }

// ModifiedNeed is about the room for names with which the list of files that were modified is whole, in tokens: they
// have half of a little room.
func (l *Names) ModifiedNeed(count func(string) int) (tokens int) {
	for _, it := range l.names {
		if it.use == modified {
			tokens += count(listSeparator+it.name) + count(it.facts.String())
		}
	}
	if tokens == 0 {
		return 0
	}
	return changedPart*(tokens+count(headModified)+1)*toolsPart/(toolsPart-1) + 2*count(Heading)
}

// Changed is the number of the message, counted from one among those that were read, with the last change of a file
// that was modified; more than there are of those where the call of it stays.
func (l *Names) Changed(file string) int { return l.changes[file] }

// Commands returns those of the last commands that a text does not tell, newest last, as
// they read in the root folder; those that failed say so.
func (l *Names) Commands(last int, told string) (lines []string) {
	for _, c := range l.commands[max(0, len(l.commands)-last):] {
		line := relative(c.line, l.root)
		if strings.Contains(told, clip.Head(toolcall.Normal(line), maxCompared)) {
			continue
		}
		if c.failed {
			line += failedMark
		}
		lines = append(lines, line)
	}
	return lines
}

// maxCompared is how much of a command is looked for in a text, in bytes.
const maxCompared = 40

// WithoutTools leaves the tools out: an agent that writes its calls down has none.
func (l *Names) WithoutTools() { l.tools = nil }

// Gone returns the files that were changed and stand there no more: where each was moved, [Elsewhere] where that is not
// known, empty where it was deleted.
func (l *Names) Gone() map[string]string {
	gone := make(map[string]string)
	for _, it := range l.names {
		if it.use == modified && it.facts.gone() {
			gone[it.name] = it.facts.moved
		}
	}
	return gone
}
