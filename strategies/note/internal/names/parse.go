package names

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/set"
	"github.com/kagewasm/kagewasm/internal/toolcall"
	"github.com/kagewasm/kagewasm/strategies/note/internal/action"
)

// Reserved reports whether a line of a summary is read back as one of this
// package's own. In a text that somebody else wrote it must not stand as it is.
func Reserved(line string) bool {
	line = renewed(line)
	head := headOf(line)
	return line == Heading || strings.HasPrefix(line, rootLine) || sectionHeads[line] ||
		head == headTools || listHeads[head] != none
}

// Lines that begin a list: those above its entries, and those that hold all of
// it.
var (
	sectionHeads = set.Of(HeadCommands, HeadFailed, HeadErrors, headModified, headRead, headPaths,
		headPackages)
	fileHeads = map[string]use{headModified: modified, headRead: read, headPaths: mentioned,
		headPackages: mentioned}
	listHeads = map[string]class{headShort: path, headSymbols: symbol, headNumbers: number}
)

// formerHeads are lines as earlier versions wrote them.
var formerHeads = map[string]string{"Tools called:": headTools, "Files modified:": headModified,
	"Files read:": headRead, "Other paths:": headPaths,
	"Commands run, newest last:": HeadCommands, "File names used alone:": headShort}

// renewed is a line as it would be written today.
func renewed(line string) string {
	head := headOf(line)
	if now, ok := formerHeads[head]; ok {
		return now + line[len(head):]
	}
	return line
}

// headOf is the beginning of a line up to its first colon.
func headOf(line string) string {
	head, _, _ := strings.Cut(line, ":")
	return head + ":"
}

// summary takes over what an earlier compaction wrote: the lists of names for
// what they were, the rest as text. Without our frame nothing in it is ours.
func (b *builder) summary(text string) {
	inner, ok := abi.Unfence(text)
	if !ok {
		b.text(text, words, weightSummary, "")
		return
	}
	text = inner
	if _, rest, ok := strings.Cut("\n"+text, "\n"+rootLine); ok && strings.HasPrefix(rest, "/") {
		line, _, _ := strings.Cut(rest, "\n")
		b.root = strings.TrimSuffix(strings.TrimSuffix(line, asWritten), wereWritten)
	}
	e := entries{builder: b}
	for line := range strings.Lines(text) {
		e.line(strings.TrimRight(line, "\n"))
	}
	if !e.tooled { // it had no room for tools, or there were none
		moreCalls(b, nil)
	}
}

// recorded takes over the files that the record of an earlier compaction has: its note may have had no room for all.
func recorded(b *builder, f abi.Files) {
	if b.nameless {
		return
	}
	for _, file := range f.Read {
		doneTo(b, file, weightOutput, read)
	}
	deleted := set.Of(f.Deleted...)
	for _, file := range f.Modified {
		it := doneTo(b, file, weightOutput, modified)
		if it == nil {
			continue
		}
		if it.facts == (facts{}) {
			it.facts.edits = 1 // how often is not known
		}
		it.facts.deleted = deleted[file] && it.facts.moved == ""
	}
}

// wereWritten is asWritten in earlier versions.
const wereWritten = ", or as they were written"

// entries reads what a compaction wrote, line by line.
type entries struct {
	*builder
	section string // the heading above
	at      int    // place in a list of files
	block   []string
	inBlock bool
	tooled  bool // it lists tools
}

func (e *entries) line(line string) {
	switch {
	case strings.HasPrefix(line, blockMark):
		if n := len(e.block); e.inBlock && n > 0 && n <= maxBlock && (e.section == HeadFailed || e.section == HeadErrors) {
			f, a := Failure{Text: strings.Join(e.block, "\n")}, &action.Action{}
			if command, ok := strings.CutPrefix(e.block[0], commandMark); ok {
				a = action.OfScript(command)
				f.normal, f.dir = toolcall.Normal(command), a.Dir()
			} else if e.section == HeadErrors {
				f.file = toChange(e.block[0])
			}
			e.remember(f, a)
		}
		e.inBlock, e.block = !e.inBlock, nil
		return
	case e.inBlock:
		if len(e.block) <= maxBlock {
			e.block = append(e.block, line)
		}
		e.text(line, words, weightSummary, "")
		return
	}
	if entry, ok := strings.CutPrefix(line, "- "); ok && e.section != "" {
		if u, ok := fileHeads[e.section]; ok && isMoreFiles(entry) {
			e.unlisted[(&item{class: path, use: u}).list()] = true
		} else if ok {
			e.files(entry, u)
		} else {
			e.ran(entry)
		}
		return
	}
	if e.section == HeadFailed || e.section == HeadErrors {
		if n := len(e.failures); n > 0 && e.failures[n-1].became(line) {
			return
		}
	}
	e.section, e.at = "", 0
	line = renewed(line)
	head := headOf(line)
	rest := strings.TrimPrefix(line, head)
	switch {
	case sectionHeads[line]:
		e.section = line
	case head == headTools:
		e.tooled = true
		e.toolList(rest)
	case listHeads[head] != none:
		e.list(rest, listHeads[head])
	case !Reserved(line):
		e.text(line, words, weightSummary, "")
	}
}

// maxBlock is more lines than a failure of ours can have.
const maxBlock = 500

// files takes over a line of paths: those of a folder, or those that were
// given as relative ones.
func (e *entries) files(line string, u use) {
	dir, root := "", ""
	if e.root != "" {
		root = e.root + "/"
	}
	for line != "" {
		var word, about string
		word, line, _ = strings.Cut(line, " ")
		for strings.HasSuffix(word, "\\") && line != "" && len(word) <= maxName { // a blank of its own
			rest := ""
			rest, line, _ = strings.Cut(line, " ")
			word += " " + rest
		}
		if d, ok := strings.CutSuffix(word, "/:"); ok && dir == "" && e.section != "" {
			if written, ok := strings.CutPrefix(d, unknownAbove); ok && written != "" {
				dir = written + "/"
			} else if dir = d + "/"; d == "." {
				dir = root
			} else if isBelow(dir) && e.section != headPackages {
				dir = root + dir
			}
			continue
		}
		if strings.HasPrefix(line, "(") {
			about, line, _ = strings.Cut(line[1:], ")")
			line = strings.TrimLeft(line, " ")
		}
		if word == "" {
			continue
		}
		name, times, _ := strings.Cut(word, timesMark)
		if dir == "" && u != mentioned && isBelow(name) {
			name = root + name
		}
		e.taken(dir+name, path, e.at, u)
		if it := e.items[dir+name]; it != nil && u == modified {
			it.facts = parseFacts(times, about)
		}
		e.at++
	}
}

// isBelow reports whether a path is one below a root: it begins with no root itself.
func isBelow(name string) bool {
	return name != "" && strings.IndexByte(`/~$\`, name[0]) < 0 && !strings.Contains(name, ":") && ending(name) == name
}

// maxLines is how long the numbers of lines are, in bytes.
const maxLines = 16

// parseFacts reads back what [facts.String] wrote: how often, and what in parentheses.
func parseFacts(times, about string) (f facts) {
	n, _ := strconv.Atoi(times)
	if f.edits = max(0, min(n, maxCalls)); times == "" && about == "" {
		f.edits = 1
	}
	for part := range strings.SplitSeq(about, ", ") {
		what, lines, _ := strings.Cut(strings.TrimPrefix(part, "last "), " ")
		switch {
		case part == "created", part == "created"+madeFirst, part == "created before": // as earlier versions wrote it
			f.created = true
		case part == "written":
			f.written = true
		case part == "deleted":
			f.deleted = true
		case part == madeAgain:
			f.again = true
		case part == perhapsDeleted:
			f.perhaps = true
		case part == "edited":
			f.edits = 1
		case part == movedHere:
		case strings.HasPrefix(part, wasMark):
			f.was = strings.TrimPrefix(part, wasMark)
		case strings.HasPrefix(part, "moved"):
			f.moved = cmp.Or(strings.TrimPrefix(strings.TrimPrefix(part, "moved"), " to "), Elsewhere)
		case what == "line" || what == "lines":
			if strings.Trim(lines, "0123456789-") == "" && len(lines) < maxLines {
				f.lines = lines
			}
		}
	}
	return f
}

func (b *builder) list(line string, c class) {
	i := 0
	for entry := range strings.FieldsSeq(line) {
		file, names := "", func(yield func(string) bool) { yield(entry) }
		if c == number {
			file, names = readNumbers(entry)
		}
		for name := range names {
			if b.taken(name, c, i, mentioned); b.items[name] != nil {
				b.items[name].of(file)
			}
			i++
		}
	}
}

// taken mentions the name at place i of a list. Whoever wrote the list may
// have written anything.
func (b *builder) taken(name string, c class, i int, u use) {
	if len(name) >= 3 && len(name) <= 2*maxName {
		_, shown := (&item{name: name, class: c}).folded()
		b.mention(name, c, weightTaken/(1+float64(i)/takenHalf)*float64(len(shown))/takenLength, u)
		b.items[name].written, b.items[name].listed = true, true
	}
}

// maxCalls bounds a count that is taken over: it is somebody's word.
const maxCalls = 1_000_000

// listsTool reports whether a list of tools holds one.
func listsTool(list []tool, name string) bool {
	return slices.ContainsFunc(list, func(t tool) bool { return t.name == name })
}

// moreCalls notes that an earlier note did not list all tools: of those that it did not list there may be more calls.
func moreCalls(b *builder, listed []tool) {
	b.moreTools = true
	for name, t := range b.tools {
		t.more = t.more || !listsTool(listed, name)
	}
}

// toolList takes over the tools of an earlier note.
func (b *builder) toolList(line string) {
	list := parseTools(line)
	if strings.HasSuffix(line, otherTools) || strings.HasSuffix(line, perhapsTools) {
		moreCalls(b, list)
	}
	for _, t := range list {
		met := b.tools[t.name] != nil
		b.tool(t.name)
		b.tools[t.name].calls += min(t.calls, maxCalls) - 1
		b.tools[t.name].more = t.more || met && b.tools[t.name].more
		for _, p := range t.params {
			b.parameter(t.name, p)
		}
	}
}

// weightTaken is what the first name of a list that is taken over weighs, and
// takenHalf the place at which one weighs half: a list is ranked, and its first
// names must not sink among those that only just got into it. It is ranked by weight over
// room, so this holds for a name of takenLength letters: a longer one at the same place
// weighed more.
const (
	weightTaken = 4.0
	takenHalf   = 20
	takenLength = 12
)

// ran takes over a command that was run.
func (b *builder) ran(entry string) {
	line, failed := strings.CutSuffix(entry, failedMark)
	b.run(line)
	if n := len(b.commands); n > 0 && failed {
		b.commands[n-1].failed = true
	}
	b.text(line, words, weightSummary, "")
}
