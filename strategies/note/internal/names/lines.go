package names

import (
	"iter"
	"slices"
	"strings"

	"github.com/kagewasm/kagewasm/internal/clip"
	"github.com/kagewasm/kagewasm/internal/set"
	"github.com/kagewasm/kagewasm/strategies/note/internal/action"
)

// A number that stands behind a file and a colon is a line of it, where grep found something or a compiler did: without
// the file it says nothing. Such numbers are listed with it, once for all of its lines: resume.go:365,603.

// of says that the number stood behind a file, or by itself where that is empty. One that stood by itself once is none
// of a file.
func (it *item) of(file string) {
	switch {
	case it.class != number:
	case file == "":
		it.alone, it.file = true, ""
	case !it.alone:
		it.file = file
	}
}

// oneFile stands for the file of a number at the beginning of a line, a colon behind it: the one that was searched.
const oneFile = ":"

// fileOf is the file that a mention is a line of, in the output of a call that read one file alone, or of none.
func (m *mention) fileOf(searched string) string {
	if m.file == oneFile {
		return searched
	}
	return m.file
}

// searched is the one file in which a call looked for something, with the numbers of lines; empty where that is none or
// several.
func searched(a *action.Action) string {
	if a.Script == "" {
		if a.Searches() {
			return readBy(a)
		}
		return ""
	}
	var paths []string
	for i := range a.Commands {
		if words := a.Commands[i].Words; len(words) > 2 && greps[words[0]] && slices.ContainsFunc(words, numbersLines) {
			paths = append(paths, words[len(words)-1]) // what is searched comes last
		}
	}
	return oneOf(paths)
}

// greps are programs that look for something in files.
var greps = set.Of("grep", "egrep", "fgrep", "zgrep", "rg", "ag", "ack")

// numbersLines reports whether an option has such a program tell the numbers of lines: -n, -rn.
func numbersLines(option string) bool {
	return option == "--line-number" || len(option) > 1 && option[0] == '-' && option[1] != '-' &&
		strings.Contains(option, "n")
}

// readBy is the one file that a call reads, empty where that is none or several.
func readBy(a *action.Action) string {
	var paths []string
	for _, f := range a.Files {
		if f.Use != action.Read {
			return ""
		}
		paths = append(paths, f.Path)
	}
	return oneOf(paths)
}

// oneOf is the file that all of these are, empty where they are several, or none is a file.
func oneOf(paths []string) (file string) {
	for _, p := range paths {
		switch name := lastTwo(p); {
		case !isFile(name) || file != "" && file != name:
			return ""
		default:
			file = name
		}
	}
	return file
}

// lastTwo are the last two parts of a path: files of one name in two folders are two files.
func lastTwo(p string) string {
	if i := strings.LastIndexByte(p, '/'); i > 0 {
		return p[strings.LastIndexByte(p[:i], '/')+1:]
	}
	return p
}

// isFile reports whether a name is that of a file with a known extension that an entry can be read back with.
func isFile(name string) bool {
	dot := strings.LastIndexByte(name, '.')
	return dot > 0 && len(name) <= maxName && extensions[name[dot+1:]] && !strings.ContainsFunc(name, notInPaths) &&
		!strings.Contains(name, " ")
}

// lineKeys are the arguments of calls that say which lines of a file they are about.
var lineKeys = set.Of("offset", "line", "line_number", "start_line", "end_line", "startLine", "endLine", "view_range")

// fileBefore is the file that the word at start stands behind, where what is before that is a file with a known
// extension that ends at end.
func fileBefore(s string, from, end, start int) string {
	if start != end+1 || s[end] != ':' || !isDigit(s[start]) {
		return ""
	}
	if file := lastTwo(s[from:end]); isFile(file) {
		return file
	}
	return ""
}

// numbered are the entries of a list of numbers: those that are lines of a file stand where the first of them does. Its
// folder stands with it where two files have the same name.
func numbered(items []*item) iter.Seq[string] {
	folders := placesOf(items)
	same := func(a, b *item) bool {
		return a.file == b.file || base(a.file) == base(b.file) && folders[base(a.file)] < 2
	}
	return func(yield func(string) bool) {
		told := make([]bool, len(items))
		for i, it := range items {
			if told[i] {
				continue
			}
			entry := it.name
			if it.file != "" {
				entry = it.file + lineMark + it.name
				if folders[base(it.file)] < 2 {
					entry = base(entry)
				}
				for k := i + 1; k < len(items); k++ {
					if items[k].file != "" && same(it, items[k]) {
						entry += linesMark + items[k].name
						told[k] = true
					}
				}
			}
			if !yield(entry) {
				return
			}
		}
	}
}

// placesOf is in how many folders files of one name lie: of some an earlier note told the name alone.
func placesOf(items []*item) map[string]int {
	met, folders := make(map[string]bool), make(map[string]int)
	for _, it := range items {
		if !met[it.file] && strings.Contains(it.file, "/") {
			met[it.file] = true
			folders[base(it.file)]++
		}
	}
	return folders
}

// lineText is what one more number adds to a list of these.
func lineText(items []*item, it *item) string {
	if it.file == "" {
		return listSeparator + it.name
	}
	for _, other := range items {
		if base(other.file) == base(it.file) {
			return linesMark + it.name
		}
	}
	return listSeparator + base(it.file) + lineMark + it.name
}

// readNumbers reads an entry of such a list back.
func readNumbers(entry string) (file string, list iter.Seq[string]) {
	file, lines, ok := strings.Cut(entry, lineMark)
	if !ok || strings.ContainsFunc(lines, func(r rune) bool { return r != ',' && (r < '0' || r > '9') }) {
		return "", func(yield func(string) bool) { yield(entry) }
	}
	return clip.Head(file, maxName), strings.SplitSeq(lines, linesMark)
}

const (
	lineMark  = ":" // between a file and the first of its lines
	linesMark = "," // between these
)
