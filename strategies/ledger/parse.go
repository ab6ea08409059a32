package ledger

import (
	"strings"

	"github.com/kagewasm/kagewasm/abi"
)

// Split parts what an earlier compaction wrote: what it says, without its
// frame, and the entries of the ledger at its end, empty where there is none.
func Split(text string) (says, entries string) {
	if inner, ok := abi.Unfence(text); ok {
		text = inner
	}
	says, entries, _ = strings.Cut(text, heading+"\n")
	return says, entries
}

// summary takes over what an earlier compaction wrote: the entries of its
// ledger for what they were, the rest as text.
func (b *builder) summary(text string) {
	says, entries := Split(text)
	b.text(says, weightSummary)
	b.entries(entries)
}

func (b *builder) entries(text string) {
	root, section := "", ""
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\n")
		if r, ok := strings.CutPrefix(line, rootLine); ok && strings.HasPrefix(r, "/") {
			b.root, root = r, r+"/"
			continue
		}
		if entry, ok := strings.CutPrefix(line, "- "); ok && section != "" {
			b.event(section, entry)
			continue
		}
		section = ""
		switch {
		case line == headCommands || line == headErrors:
			section = line
		case strings.HasPrefix(line, headTools):
			b.toolList(line[len(headTools):])
		case strings.HasPrefix(line, headShort):
			b.list(line[len(headShort):], path)
		case strings.HasPrefix(line, headModified):
			b.files(line[len(headModified):], root, modified)
		case strings.HasPrefix(line, headRead):
			b.files(line[len(headRead):], root, read)
		case strings.HasPrefix(line, headPaths):
			b.files(line[len(headPaths):], root, mentioned)
		case strings.HasPrefix(line, headSymbols):
			b.list(line[len(headSymbols):], symbol)
		case strings.HasPrefix(line, headNumbers):
			b.list(line[len(headNumbers):], number)
		case line != intro:
			b.text(line, weightSummary)
		}
	}
}

// files takes over a line of paths, as absolute ones where the ledger said
// what they are relative to.
func (b *builder) files(line, root string, u use) {
	i := 0
	for name := range strings.FieldsSeq(line) {
		if root != "" && strings.IndexByte("/~$", name[0]) < 0 && !strings.Contains(name, "://") {
			name = root + name
		}
		b.taken(name, path, i, u)
		i++
	}
}

func (b *builder) list(line string, c class) {
	i := 0
	for name := range strings.FieldsSeq(line) {
		b.taken(name, c, i, mentioned)
		i++
	}
}

// taken mentions the name at place i of a list. Whoever wrote the list may
// have written anything.
func (b *builder) taken(name string, c class, i int, u use) {
	if len(name) >= 3 && len(name) <= 2*maxName {
		b.mention(name, c, weightTaken/(1+float64(i)/takenHalf), u)
	}
}

// maxCalls bounds a count that is taken over: it is somebody's word.
const maxCalls = 1_000_000

// toolList takes over the tools of an earlier ledger.
func (b *builder) toolList(line string) {
	for _, t := range parseTools(line) {
		b.tool(t.name)
		b.tools[t.name].calls += min(t.calls, maxCalls) - 1
		for _, p := range t.params {
			b.parameter(t.name, p)
		}
	}
}

// weightTaken is what the first name of a list that is taken over weighs, and
// takenHalf the place at which one weighs half: a list is ranked, and its first
// names must not sink among those that only just got into it.
const (
	weightTaken = 5.0
	takenHalf   = 20
)

func (b *builder) event(section, entry string) {
	if section == headCommands {
		line, failed := strings.CutSuffix(entry, failedMark)
		b.run(line)
		if n := len(b.commands); n > 0 && failed {
			b.commands[n-1].failed = true
		}
		b.text(line, weightSummary)
		return
	}
	text, doing, _ := strings.Cut(entry, whileMark)
	if n := len(b.errors); doing == sameDoing && n > 0 {
		doing = b.errors[n-1].doing
	}
	b.fail([]string{text}, doing, "")
	b.text(text, weightSummary)
}
