// Package action says what a call does, by its arguments alone: to which files, and
// what else it changes. Whether it did is what its result says; see package outcome.
//
// Use [Of]. A tool is told by its name, a script by its commands; the words by which
// they are told stand in words.txt. What cannot be told is told of nobody: a tool that
// is not known is one that does something.
package action

import (
	"hash/fnv"
	"io"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/clip"
	"github.com/kagewasm/kagewasm/internal/lazy"
	"github.com/kagewasm/kagewasm/internal/lower"
	"github.com/kagewasm/kagewasm/internal/set"
	"github.com/kagewasm/kagewasm/internal/toolcall"
)

// Action is what a call does if it ends well.
type Action struct {
	// Tool is the name of the tool, Kind what kind of thing it does.
	Tool string
	Kind Kind
	// Script is what a shell is to run, Steps its commands that do something, in order.
	Script string
	Steps  []Step
	// Commands are all commands of the script.
	Commands []toolcall.Command
	// Files are what it does to files, in order, those of the steps among them.
	Files []File
	// About is what it is about, see [toolcall.Subject].
	About string
	// Args are the short arguments. More: there are others. Long tells those of a call that does something, of which
	// no more is known, from others.
	Args []Arg
	More bool
	Long uint64

	open          File   // what it does to the file that is open, where it names none
	before, after string // the text that an edit replaces, and the one it puts there
	holds         []held // the patches that it writes
	puts          int    // how many lines it puts in the place of those that it names

	normal func() string // nil where nobody remembers it
}

// Normal is the script as it is compared with others, see [toolcall.Normal].
func (a *Action) Normal() string {
	if a.normal == nil {
		return toolcall.Normal(a.Script)
	}
	return a.normal()
}

// Arg is a short argument.
type Arg struct{ Key, Value string }

// Kind is what kind of thing a call does.
type Kind uint8

const (
	Does      Kind = iota // something, of which no more is known
	Looks                 // it changes nothing that lasts
	Changes               // it changes the files of the action
	Runs                  // it runs the script of the action
	Asks                  // it asks the person
	Delegates             // it hands work to another agent
	Silent                // nothing that is worth a word
)

const (
	maxArgs = 100 // arguments that are kept
	maxArg  = 60  // of one of them, in bytes
)

// Of reads what a call does.
func Of(c *abi.ToolCall) *Action { return of(c.Name, toolcall.Strings(c.Arguments)) }

// OfScript reads what a script of a shell does.
func OfScript(script string) *Action {
	a := &Action{Kind: Runs, Script: script, Commands: toolcall.Commands(script)}
	a.steps()
	return a
}

func of(tool string, arguments []toolcall.Pair) *Action {
	a := &Action{Tool: tool, About: toolcall.SubjectOf(arguments)}
	d := draft{action: a, verb: tool}
	for _, arg := range arguments {
		d.argument(arg.Key, arg.Value)
	}
	if d.shell && a.Script != "" {
		a.Commands = toolcall.Commands(a.Script)
	}
	switch {
	case len(d.patched) > 0 && len(d.paths) == 0 && d.applies(): // in whatever the tool takes it
		a.Script, a.Commands, a.Files = "", nil, d.patched
	case a.Script == "":
		a.Files = d.files()
		a.open = File{Use: useOf(d.verb), From: d.from, Last: d.last}
		if d.ranged {
			a.puts = d.puts
		}
	case d.shell:
		a.holds = holdsPatches(a)
		a.steps()
	}
	if len(d.patched) > 0 && len(d.paths) == 1 {
		a.holds = []held{{d.paths[0], d.patched}}
	}
	if a.Kind = a.kind(); a.Kind == Does && a.More {
		h := fnv.New64a()
		for _, arg := range arguments {
			if len(arg.Value) > maxArg || strings.Contains(arg.Value, "\n") {
				_, _ = io.WriteString(h, arg.Key+"\n"+arg.Value+"\n") // a hash takes all
			}
		}
		a.Long = h.Sum64()
	}
	return a
}

// draft collects the arguments of a call.
type draft struct {
	action     *Action
	verb       string // the tool's, or that of an editor that is one tool
	paths      []string
	source, to string // of a move
	shell      bool   // the script is one of a shell
	from, last int    // lines
	puts       int    // lines of the text for the place of those that are named by their numbers
	ranged     bool   // where these end is said
	patched    []File
}

// applies reports whether the patches that were found are applied: a script may only write them into a file.
func (d *draft) applies() bool {
	script := strings.TrimSpace(d.action.Script)
	named := strings.Contains(script, "apply_patch") || strings.Contains(script, "applypatch")
	own := strings.HasPrefix(script, beginsPatch) || named && strings.Contains(script, beginsPatch)
	return len(d.action.Commands) == 0 || own || fedPatch(d.action)
}

func (d *draft) argument(key, value string) {
	a := d.action
	switch {
	case toolcall.IsCommandKey(key) && toolcall.IsEditorVerb(value):
		d.verb = value
	case toolcall.IsCommandKey(key) && a.Script == "":
		a.Script, d.shell = value, key != "code"
	case toolcall.IsPathKey(key) && len(value) < maxPath && value != "":
		d.paths = append(d.paths, value)
	default:
		d.place(key, value)
	}
	d.patched = append(d.patched, patched(value)...)
	arg := Arg{key, strings.TrimSpace(value)}
	if key != "" && arg.Value != "" && len(arg.Value) <= maxArg && len(a.Args) < maxArgs &&
		!strings.Contains(arg.Value, "\n") {
		a.Args = append(a.Args, arg)
	} else if arg.Value != "" {
		a.More = true
	}
}

// maxPath is the longest path, in bytes.
const maxPath = 512

// place reads where in a file an editor is to write, and where a file is to go.
func (d *draft) place(key, value string) {
	switch key {
	case "source", "src", "old_path", "from":
		d.source = value
	case "destination", "dest", "new_path", "to":
		d.to = value
	case "old_string", "old_str", "oldText":
		d.action.before = value
	case "new_string", "new_str", "newText":
		d.action.after = value
	case "text", "replacement_text", "new_text":
		d.puts = len(textLines(strings.TrimSuffix(strings.TrimSuffix(value, "\n"), "end_of_edit")))
	}
	n, err := strconv.Atoi(value)
	if err != nil || n <= 0 {
		return
	}
	switch key {
	case "start_line", "insert_line", "line_start":
		d.from, d.last = n, max(n, d.last)
	case "end_line", "line_end":
		d.last, d.ranged = n, true
	}
}

// files are those of a tool by the name of which it is told what it does to them.
func (d *draft) files() (files []File) {
	use := useOf(d.verb)
	if use == Moved && d.to != "" {
		if d.source != "" {
			d.paths = append(d.paths, d.source)
		}
		if len(d.paths) > 0 {
			return []File{{Path: d.paths[0], Use: Moved, To: d.to}}
		}
	}
	if use == Moved {
		use = Edited // what it was moved to is not known
	}
	for _, p := range d.paths {
		files = append(files, File{Path: p, Use: use})
		if use == Edited && d.from > 0 {
			files[len(files)-1].From, files[len(files)-1].Last = d.from, max(d.from, d.last)
		}
	}
	return files
}

// useOf reads off the name of a tool, or of an editor's verb, what it does to its file.
func useOf(name string) Use {
	name = lower.Text(name)
	has := func(words ...string) bool { return toolcall.HasAny(name, words) }
	switch {
	case has("delete", "remove"):
		return Deleted
	case has("create", "write"):
		return Created
	case has("edit", "patch", "replace", "insert", "append") && name != "str_replace_editor":
		return Edited
	case has("rename", "move"):
		return Moved
	}
	return Read
}

func (a *Action) kind() Kind {
	name := a.plain()
	changes := slices.ContainsFunc(a.Files, func(f File) bool { return f.Use != Read })
	switch {
	case a.Script != "":
		return Runs
	case changes:
		return Changes
	case asks[name]:
		return Asks
	case agents[name]:
		return Delegates
	case silent[name]:
		return Silent
	case a.looks(name):
		return Looks
	}
	return Does
}

// Path is the last of its files, empty where it has none.
func (a *Action) Path() string {
	if len(a.Files) == 0 {
		return ""
	}
	return a.Files[len(a.Files)-1].Path
}

// Whole is a path that the call names, from where its script began: "AGENTS.md" behind "cd /w" is "/w/AGENTS.md".
func (a *Action) Whole(named string) string {
	for i := range a.Files {
		if f := a.Files[i].Path; len(f) > len(named) && Same(f, named) {
			return f
		}
	}
	return named
}

// openMark stands before the file that an editor has open, in its results.
const openMark = "\n(Open file: "

// Answered takes the result of the call: an editor says there which file is open that
// it changes, and shows the lines around the text that it wrote.
func (a *Action) Answered(result string) {
	a.over(result)
	a.printed(result)
	switch {
	case a.Kind == Runs || a.open.Use != Edited:
		return
	case len(a.Files) == 1 && a.Files[0].From == 0:
		a.Files[0].From, a.Files[0].Last = changedLines(result, a.before, a.after)
		return
	case len(a.Files) > 0:
		return
	}
	_, rest, ok := strings.Cut(result, openMark)
	name, _, ended := strings.Cut(rest, ")")
	if ok && ended && name != "n/a" {
		a.open.Path = name
		a.Files, a.Kind = []File{a.open}, Changes
	}
}

// Made takes that the call ended well: an edit that puts a text in the place of lines, which it names by their numbers,
// changed as many lines as the text has.
func (a *Action) Made() {
	if a.puts == 0 || len(a.Files) != 1 || a.Files[0].Use != Edited || a.Files[0].From == 0 {
		return
	}
	a.Files[0].Last = a.Files[0].From + a.puts - 1
}

// over reads whether the files that a tool wrote were there before: its result says so in the first line.
func (a *Action) over(result string) {
	if a.Script != "" {
		return
	}
	line, _, _ := strings.Cut(clip.Head(result, maxPath), "\n")
	if line = lower.Text(line); !strings.Contains(line, "overwr") && !strings.Contains(line, "updated") {
		return
	}
	for i := range a.Files {
		a.Files[i].Over = a.Files[i].Use == Created
	}
}

// plain is the name of the tool without that of its server, in lower case.
func (a *Action) plain() string {
	name := lower.Text(a.Tool)
	if i := strings.LastIndex(name, "__"); i >= 0 {
		name = name[i+2:]
	}
	return name
}

// searches are words in the names of tools that look for something in many files, or list them.
var searches = set.Of(wordLists["searches"]...)

// Searches reports whether the tool looks for something in the files below a folder, or lists them, and reads none.
func (a *Action) Searches() bool {
	return slices.ContainsFunc(parts(a.plain()), func(part string) bool { return searches[part] })
}

// looks reports whether the tool changes nothing that lasts, by its name or by the
// first word of it.
func (a *Action) looks(name string) bool {
	if name == "" {
		return false
	}
	word := name
	if i := strings.IndexAny(name, "_-."); i > 0 {
		word = name[:i]
	}
	i := strings.IndexFunc(a.Tool[1:], unicode.IsUpper) // "ReadFile"
	does := func(part string) bool { return doers[part] }
	if a.asksForMore() || !lookers[name] && slices.ContainsFunc(parts(name), does) {
		return false
	}
	return lookers[name] || readers[word] || i > 0 && readers[lower.Text(a.Tool[:i+1])]
}

// parts are the words of the name of a tool.
func parts(name string) []string {
	return strings.FieldsFunc(name, func(r rune) bool { return strings.ContainsRune("_-.", r) })
}

// asksForMore reports whether the arguments of a tool that looks ask it for more: by a statement that changes a
// database, or by a request that changes something.
func (a *Action) asksForMore() bool {
	return slices.ContainsFunc(a.Args, func(arg Arg) bool {
		return statement().MatchString(arg.Value) ||
			strings.EqualFold(arg.Key, "method") && request().MatchString(arg.Value)
	})
}

var (
	// statement is one that changes a database, request the method of one that changes what it asks for.
	statement = lazy.Regexp(`(?i)^\s*(insert\s+into|update\s+\S+\s+set|delete\s+from|drop\s+\w+|alter\s+\w+|` +
		`create\s+(table|index|view|database|schema|user|role)|truncate|merge\s+into|grant|revoke)\b`)
	request = lazy.Regexp(`(?i)^(post|put|patch|delete)$`)
)
