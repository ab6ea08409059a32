package action

import (
	"cmp"
	"path"
	"slices"
	"strings"
	"sync"

	"github.com/kagewasm/kagewasm/internal/lazy"
	"github.com/kagewasm/kagewasm/internal/lists"
	"github.com/kagewasm/kagewasm/internal/set"
)

// writer is a program that changes files, or reads them.
type writer struct {
	// does is what it does to its operands. Behind a dash stands which of them count, where not all do.
	does, which string
	options     map[string]option
	needs       bool // without an option it changes nothing
}

// option is one of a writer.
type option struct {
	value    byte // '=': it has a value, '~': at most one that it is written together with, '#': such a number, 0: none
	has      bool // it has the writer change files
	onlyTell bool // with it the writer does nothing that can be told
}

// writers are those of words.txt by their names, "sed", or "git rm" with what it is told to do first.
var writers = sync.OnceValue(func() map[string]*writer {
	all := make(map[string]*writer)
	var w *writer
	for _, line := range wordLists["writers"] {
		names, options, first := strings.Cut(line, ": ")
		words := strings.Fields(line) // the line before goes on
		if first {
			words = strings.Fields(options)
			w = &writer{options: make(map[string]option)}
			w.does, w.which, _ = strings.Cut(words[0], "-")
			for _, name := range strings.Split(names, "|") {
				all[name] = w
			}
			words = words[1:]
		}
		for _, word := range words {
			w.mark(word)
		}
	}
	return all
})

// mark adds an option as words.txt has it.
func (w *writer) mark(word string) {
	o := option{has: word[0] == '+', onlyTell: word[0] == '!'}
	word = strings.TrimLeft(word, "+!")
	if last := word[len(word)-1]; len(word) > 2 && strings.IndexByte("=~#", last) >= 0 {
		o.value, word = last, word[:len(word)-1]
	}
	w.options[word], w.needs = o, w.needs || o.has
}

// writerOf is the program of a command that changes files, and what it is given; nil where it is none.
func writerOf(words []string) (*writer, []string) {
	if len(words) > 1 {
		if w := writers()[words[0]+" "+words[1]]; w != nil {
			return w, words[2:]
		}
	}
	if len(words) == 0 {
		return nil, nil
	}
	return writers()[words[0]], words[1:]
}

// given is what a writer is given.
type given struct {
	values   map[string][]string // of its options, an empty one where it has none
	operands []string
	dashed   []string // operands behind "--"
	doubt    bool     // a word may be an operand or the value of an option
	idle     bool     // it changes nothing that can be told
}

func (g *given) has(options ...string) bool {
	return slices.ContainsFunc(options, func(o string) bool { return g.values[o] != nil })
}

// value is what the last of some options is given.
func (g *given) value(options ...string) (value string) {
	for _, o := range options {
		if list := g.values[o]; len(list) > 0 {
			value = cmp.Or(list[len(list)-1], value)
		}
	}
	return value
}

// read tells options, their values and operands apart.
func (w *writer) read(args []string) given {
	g := given{values: make(map[string][]string), idle: w.needs}
	for len(args) > 0 {
		word := args[0]
		args = args[1:]
		switch {
		case word == "--":
			g.operands, g.dashed, args = append(g.operands, args...), args, nil
		case word == "", word == "-":
		case word[0] != '-':
			g.operands = append(g.operands, word)
		default:
			args = w.option(&g, word, args)
		}
	}
	tells := false
	for name := range g.values {
		g.idle, tells = g.idle && !w.options[name].has, tells || w.options[name].onlyTell
	}
	g.idle = g.idle || tells
	return g
}

// option reads a word with an option, or with several short ones, and returns what stands behind it and its value.
func (w *writer) option(g *given, word string, args []string) []string {
	name, value, with := strings.Cut(word, "=")
	if _, ok := w.options[word]; ok {
		name, with = word, false // "-write=false"
	}
	known, ok := w.options[name]
	switch {
	case !ok && w.short(g, word, &args):
		return args
	case with && value == "false": // as if it were not there
		return args
	case !with && known.value == '=' && len(args) > 0:
		value, args = args[0], args[1:]
	case !with && !ok && !alone(name) && len(args) > 0 && !strings.HasPrefix(args[0], "-"):
		g.doubt, args = true, args[1:]
	}
	g.values[name] = append(g.values[name], value)
	return args
}

// alone reports whether an option stands alone whatever the program.
func alone(option string) bool {
	return strings.HasPrefix(option, "--no-") || option == "--quiet" || option == "--verbose" || option == "--silent"
}

// short reads short options in one word, "-sLo", of which the last may have a value. It reads nothing and reports false
// where one of them is not known.
func (w *writer) short(g *given, word string, args *[]string) bool {
	if word[1] == '-' {
		return false
	}
	found := make(map[string]string)
	rest := *args
	for i := 1; i < len(word); i++ {
		name := "-" + word[i:i+1]
		o, ok := w.options[name]
		if !ok {
			return false
		}
		found[name] = ""
		if o.value == '#' {
			i = len(word) - len(strings.TrimLeft(word[i+1:], "0123456789")) - 1
		}
		if o.value == 0 || o.value == '#' {
			continue
		}
		if found[name] = word[i+1:]; found[name] == "" && o.value == '=' && len(rest) > 0 {
			found[name], rest = rest[0], rest[1:]
		}
		break
	}
	for name, value := range found {
		g.values[name] = append(g.values[name], value)
	}
	*args = rest
	return true
}

// written reads which files a command changes or reads that is fed a text. Of what may be the value of an option
// nothing is said.
func (n *named) written(words []string, fed string) {
	if len(words) > 0 && words[0] == "find" {
		n.found(words[1:])
		return
	}
	w, args := writerOf(words)
	if w == nil {
		return
	}
	g := w.read(dashed(words[0], args))
	if g.idle {
		return
	}
	switch w.does {
	case "reads":
		n.add(Read, w.changed(&g)...)
	case "searches":
		n.add(Read, lists.Filter(w.changed(&g), isFile)...)
	default:
		n.unknown = n.unknown || g.doubt
		n.changed(w, &g, words[0], fed)
	}
}

// changed reads which files a program changes by what it is given.
func (n *named) changed(w *writer, g *given, program, fed string) {
	switch w.does {
	case "deletes":
		if n.unknown = n.unknown || g.has("--cached"); !g.has("--cached") {
			n.add(Deleted, g.operands...)
		}
	case "shreds":
		use := Edited
		if g.has("-u", "--remove") {
			use = Deleted
		}
		n.add(use, g.operands...)
	case "moves", "copies":
		n.placed(w.does == "moves", g)
	case "syncs":
		if g.areFiles() {
			n.placed(false, g)
		}
	case "archives":
		if g.has("-c", "--create") {
			n.add(Created, lists.Filter([]string{g.value("-f", "--file")}, isArchive)...)
		}
	case "applies":
		n.applied(g, fed)
	case "lines": // an editor of lines, which writes where it is told to
		if writesLines().MatchString(fed) {
			n.add(Edited, w.changed(g)...)
		}
	case "makes":
		for _, folder := range g.operands {
			if !strings.ContainsAny(folder, patterns) {
				n.makes = append(n.makes, in(n.dir, folder))
			}
		}
	case "creates":
		use := Created
		if g.has("-a", "--append") && program == "tee" {
			use = Edited
		}
		n.add(use, g.operands...)
	case "dumps":
		for _, operand := range g.operands {
			if file, ok := strings.CutPrefix(operand, "of="); ok {
				n.add(Created, file)
			}
		}
	case "fetches":
		n.add(Created, fetched(program, g)...)
	case "streams":
		use := Read
		if program == "sed" && g.has("-i", "--in-place") || g.value("-i", "--include") == "inplace" {
			use = Edited
		}
		if first := g.operands; len(first) > 1 && suffix().MatchString(first[0]) {
			g.operands = first[1:]
		}
		n.add(use, lists.Filter(g.behind(), func(o string) bool { return !strings.Contains(o, "=") })...)
	case "restores":
		if !g.has("-S", "--staged") || g.has("-W", "--worktree") {
			n.add(Edited, lists.Filter(w.changed(g), isFile)...)
		}
	case "formats":
		n.add(Edited, lists.Filter(w.changed(g), isFile)...)
	default:
		n.add(Edited, w.changed(g)...)
	}
}

// areFiles reports whether what is copied are files of this machine: of a folder nobody knows which files it has.
func (g *given) areFiles() bool {
	return len(g.operands) > 1 && !slices.ContainsFunc(g.operands[:len(g.operands)-1], isFolder) &&
		!strings.Contains(strings.Join(g.operands, " "), ":")
}

// writesLines is what has such an editor write.
var writesLines = lazy.Regexp(`(?m)^\s*wq?\s*$`)

// isFolder reports whether a name is not surely that of a file.
func isFolder(name string) bool { return !isFile(name) }

// isArchive reports whether a name is one of a file, and no device or pipe.
func isArchive(name string) bool { return name != "" && name != "-" && path.Ext(name) != "" }

// found reads which files are deleted that a program finds by their names alone.
func (n *named) found(words []string) {
	var folders []string
	for len(words) > 0 && !strings.HasPrefix(words[0], "-") {
		folders, words = append(folders, words[0]), words[1:]
	}
	name, deletes := "", false
	for len(words) > 0 {
		size := 1
		switch word := words[0]; {
		case word == "-delete":
			deletes = true
		case word == "-exec" && execRemove().MatchString(strings.Join(words[1:], " ")):
			deletes, size = true, len(words)
		case word == "-print", word == "-depth":
		case word == "-type" && len(words) > 1 && words[1] == "f":
			size = 2
		case word == "-name" && len(words) > 1 && name == "":
			name, size = words[1], 2
		default: // it finds fewer files
			n.unknown = n.unknown || slices.Contains(words, "-delete")
			return
		}
		words = words[size:]
	}
	if n.unknown = n.unknown || deletes; !deletes || strings.ContainsAny(name, "$`{\n/") || name == "" {
		return
	}
	for _, folder := range append(folders, ".")[:max(1, len(folders))] {
		if !strings.ContainsAny(folder, patterns) {
			n.removes = append(n.removes, strings.TrimSuffix(in(n.dir, folder), "/")+anyBelow+name)
		}
	}
}

// execRemove is the command by which files are deleted that were found.
var execRemove = lazy.Regexp(`^rm (-\w+ )*\{\} [;+]$`)

// suffix is one of copies, which sed has behind -i on some systems.
var suffix = lazy.Regexp(`^\.\w+$`)

// changed are the operands that a writer changes.
func (w *writer) changed(g *given) []string {
	switch {
	case w.which == "dashed":
		return g.dashed
	case w.which == "behind":
		return g.behind()
	case w.which == "first" && g.doubt:
		return nil
	case w.which == "first":
		return g.operands[:min(1, len(g.operands))]
	}
	return g.operands
}

// behind are the operands behind what is to be done, if no option says that.
func (g *given) behind() []string {
	switch {
	case g.doubt:
		return nil
	case g.value("-e", "-E", "-f", "--expression", "--file") != "" || len(g.operands) == 0:
		return g.operands
	}
	return g.operands[1:]
}

// placed adds files that are moved or copied to the last operand, or to the folder that an option names.
func (n *named) placed(moved bool, g *given) {
	sources, to := g.operands, g.value("-t", "--target-directory")
	if to != "" {
		to = strings.TrimSuffix(to, "/") + "/"
	} else if len(sources) > 1 {
		sources, to = sources[:len(sources)-1], sources[len(sources)-1]
	} else {
		return
	}
	whole := g.has("-r", "-R", "-a", "--recursive", "--archive") // of a folder nobody knows which files it has
	if whole = whole && slices.ContainsFunc(sources, func(s string) bool { return path.Ext(s) == "" }); g.doubt || whole {
		n.unknown = true
		return
	}
	n.places(moved, sources, to)
}

var fileEndings = set.Of(wordLists["file endings"]...)

// isFile reports whether a name is surely that of a file, and of no folder.
func isFile(name string) bool {
	base := path.Base(name)
	ending := path.Ext(base)
	return base != ending && fileEndings[strings.TrimPrefix(ending, ".")] && !strings.HasSuffix(name, "/")
}

// fetched are the files that a program loads something from an address into, none where it shows it.
func fetched(program string, g *given) (files []string) {
	file, folder := g.value("-O", "--output-document"), g.value("-P", "--directory-prefix")
	remote := true
	if program == "curl" {
		files, folder = append(g.values["-o"], g.values["--output"]...), g.value("--output-dir")
		remote = g.has("-O", "--remote-name")
	} else if file != "" {
		files, folder = []string{file}, "" // wget has it where it stands
	}
	if len(files) == 0 && remote {
		for _, address := range g.operands {
			files = append(files, remoteName(program, address))
		}
	}
	files = lists.Filter(files, func(f string) bool { return f != "" && f != "-" && !strings.Contains(f, "#") })
	return lists.Map(files, func(f string) string { return in(folder, f) })
}

// remoteName is the name that a file has in its address, empty where it may get another one.
func remoteName(program, address string) string {
	plain, query, _ := strings.Cut(address, "?")
	if !strings.Contains(plain, "://") || strings.Count(plain, "/") < 3 || query != "" && program == "wget" {
		return ""
	}
	if last := path.Base(plain); path.Ext(last) != "" {
		return last
	}
	return ""
}
