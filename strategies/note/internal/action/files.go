package action

import (
	"fmt"
	"path"
	"strconv"
	"strings"

	"github.com/kagewasm/kagewasm/internal/toolcall"
)

// File is what is done to a file.
type File struct {
	Path string
	Use  Use
	// To is where a file that is moved stands then.
	To string
	// From and Last are the lines that an edit changes, zero where they are not known.
	From, Last int
	// New: the call says that there was no such file before. Over: its result says that there was one that is written.
	New, Over bool
}

// Lines are the lines that an edit changes as they are told: "340-352", empty where
// they are not known.
func (f *File) Lines() string {
	switch {
	case f.From == 0:
		return ""
	case f.Last <= f.From:
		return strconv.Itoa(f.From)
	}
	return fmt.Sprintf("%d-%d", f.From, f.Last)
}

// Use is what is done to a file.
type Use uint8

const (
	Read Use = iota + 1
	Created
	Edited
	Deleted
	Moved
)

// Same reports whether two paths may name one file: one is the end of the other.
func Same(p, q string) bool {
	if len(p) < len(q) {
		p, q = q, p
	}
	q = strings.TrimPrefix(q, "./")
	return p == q || q != "" && strings.HasSuffix(p, "/"+q)
}

// SameFile reports whether two paths name one file: one may be absolute and the other one the end of it.
func SameFile(p, q string) bool { return p == q || path.IsAbs(p) != path.IsAbs(q) && Same(p, q) }

// anyBelow stands in a pattern for all folders below the one before it.
const anyBelow = "/**/"

// Matches reports whether a pattern of files, "docs/*.html" or "docs/**/*.html", holds a path, or a folder that it
// lies in. A path that is absolute where the pattern is not has to lie below root, the folder that scripts run in;
// where that is unknown, empty, the end of the path counts, if the pattern names a folder.
func Matches(pattern, p, root string) bool {
	if folder, name, deep := strings.Cut(pattern, anyBelow); deep {
		if path.IsAbs(p) && !path.IsAbs(folder) {
			if root == "" {
				return false
			}
			folder = path.Join(root, folder)
		}
		ok, err := path.Match(name, path.Base(p))
		p, folder = path.Clean(p), path.Clean(folder)
		return ok && err == nil && (Within(p, folder) || folder == "." && !strings.HasPrefix(p, "../"))
	}
	pattern = path.Clean(pattern)
	ends := false
	if path.IsAbs(p) && !path.IsAbs(pattern) {
		rest, ok := strings.CutPrefix(p, strings.TrimSuffix(root, "/")+"/")
		if ends = root == "" && strings.Contains(pattern, "/"); !ends && (root == "" || !ok) {
			return false
		}
		if !ends {
			p = rest
		}
	}
	for p = path.Clean(p); p != "." && p != "/"; p = path.Dir(p) {
		end := p
		if ends {
			end = lastParts(p, strings.Count(pattern, "/")+1)
		}
		if ok, err := path.Match(pattern, end); ok && err == nil {
			return true
		}
	}
	return false
}

// lastParts are the last parts of a path.
func lastParts(p string, n int) string {
	parts := strings.Split(p, "/")
	return strings.Join(parts[max(0, len(parts)-n):], "/")
}

// MayMatch reports whether a pattern may hold a path that is absolute, where it is not known in which folder it counts.
func MayMatch(pattern, p, root string) bool {
	ok, err := path.Match(pattern, path.Base(p))
	return root == "" && path.IsAbs(p) && !strings.Contains(pattern, "/") && ok && err == nil
}

// Within reports whether a path lies in a folder.
func Within(p, folder string) bool { return strings.HasPrefix(p, strings.TrimSuffix(folder, "/")+"/") }

// patchHeads begin the lines of a patch that name a file.
var patchHeads = []struct {
	head string
	use  Use
}{{"*** Update File: ", Edited}, {"*** Add File: ", Created}, {"*** Delete File: ", Deleted}, {"+++ b/", Edited}}

// moveMark begins the line of a patch that says where its file is moved.
const moveMark = "*** Move to: "

// beginsPatch is the line that a patch of an agent's own form begins with.
const beginsPatch = "*** Begin Patch"

// patched are the files that a patch changes: "*** Update File: a.go", or "+++ b/a.go"
// with "@@ -1,2 +3,4 @@" below.
func patched(text string) (files []File) {
	if !strings.Contains(text, beginsPatch) && !strings.Contains(text, "\n+++ b/") {
		return nil
	}
	at := 0   // the line of the new text, zero where it is not known
	old := "" // the name of the file before
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\r\n")
		if f, ok := patchHead(line); ok {
			files, at = append(files, f), 0
			continue
		}
		if name, ok := strings.CutPrefix(line, "--- a/"); ok {
			old, at = strings.TrimSpace(name), 0
			continue
		}
		if line == "+++ /dev/null" && old != "" {
			files, at = append(files, File{Path: old, Use: Deleted}), 0
			continue
		}
		if len(files) == 0 {
			continue
		}
		f := &files[len(files)-1]
		switch {
		case strings.HasPrefix(line, moveMark) && strings.TrimSpace(line[len(moveMark):]) != "":
			f.Use, f.To = Moved, strings.TrimSpace(line[len(moveMark):])
		case strings.HasPrefix(line, "@@ -") && f.Use != Deleted:
			at = ReadHunk(line).At
		case at == 0:
		case strings.HasPrefix(line, "+"):
			f.changes(at)
			at++
		case strings.HasPrefix(line, "-"):
			f.changes(at)
		default:
			at++
		}
	}
	return files
}

// changes notes that a line is changed. Of several places in a file the last one counts.
func (f *File) changes(line int) {
	if f.From == 0 || line > f.Last+1 {
		f.From = line
	}
	f.Last = line
}

// patchHead is the file that a line of a patch says it is about.
func patchHead(line string) (File, bool) {
	for _, p := range patchHeads {
		if name, ok := strings.CutPrefix(line, p.head); ok && strings.TrimSpace(name) != "" {
			return File{Path: strings.TrimSpace(name), Use: p.use, New: p.use == Created}, true
		}
	}
	return File{}, false
}

// Hunk is a part of a patch: how many lines it has of the old text and of the new one, and the first of these. What is
// not said is zero.
type Hunk struct{ Old, New, At int }

// ReadHunk reads the line that begins a part of a patch: "@@ -1,2 +3,4 @@". One line is there where no number is.
func ReadHunk(line string) (h Hunk) {
	old, rest, _ := strings.Cut(strings.TrimPrefix(line, "@@ -"), " +")
	now, _, _ := strings.Cut(rest, " ")
	_, h.Old = span(old)
	h.At, h.New = span(now)
	return h
}

// span reads "12,3": the first line, and how many there are.
func span(text string) (from, lines int) {
	number, length, ok := strings.Cut(text, ",")
	if from = whole(number); !ok && number != "" {
		return from, 1
	}
	return from, whole(length)
}

// whole is a number that is not negative, else zero.
func whole(digits string) int {
	n, err := strconv.Atoi(digits)
	if err != nil || n < 0 {
		return 0
	}
	return n
}

// named are the files that a command names, and what it does to them.
type named struct {
	dir   string
	files []File
	// unknown: it changes files that it does not name, by a pattern or a variable.
	unknown bool
	// removes are the patterns of files that it deletes.
	removes []string
	// makes are the folders that it makes.
	makes []string
	// applies are the files with patches by which it changes others.
	applies []string
}

func (n *named) add(use Use, names ...string) {
	for _, name := range names {
		switch {
		case use == Read && strings.Trim(name, "+0123456789") == "": // what an option is given
		case name == "" || strings.HasPrefix(name, "/dev/") || len(name) >= maxPath ||
			strings.HasPrefix(name, "<(") || strings.HasPrefix(name, ">("): // what commands there put out
		case strings.ContainsAny(name, patterns):
			n.unknown = n.unknown || use != Read
			if use == Deleted && !strings.ContainsAny(name, "$`{\n") {
				n.removes = append(n.removes, in(n.dir, strings.ReplaceAll(name, "**", "*")))
			}
		default:
			n.files = append(n.files, File{Path: in(n.dir, name), Use: use})
		}
	}
}

// patterns are the characters of a path that names no file by itself.
const patterns = "*?$`{\n"

// unwrapped are the words of a command without the program that only runs it: "npx".
func unwrapped(c *toolcall.Command) []string {
	words := c.Words
	for k := min(2, len(words)-1); k > 0; k-- {
		if rest, ok := wrappers.cut(strings.Join(words[:k], " ")); ok && rest == "" {
			words = words[k:]
		}
	}
	return words
}

// filesOf reads what a command of a script does to files, and what text it is fed.
func filesOf(c *toolcall.Command, fed string) named {
	n := named{dir: c.Dir}
	words := unwrapped(c)
	n.written(words, fed)
	if lines := ran(c); lines != "" {
		n.add(Created, opened(c.Words[0], lines)...)
	}
	n.add(Created, c.Writes...)
	n.add(Edited, c.Appends...)
	return n
}

// places adds files that are moved or copied to a place: a file, or a folder for them.
func (n *named) places(moved bool, sources []string, to string) {
	if to == "" || strings.ContainsAny(to, patterns) {
		n.unknown = true
		return
	}
	for _, source := range sources {
		place := to
		if name := path.Base(to); len(sources) > 1 || strings.HasSuffix(to, "/") || name == "." || name == ".." ||
			path.Ext(to) == "" && path.Ext(source) != "" {
			place = path.Join(to, path.Base(source))
		}
		if !moved {
			n.add(Created, place)
			continue
		}
		k := len(n.files)
		if n.add(Moved, source); len(n.files) > k {
			n.files[k].To = in(n.dir, place)
		}
	}
}

// in is a path as it reads from where a script began.
func in(dir, name string) string {
	if dir == "" || path.IsAbs(name) || strings.HasPrefix(name, "~") {
		return name
	}
	return path.Join(dir, name)
}
