package names

import "strings"

// Lists are the names one list at a time, for a caller that puts them in
// sections of its own. Each is written as Render writes it, and is read back
// by Build wherever it stands in a summary; an empty list is the empty string.
type Lists struct {
	// Root says what the paths in all lists are relative to.
	Root string
	// Modified and Read are the files, with what is known of changes.
	Modified, Read string
	// Rest are the tools and all other names, under [Heading].
	Rest string
}

// Lists chooses the names that fit into budget tokens, in all lists together.
// Names that said holds are left out, but for files. The budget is kept but
// for what headings cost.
func (l *Names) Lists(budget int, said string, count func(string) int) Lists {
	var n Lists
	if l.root != "" {
		n.Root = rootLine + l.root
	}
	left := budget - count(Heading+"\n"+intro+"\n"+n.Root)
	tools := l.toolLine(left/10, count)
	left -= count(tools)
	shown := make(map[string]bool)
	for _, text := range []string{tools, said} {
		scan(text, false, func(name string, c class) {
			if c != path {
				addParts(shown, name)
			}
		})
	}
	p := l.pick(left, shown, count)
	n.Modified, n.Read = strings.TrimSpace(p.text(listModified)), strings.TrimSpace(p.text(listRead))
	rest := tools
	for k := listPaths; k < numLists; k++ {
		rest += p.text(k)
	}
	if rest != "" {
		n.Rest = Heading + "\n" + intro + "\n" + strings.TrimRight(rest, "\n")
	}
	return n
}

// Files returns what tool calls read and modified, whole paths where they are
// known, sorted. What was modified is not listed as read.
func (l *Names) Files() (read, modified []string) { return l.files[0], l.files[1] }

// Commands returns the last commands that were run, newest last, at most max of
// them, as they read in the root folder; those that failed say so.
func (l *Names) Commands(max int) []string {
	var lines []string
	for i := len(l.commands) - min(max, len(l.commands)); i < len(l.commands); i++ {
		lines = append(lines, strings.TrimPrefix(l.commandLine(i), "- "))
	}
	return lines
}

// WithoutTools leaves the tools out: an agent that writes its calls down has none.
func (l *Names) WithoutTools() { l.tools = nil }
