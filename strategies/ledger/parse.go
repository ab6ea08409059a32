package ledger

import (
	"strings"

	"github.com/kagewasm/kagewasm/abi"
)

// summary takes over what an earlier compaction wrote: the entries of its
// ledger for what they were, the rest as text.
func (b *builder) summary(text string) {
	if inner, ok := abi.Unfence(text); ok {
		text = inner
	}
	before, ledger, found := strings.Cut(text, heading+"\n")
	b.text(before, weightSummary)
	if found {
		b.entries(ledger)
	}
}

func (b *builder) entries(text string) {
	root, section := "", ""
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\n")
		if r, ok := strings.CutPrefix(line, rootLine); ok {
			root = r + "/"
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
	for i, name := range strings.Split(line, listSeparator) {
		if root != "" && name != "" && name[0] != '/' && name[0] != '~' && !strings.Contains(name, "://") {
			name = root + name
		}
		b.mention(name, path, weightSummary*rankWeight(i), u)
	}
}

func (b *builder) list(line string, c class) {
	for i, name := range strings.Split(line, listSeparator) {
		b.mention(name, c, weightSummary*rankWeight(i), mentioned)
	}
}

// toolList takes over the tools of an earlier ledger.
func (b *builder) toolList(line string) {
	for _, t := range parseTools(line) {
		b.tool(t.name)
		b.tools[t.name].calls += t.calls - 1
		for _, p := range t.params {
			b.parameter(t.name, p)
		}
	}
}

// rankWeight keeps the order of a list that is taken over.
func rankWeight(i int) float64 { return 1 / (1 + float64(i)/100) }

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
	b.fail([]string{text}, doing)
	b.text(text, weightSummary)
}
