package names

import (
	"iter"
	"strings"

	"github.com/kagewasm/kagewasm/internal/clip"
	"github.com/kagewasm/kagewasm/internal/set"
	"github.com/kagewasm/kagewasm/strategies/note/internal/action"
)

// A number that stands behind a file and a colon is a line of it, where grep found something or a compiler did: without
// the file it says nothing. Such numbers are listed with it, once for all of its lines: resume.go:365,603.

// of notes the file that a number stood behind, empty where it stood by itself. One that stood by itself once is a line
// of no file.
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
const oneFile = "\x00"

// fileOf is the file that a mention is a line of. Searched is the one that its call searched, else empty.
func (m *mention) fileOf(searched string) string {
	if m.file == oneFile {
		return searched
	}
	return m.file
}

// searched is the one file in which a call looked for something, with the numbers of lines; empty where that is none or
// several.
func searched(a *action.Action) string {
	file, _ := a.Searched()
	return named(file)
}

// readBy is the one file that a call reads, empty where that is none or several.
func readBy(a *action.Action) (file string) {
	for _, f := range a.Files {
		name := named(f.Path)
		if f.Use != action.Read || name == "" || file != "" && file != name {
			return ""
		}
		file = name
	}
	return file
}

// named is how a list of lines names the file at a path, empty where that is no file.
func named(p string) string {
	if name := lastTwo(p); isFile(name) {
		return name
	}
	return ""
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

// isLines reports whether a value is a number of a line, or several: greater ones count bytes.
func isLines(value string) bool {
	const most = 4 // digits
	numbers := strings.FieldsFunc(value, func(r rune) bool { return strings.ContainsRune("[], \n", r) })
	for _, n := range numbers {
		if clip.Digits(n) != len(n) || len(n) > most {
			return false
		}
	}
	return len(numbers) > 0
}

// fileBefore is the file that the word at start stands behind, where what is before that is a file with a known
// extension that ends at end.
func fileBefore(s string, from, end, start int) string {
	if start != end+1 || s[end] != ':' || !isDigit(s[start]) {
		return ""
	}
	return named(s[from:end])
}

// numbered are the entries of a list of numbers: those that are lines of a file stand where the first of them does. Its
// folder stands with it where two files have the same name.
func numbered(items []*item) (entries []string) {
	folders := placesOf(items)
	at := make(map[string]int) // the entry of a file
	for _, it := range items {
		file := it.file
		if folders[base(file)] < 2 {
			file = base(file)
		}
		if i, met := at[file]; met && file != "" {
			entries[i] += linesMark + it.name
			continue
		}
		at[file] = len(entries)
		if file != "" {
			file += lineMark
		}
		entries = append(entries, file+it.name)
	}
	return entries
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

// lineText is what one more number adds to a list of these, where files are told.
func lineText(told map[string]bool, it *item) string {
	switch file := base(it.file); {
	case file == "":
		return listSeparator + it.name
	case told[file]:
		return linesMark + it.name
	default:
		return listSeparator + file + lineMark + it.name
	}
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
