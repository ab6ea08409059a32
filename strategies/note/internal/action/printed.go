package action

import (
	"path"
	"slices"
	"strings"

	"github.com/kagewasm/kagewasm/internal/lazy"
	"github.com/kagewasm/kagewasm/internal/lists"
	"github.com/kagewasm/kagewasm/internal/set"
)

// lister is a program of which the output says which files it changed.
type lister struct {
	use Use
	// line has the name of a file in its first group.
	line func(line string) []string
	// options are those that have it list its files, where it does so only with one of them.
	options []string
	// into are the options with the folder that names are relative to. Last: the last operand is that folder.
	into []string
	last bool
	// alone: its lines are told from those of other commands by nothing.
	alone bool
}

// matches are the groups of a line of such a program.
func matches(pattern string) func(string) []string {
	p := lazy.Regexp(pattern)
	return func(line string) []string { return p().FindStringSubmatch(line) }
}

var listers = map[string]lister{
	"patch":     {use: Edited, line: matches(`^patching file '?(.+?)'?$`), into: []string{"-d", "--directory"}},
	"git apply": {use: Edited, line: matches(`^Applied patch (?:to )?'?(.+?)'? cleanly\.$`)},
	"unzip":     {use: Created, line: matches(`^ *(?:inflating|extracting): (\S.*?) *$`)},
	"tar": {use: Created, line: matches(`^(?:x )?(\S*[^\s/:])$`), options: []string{"-v", "--verbose"},
		into: []string{"-C", "--directory"}, alone: true},
	"rsync": {use: Created, line: matches(`^(\S*[^\s/:])$`), options: []string{"-v", "--verbose"}, last: true, alone: true},
	"find":  {use: Deleted, line: matches(`^(\S*/\S*)$`), alone: true},
}

// maxListed is how many files are taken off the output of a command: more are a tree that nobody works on one by one.
const maxListed = 100

// printed reads what commands print of files: of those that they do not name, or name and leave as they are.
func (a *Action) printed(result string) {
	prints := func(s Step) bool { return s.Kind != Shows && (listerOf(a, &s) != nil || formats(a, &s)) }
	if a.Script == "" || !slices.ContainsFunc(a.Steps, prints) {
		return
	}
	a.eachStep(func(s *Step) {
		if l := listerOf(a, s); l != nil {
			s.change(l.listed(a, s, result)...)
		} else if formats(a, s) {
			s.Files = slices.DeleteFunc(s.Files, func(f File) bool {
				return f.Use == Edited && unchanged(a, s, f.Path, result)
			})
		}
	})
}

// listerOf is the program of a step that lists what it changes, nil where it is none.
func listerOf(a *Action, s *Step) *lister {
	words := unwrapped(&a.Commands[s.At])
	for n := min(2, len(words)); n > 0; n-- {
		if l, ok := listers[strings.Join(words[:n], " ")]; ok {
			return &l
		}
	}
	return nil
}

// listed are the files that a step lists.
func (l *lister) listed(a *Action, s *Step, result string) (files []File) {
	c := &a.Commands[s.At]
	words, folder := unwrapped(c), c.Dir
	if w, args := writerOf(words); w != nil {
		g := w.read(dashed(words[0], args))
		for _, into := range l.into {
			folder = in(folder, g.value(into))
		}
		if l.last && len(g.operands) > 1 {
			folder = in(folder, g.operands[len(g.operands)-1])
		}
		if words[0] == "tar" && (!g.has("-x", "--extract") || g.has("--strip-components")) ||
			g.has("--dry-run", "-n", "--to-stdout", "-O", "--list-only") {
			return nil
		}
		if l.options != nil && !g.has(l.options...) {
			return nil
		}
	} else if l.use == Deleted && !slices.Contains(words, "-print") {
		return nil
	}
	switch {
	case strings.Contains(result, " FAILED -- saving rejects"): // which of the parts of which file did not fit
		return nil
	case l.alone && !alonePrints(a, s.At), l.last && (isFile(folder) || strings.Contains(folder, ":") || len(s.Files) > 0):
		return nil
	case l.use == Deleted && len(s.Removes) == 0 && !slices.Contains(words, "-delete"):
		return nil
	}
	for line := range strings.Lines(result) {
		m := l.line(strings.TrimRight(line, "\r\n"))
		if m == nil || len(m[1]) >= maxPath || l.alone && l.use != Deleted && isFolder(m[1]) {
			continue
		}
		files = append(files, File{Path: in(folder, m[1]), Use: l.use})
	}
	if len(files) > maxListed {
		return nil
	}
	return files
}

// dashed are the arguments of a program that takes its options without a dash too: "tar xzf a.tgz".
func dashed(program string, args []string) []string {
	if program == "tar" && len(args) > 0 && !strings.HasPrefix(args[0], "-") {
		return append([]string{"-" + args[0]}, args[1:]...)
	}
	return args
}

// mute are what programs do that print nothing.
var mute = set.Of("deletes", "moves", "copies", "makes", "creates")

// alonePrints reports whether nothing but a command prints what its script does.
func alonePrints(a *Action, at int) bool {
	for i := range a.Commands {
		c := &a.Commands[i]
		if i == at {
			if c.Then == "|" || len(c.Writes)+len(c.Appends) > 0 {
				return false
			}
			continue
		}
		w, _ := writerOf(c.Words)
		silent := w != nil && mute[w.does] && c.Words[0] != "tee"
		if !silent && (!c.SetsScene() || c.Words[0] == "echo") {
			return false
		}
	}
	return true
}

// formats reports whether a step has a program bring files into form.
func formats(a *Action, s *Step) bool {
	w, _ := writerOf(unwrapped(&a.Commands[s.At]))
	return w != nil && w.does == "formats"
}

// tellsChanged are programs that name each file that they change, with the options without which they do not and the
// words before the name.
var tellsChanged = map[string]struct {
	options []string
	mark    string
}{
	"gofmt": {options: []string{"-l"}}, "goimports": {options: []string{"-l"}}, "gofumpt": {options: []string{"-l"}},
	"shfmt": {options: []string{"-l"}}, "terraform": {}, "tofu": {}, "isort": {mark: "Fixing "},
}

// unchanged reports whether the output of a program that brings files into form says that it left one as it was.
func unchanged(a *Action, s *Step, file, result string) bool {
	c := &a.Commands[s.At]
	words := unwrapped(c)
	w, args := writerOf(words)
	g := w.read(args)
	names := func(mark string) bool {
		for line := range strings.Lines(result) {
			name, ok := strings.CutPrefix(strings.TrimSpace(line), mark)
			if name = path.Clean(name); ok && (Same(name, path.Clean(file)) || Same(path.Clean(file), name)) {
				return true
			}
		}
		return false
	}
	if t, ok := tellsChanged[words[0]]; ok {
		return (t.options == nil || g.has(t.options...)) && !g.has("-q", "-list", "--quiet") && c.Then != "|" &&
			len(c.Writes) == 0 && !names(t.mark)
	}
	switch words[0] {
	case "black":
		return strings.Contains(result, "left unchanged") && !names("reformatted ")
	case "ruff":
		return (strings.Contains(result, "left unchanged") || strings.Contains(result, "All checks passed!")) &&
			!(strings.Contains(result, "reformatted") && len(g.operands) == 1) && !strings.Contains(result, " fixed")
	case "prettier":
		return slices.ContainsFunc(lists.Map(strings.Split(result, "\n"), strings.Fields), func(line []string) bool {
			return len(line) > 1 && line[len(line)-1] == "(unchanged)" && Same(path.Clean(line[0]), path.Clean(file))
		})
	}
	return false
}
