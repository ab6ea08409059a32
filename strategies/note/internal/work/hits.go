package work

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/kagewasm/kagewasm/internal/clip"
	"github.com/kagewasm/kagewasm/strategies/note/internal/action"
)

// What a search found is told by where: the files, each with its lines, as who goes on looks there. Of a diff the files
// are told with how many lines came and went.

// hitFiles is how many files of a search or of a diff are told, and how many lines of each.
const hitFiles = 3

// nothingFound is what tools say where a search found nothing.
var nothingFound = []string{"No matches found", "No files found", "No results found", "No matches."}

// hits is where a search found something; empty where its output does not say so. A list of files alone counts where a
// tool that searches has put it out.
func hits(a *action.Action, text string) string {
	one, numbered := a.Searched()
	if !numbered {
		return ""
	}
	for _, none := range nothingFound {
		if strings.HasPrefix(strings.TrimSpace(text), none) {
			return Result + "nothing"
		}
	}
	var files []string
	lines := make(map[string][]string)
	for line := range strings.Lines(text) {
		file, n := hit(strings.TrimRight(line, "\r\n"))
		if file = cmp.Or(file, one); file == "" || file == one && n == "" || n == "" && a.Script != "" {
			continue
		}
		list, met := lines[file]
		if !met {
			files = append(files, file)
		}
		if n != "" && !slices.Contains(list[max(0, len(list)-hitFiles):], n) {
			list = append(list, n)
		}
		lines[file] = list
	}
	return counted(files, isPart(text), func(file string) string {
		name, list := path.Base(file), lines[file]
		if len(list) == 0 {
			return name
		}
		name += ":" + strings.Join(list[:min(len(list), hitFiles)], ",")
		if len(list) > hitFiles {
			name += ",…"
		}
		return name
	})
}

// isPart reports whether an output says that it is only a part of what there was. What was found may talk of such
// marks: those of harnesses begin a line.
func isPart(text string) bool {
	for line := range strings.Lines(text) {
		for _, mark := range partMarks {
			if strings.HasPrefix(line, mark.begins) && strings.Contains(line, mark.holds) {
				return true
			}
		}
	}
	return false
}

// partMarks are how such lines begin, and what they hold.
var partMarks = []struct{ begins, holds string }{
	{"[Pruned — ", ""}, {"[... ", "left out here"}, {"<persisted-output>", ""}, {"[Showing results with pagination", ""},
	{"(Results are truncated", ""},
	{"... [", "truncated"}, {"[...", "truncated"}, {"[", "truncated]"},
}

// hit is the file and the number of a line of output that a search found: "a.go:12:text", "12:text" without the file,
// and a file alone.
func hit(line string) (file, number string) {
	head, rest, ok := strings.Cut(line, ":")
	isFile := !strings.ContainsAny(head, " \t<>") &&
		(isExt(path.Ext(head)) || strings.HasPrefix(head, "/") && !isBeside(head))
	n := clip.Digits(rest)
	switch {
	case !ok && isFile && strings.Contains(line, "/"):
		return line, ""
	case ok && head != "" && clip.Digits(head) == len(head) && action.IsLine(rest):
		return "", head
	case ok && isFile && n > 0 && strings.HasPrefix(rest[n:], ":"):
		return head, rest[:n]
	}
	return "", ""
}

// maxExt is how long an extension is, with its point, in bytes.
const maxExt = 6

// isExt reports whether an extension is one of a file: what grep shows beside a hit goes on behind it, "a.go-12-".
func isExt(ext string) bool {
	return len(ext) > 1 && len(ext) <= maxExt && !strings.ContainsAny(ext, "-{}();=")
}

// isBeside reports whether a line is shown beside a hit: "/src/a.go-12-" and what stands there.
func isBeside(line string) bool {
	for i := 0; i < len(line); i++ {
		if line[i] != '-' || !isExt(path.Ext(line[max(0, i-maxExt):i])) {
			continue
		}
		if n := clip.Digits(line[i+1:]); n > 0 && strings.HasPrefix(line[i+1+n:], "-") {
			return true
		}
	}
	return false
}

// differs tells the files of a diff, each with the lines that came and went; empty where the text is none. A file of
// which a part is not there is told without.
func differs(text string) string {
	var files []string
	changed := make(map[string]*lineCounts)
	var f *lineCounts // of the file
	old, now := 0, 0  // lines that the part has still
	for line := range strings.Lines(text) {
		if old+now > 0 && (line[0] == ' ' || line[0] == '+' || line[0] == '-' || line[0] == '\\' || line == "\n") {
			if line[0] != '+' && line[0] != '\\' {
				old--
			}
			if line[0] != '-' && line[0] != '\\' {
				now--
			}
			f.came, f.went = f.came+isSign(line, '+'), f.went+isSign(line, '-')
			continue
		}
		if f != nil && (old != 0 || now != 0) {
			f.short = true
		}
		old, now = 0, 0
		switch rest, begins := strings.CutPrefix(line, "diff --git "); {
		case begins:
			_, name, ok := strings.Cut(strings.TrimSpace(rest), " b/")
			if f = nil; !ok || name == "" || strings.HasSuffix(name, `"`) {
				continue
			}
			if f = changed[name]; f == nil {
				f = &lineCounts{}
				changed[name], files = f, append(files, name)
			}
		case f != nil && strings.HasPrefix(line, "@@ "):
			h := action.ReadHunk(line)
			old, now = h.Old, h.New
		}
	}
	if f != nil && (old != 0 || now != 0) {
		f.short = true
	}
	return counted(files, isPart(text), func(file string) string {
		if c := changed[file]; !c.short && c.came+c.went > 0 {
			return fmt.Sprintf("%s +%d -%d", path.Base(file), c.came, c.went)
		}
		return path.Base(file) // it is no text, was moved, or not all of it is there
	})
}

// lineCounts are how many lines of a file came and went. Short: a part of the diff is not there.
type lineCounts struct {
	came, went int
	short      bool
}

func isSign(line string, sign byte) int {
	if line[0] == sign {
		return 1
	}
	return 0
}

// counted tells the first of some files, and how many more there are, as far as that is known.
func counted(files []string, part bool, tell func(file string) string) string {
	if len(files) == 0 {
		return ""
	}
	told := make([]string, 0, hitFiles)
	for _, file := range files[:min(len(files), hitFiles)] {
		told = append(told, tell(file))
	}
	text := Result + strings.Join(told, ", ")
	switch more := len(files) - hitFiles; {
	case part:
		text += " and more"
	case more > 0:
		text += fmt.Sprintf(" and %d more files", more)
	}
	return text
}
