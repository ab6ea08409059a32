package names

import (
	"cmp"
	"context"
	"iter"
	"maps"
	"math"
	slash "path"
	"slices"
	"strings"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/filelist"
	"github.com/kagewasm/kagewasm/internal/lists"
	"github.com/kagewasm/kagewasm/strategies/note/internal/action"
	"github.com/kagewasm/kagewasm/strategies/note/internal/outcome"
)

// Names is what was found in the superseded messages.
type Names struct {
	names    []*item             // ranked, best first
	tools    []*tool             // most called first
	commands []command           // newest last
	failures []Failure           // newest last
	failed   int                 // how many different ones there were
	checks   map[string]unpassed // of failures that ran nothing else
	files    abi.Files           // that calls read and modified
	changes  map[string]int      // the number of the message with the last change of a modified file, from one
	root     string              // folder that paths are relative to, or ""
	unlisted [numLists]bool      // lists of earlier notes had more files than they named
	filed    *[numLists]int      // how many names each list would have, nil before that was asked
	// moreTools: an earlier note may not have listed all tools.
	moreTools bool
	words     *lexicon
}

// item is one exact name.
type item struct {
	name   string
	class  class
	weight float64 // sum of the weights of its mentions, one a message, each by its age
	times  int     // messages that mentioned it
	seen   int     // last message that mentioned it, counted from one
	use    use
	// rooted: the name was an absolute path and is now relative to the root.
	rooted bool
	facts  facts
	// short: the name of a file that is listed with its whole path too.
	short bool
	// tokens is what it costs without its folder, 0 where nobody counted.
	tokens int
	series *string // see kin
	// raised: it bears on what somebody wants to know.
	raised bool
	listed bool // an earlier note listed it
	// given: a call had it where it takes a path.
	given bool
	// kept: messages beside the note hold it.
	kept bool
	// tells is its worth, where it was ranked.
	tells float64
	// written: a person or the agent wrote it, it stood in a file that calls change, or an earlier note had it. Only
	// other output has the others.
	written bool
	// file is the one that it is a line of, where it is a number; alone: it stood without one.
	file  string
	alone bool
	// ofWork: something other than what an agent's program prints of itself mentioned it.
	ofWork bool
	// few: an output mentioned it that names little else.
	few bool
	// acted: a call had it, or what a tool put out, and not only what people and the agent said.
	acted bool
}

// use is the most that was done to a file.
type use uint8

const (
	mentioned use = iota
	read
	modified
)

// How much a mention counts, by who made it. People and the agent's own calls
// say what matters; tool output says what happens to be there.
const (
	weightUser    = 2.0
	weightCall    = 1.5
	weightSummary = 1.5
	weightSaid    = 1.0
	weightOutput  = 0.35
	// fewNames is how many names an output mentions; one with more is a listing, and
	// each name in it counts the less the longer it is.
	fewNames = 200
	// answerNames is how many names an output has that may be an answer: the address of what was made.
	answerNames = 10
	// rareWorth is what a name is worth beside another one that is rarely said again: a
	// path by which code imports other code, the lines of a file that is not told with them, an option of a program, a
	// hash or a setting that nobody wrote.
	// packageWorth is what a package is that code imports: it is told for the reader, and seldom said again.
	// numberWorth is what a number is, shortWorth the name of a file alone, which is said
	// again and again. outputWorth is what a symbol or a number is that nobody wrote and that stood in no file which is
	// changed, however often tools put it out: an agent that needed it had many a chance to write it. More than formTimes
	// messages have it in their form: the keys of what a service answers, the flags of a script. A path that a tool found
	// is there to go to, but for addresses.
	rareWorth    = 0.3
	packageWorth = 0.2
	outputWorth  = 0.65
	formTimes    = 8
	numberWorth  = 0.8
	shortWorth   = 2.0
	// modifiedWorth is what a file that was changed is: a list of them that is not whole hides what was done.
	modifiedWorth = 1.5
	// changedWorth is what a name is worth in the output of a call that read a file which another call changes: who
	// changes a file goes on to use what it holds.
	changedWorth = 1.5
	// oftenPower is the power of the number of messages that mention a name by which it is worth more.
	oftenPower = 0.1
)

// halfAge is the number of messages after which a mention counts half.
const halfAge = 30

// Build reads the messages, oldest first, and ranks what they name. Where calls
// that stay, with their results, were pruned, they are given as they were: what
// their output said is gone as well; the calls themselves are not, and do not
// count. It reads until ctx is done. What found remembers is not looked for again.
func Build(ctx context.Context, msgs, pruned []abi.Message, harness outcome.Harness, found *Found) *Names {
	b := gather(ctx, msgs, pruned, harness, found)
	return b.names()
}

// Failures are those that [Build] finds, oldest first: nothing else is read off the messages.
func Failures(ctx context.Context, msgs, pruned []abi.Message, harness outcome.Harness) []Failure {
	return gather(ctx, msgs, pruned, harness, nil).failures
}

// gather reads the messages, oldest first, and what was pruned. Without what found remembers it looks for failures, and
// for no names.
func gather(ctx context.Context, msgs, pruned []abi.Message, harness outcome.Harness, found *Found) *builder {
	b := &builder{items: make(map[string]*item), calls: make(map[string]*action.Action), tools: make(map[string]*tool),
		met: make(map[string]bool), checks: make(map[string]unpassed), last: len(msgs) + len(pruned), harness: harness,
		found: cmp.Or(found, new(Found)), nameless: found == nil, goOn: func() bool { return ctx.Err() == nil }}
	if !b.nameless {
		b.changing = changedBy(msgs, harness, b.goOn)
	}
	origins := abi.Origins(msgs)
	for i := range msgs {
		if !b.goOn() {
			break
		}
		b.at = i + 1
		b.message(&msgs[i], origins[i])
	}
	for i := range pruned {
		if !b.goOn() {
			break
		}
		b.at++
		m := &pruned[i]
		for k := range m.ToolCalls {
			b.calls[m.ToolCalls[k].ID] = b.harness.Does(&m.ToolCalls[k])
		}
		switch m.Role {
		case abi.RoleTool:
			b.pruned = m.ToolCallID
			b.result(m, m.Text())
		case abi.RoleUser: // what is so long was pasted or printed for the most part
			b.output(cmp.Or(m.Words(), m.Text()), 1, "")
		}
	}
	return b
}

// Empty reports whether there is nothing to keep.
func (l *Names) Empty() bool {
	return len(l.names) == 0 && len(l.commands) == 0
}

// Beside reads messages that stay: names they hold are left out
// of [Names.Lists], but for files, and make room for others.
func (l *Names) Beside(ctx context.Context, stays []abi.Message, harness outcome.Harness, found *Found) {
	kept := make(map[string]bool)
	defer func() {
		for _, it := range l.names {
			it.kept = it.kept || kept[it.name]
		}
	}()
	note := func(text string, as reading) {
		for _, m := range found.look(text, as) {
			kept[m.name] = true
		}
	}
	for i := range stays {
		m := &stays[i]
		as := words
		if m.Role == abi.RoleTool {
			as = output
		}
		for piece := range pieces(m.Text()) {
			if ctx.Err() != nil {
				return
			}
			note(piece, as)
		}
		for k := range m.ToolCalls {
			for _, arg := range harness.Arguments(&m.ToolCalls[k]) {
				note(arg.Value, readingOf(arg.Key, arg.Value))
			}
		}
	}
}

// Raise ranks the names and commands that bear on what somebody wants to know before the
// others.
func (l *Names) Raise(bears func(text string) bool) {
	for _, it := range l.names {
		it.raised = bears(it.name)
	}
	lists.SortStable(l.names, raisedFirst)
}

// raisedFirst orders names that were raised before the others.
func raisedFirst(x, y *item) int {
	switch {
	case x.raised == y.raised:
		return 0
	case x.raised:
		return -1
	}
	return 1
}

// builder collects while the messages go by.
type builder struct {
	items    map[string]*item
	modified []*item                   // those of them that were
	calls    map[string]*action.Action // open tool calls, by id
	tools    map[string]*tool
	commands []command
	failures []Failure
	met      map[string]bool     // texts of failures
	checks   map[string]unpassed // of failures that ran nothing else
	root     string              // what an earlier note says paths are relative to
	at, last int                 // the message being read, and the last one there is, counted from one
	harness  outcome.Harness
	found    *Found
	goOn     func() bool
	removed  []removal
	patches  action.Patches
	changing map[string]bool // files that calls are to change
	nameless bool            // failures are looked for, and no names
	pruned   string          // the call that stays of which the result is read
	unlisted [numLists]bool  // see [Names]
	acting   bool            // calls and what tools put out are read

	moreTools bool // see [Names]
}

func (b *builder) message(m *abi.Message, origin abi.Origin) {
	text := m.Text()
	switch {
	case m.Kind == abi.KindSummary:
		b.summary(text)
		recorded(b, filelist.Of(m))
	case m.Role == abi.RoleTool:
		b.result(m, text)
	case origin == abi.FromExample: // of another task
	case origin == abi.FromHarness && strings.Contains(text, localOutput):
		b.output(text, worthOfProgram, "")
	case origin == abi.FromPerson:
		b.text(m.Words(), words, weightUser, "")
	case m.Role == abi.RoleAssistant:
		b.text(text, words, weightSaid, "")
		for i := range m.ToolCalls {
			b.call(&m.ToolCalls[i])
		}
	default:
		b.output(text, 1, "")
	}
}

// localOutput begins what a harness answered a command of its own: its release notes, its help, its settings.
const localOutput = "<local-command-std"

// worthOfProgram is what a name there is worth beside others: those that nothing else mentions are of the program, and
// not of the work, and are not listed.
const worthOfProgram = 0.01

// text ranks every name in s. Where a file is given the numbers are lines of it.
func (b *builder) text(s string, as reading, weight float64, file string) {
	if b.nameless {
		return
	}
	for piece := range pieces(s) {
		if !b.goOn() {
			return
		}
		for _, m := range b.found.look(piece, as) {
			b.mention(m.name, m.class, weight, mentioned).of(cmp.Or(m.fileOf(""), file))
		}
	}
}

// output ranks every name in what a tool put out: worth times what one in any output is. The file is the one that the
// call searched, empty where there is none.
func (b *builder) output(s string, worth float64, file string) {
	if b.nameless {
		return
	}
	b.acting = true
	defer func() { b.acting = false }()
	for piece := range pieces(s) {
		if !b.goOn() {
			return
		}
		list := b.found.look(piece, output)
		weight := worth * weightOutput * math.Sqrt(fewNames/max(fewNames, float64(len(list))))
		for _, m := range list {
			it := b.mention(m.name, m.class, weight, mentioned)
			it.of(m.fileOf(file))
			it.few = it.few || len(list) <= answerNames
		}
	}
}

// maxPiece is how much of a text is read between two looks at whether to go on, in
// bytes, where it has lines.
const maxPiece = 128 << 10

// pieces are the pieces of a text, each of whole lines: no name goes on in the next
// one.
func pieces(s string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for len(s) > maxPiece {
			end := strings.LastIndexByte(s[:maxPiece], '\n') + 1
			if end == 0 {
				end = strings.IndexByte(s, '\n') + 1
			}
			if end == 0 {
				break
			}
			if !yield(s[:end]) {
				return
			}
			s = s[end:]
		}
		yield(s)
	}
}

// mention counts a name once a message, at the best weight it has there, and returns what is known of it.
func (b *builder) mention(name string, c class, weight float64, u use) *item {
	it := b.items[name]
	if it == nil {
		it = &item{name: name, class: c}
		b.items[name] = it
	}
	if u == modified && it.use != modified {
		b.modified = append(b.modified, it)
	}
	it.use = max(it.use, u)
	it.written = it.written || weight > weightOutput
	it.ofWork = it.ofWork || weight > worthOfProgram*weightOutput
	it.acted = it.acted || b.acting
	if it.seen == b.at {
		return it
	}
	it.seen = b.at
	it.times++
	it.weight += weight / (1 + float64(b.last-b.at)/halfAge)
	return it
}

// passing reports whether a name only went by: it is one of the program that ran the agent, or an address, a version, a
// time or a place in memory that tools alone put out, among others.
// In recorded sessions agents went on to use fewer than one in a hundred of those, and one in ten of the others that
// tools alone put out.
func (it *item) passing() bool {
	switch {
	case !it.ofWork:
		return true
	case it.written || it.few || it.use != mentioned:
		return false
	case it.class == path:
		return strings.Contains(it.name, "://")
	}
	return it.class == number && (it.name[0] == 'v' || strings.Count(it.name, ".") > 1 || isTimestamp(it.name) ||
		isHex(it.name) || strings.IndexByte(it.name, ':') >= 0)
}

// worth is what a name tells: who mentioned it, how often and how long ago. One that was said again and again is said
// again more often than its weight tells.
func (it *item) worth() float64 {
	worth := it.weight * math.Pow(float64(max(it.times, 1)), oftenPower)
	if !it.written && (it.class != path || strings.Contains(it.name, "://")) {
		worth *= outputWorth
		if often := float64(it.times) / formTimes; often > 1 {
			worth /= often * often
		}
	}
	_, _, lines := isRange(it.name)
	switch {
	case it.use == modified:
		return modifiedWorth * worth
	case it.use == mentioned && it.isImport():
		return packageWorth * worth
	case lines, imported(it.name), strings.HasPrefix(it.name, "--"),
		it.class == number && !it.written && strings.ContainsAny(it.name, "abcdef"),
		it.class == symbol && !it.written && strings.IndexByte(it.name, '=') > 0:
		return rareWorth * worth
	case it.class == number:
		return numberWorth * worth
	case it.short:
		return shortWorth * worth
	}
	return worth
}

// value is about what a name tells for the room it takes, where tokens are not counted.
func (it *item) value() float64 { return it.tells / float64(len(it.name)+8) }

func (b *builder) names() *Names {
	l := &Names{tools: rankTools(b.tools), commands: b.commands, failures: b.failures, failed: len(b.met),
		checks: b.checks, unlisted: b.unlisted, moreTools: b.moreTools, words: &b.found.words}
	l.names = slices.SortedFunc(maps.Values(b.items), func(x, y *item) int { return cmp.Compare(x.name, y.name) })
	foldersNotRead(l.names)
	l.root = workdir(l.names, b.root)
	b.remove(l.names, l.root)
	for _, it := range l.names {
		it.facts.moved = relativeTo(l.root, it.facts.moved)
	}
	l.files, l.changes = files(l.names, l.root)
	l.names = mergePaths(withoutWords(slices.DeleteFunc(l.names, (*item).passing)), l.root)
	ranked := lists.Map(l.names, func(it *item) valued {
		it.tells = it.worth()
		return valued{item: it, value: it.value()}
	})
	slices.SortFunc(ranked, func(x, y valued) int {
		if c := cmp.Or(cmp.Compare(y.value, x.value), cmp.Compare(y.seen, x.seen)); c != 0 {
			return c
		}
		return cmp.Compare(x.name, y.name)
	})
	for i := range ranked {
		l.names[i] = ranked[i].item
	}
	return l
}

// foldersNotRead takes folders from what was read: other names lie in them. The items are sorted.
func foldersNotRead(items []*item) {
	for _, it := range items {
		if it.class != path || it.use != read {
			continue
		}
		i, _ := slices.BinarySearchFunc(items, it.name+"/", func(o *item, name string) int {
			return cmp.Compare(o.name, name)
		})
		if i < len(items) && action.Within(items[i].name, it.name) {
			it.use = mentioned
		}
	}
}

// files lists the files that were read and those that were modified, whole
// paths where the root is known.
func files(items []*item, root string) (f abi.Files, changes map[string]int) {
	seen, gone, changes := make(map[string]use), make(map[string]bool), make(map[string]int)
	for _, it := range items {
		if it.class != path || it.use == mentioned {
			continue
		}
		name := unescaped(it.name)
		if root != "" && strings.IndexByte("/~$", name[0]) < 0 && !isWindows(name) {
			name = slash.Join(root, name)
		}
		if seen[name] = max(seen[name], it.use); it.use == modified && it.facts.at >= changes[name] {
			changes[name], gone[name] = it.facts.at, it.facts.gone()
		}
	}
	for _, name := range slices.Sorted(maps.Keys(seen)) {
		switch {
		case seen[name] == read:
			f.Read = append(f.Read, name)
		case gone[name]:
			f.Deleted = append(f.Deleted, name)
			fallthrough
		default:
			f.Modified = append(f.Modified, name)
		}
	}
	return f, changes
}

// isImport reports whether an item is one by which code imports other code, or a package, and no file that lies there.
func (it *item) isImport() bool {
	if it.class != path || it.rooted || strings.IndexByte(it.name, '/') <= 0 || extensions[extension(base(it.name))] {
		return false
	}
	if it.name[0] == '@' {
		return true
	}
	host, _, _ := strings.Cut(it.name, "/")
	return domains[extension(host)] && !strings.Contains(it.name, "://") || standard[host] && isWords(it.name)
}

// imported reports whether a path is one by which code imports other code: its
// first part is a host, or that of packages which come with a language.
func imported(name string) bool {
	host, rest, ok := strings.Cut(name, "/")
	if standard[host] && isWords(name) {
		return true
	}
	return ok && rest != "" && host != "" && host[0] != '.' && strings.Contains(host, ".") &&
		!strings.Contains(name, "://")
}
