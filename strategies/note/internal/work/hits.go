package work

import (
	"fmt"
	"path"
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
// tool that searches has put it out: of commands it is what they list.
func hits(a *action.Action, text string) string {
	for _, none := range nothingFound {
		if strings.HasPrefix(strings.TrimSpace(text), none) {
			return Result + "nothing"
		}
	}
	var files []string
	lines := make(map[string][]string)
	for line := range strings.Lines(text) {
		file, n := hit(strings.TrimRight(line, "\r\n"))
		switch {
		case n == "" && (file == "" || a.Script != ""):
			continue
		case file == "" && path.Ext(a.Path()) == "":
			continue // of which file is not known
		case file == "":
			file = a.Path()
		}
		if _, met := lines[file]; !met {
			files = append(files, file)
		}
		if n != "" {
			lines[file] = append(lines[file], n)
		} else if lines[file] == nil {
			lines[file] = []string{}
		}
	}
	return counted(files, func(file string) string {
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

// hit is the file and the number of a line of output that a search found: "a.go:12:text", "12:text" without the file,
// and a file alone.
func hit(line string) (file, number string) {
	head, rest, ok := strings.Cut(line, ":")
	switch n := clip.Digits(head); {
	case !ok && strings.Contains(line, "/") && !strings.ContainsAny(line, " \t<>") && isExt(path.Ext(line)):
		return line, ""
	case !ok, head == "":
		return "", ""
	case n == len(head):
		return "", head
	}
	if n := clip.Digits(rest); n > 0 && strings.HasPrefix(rest[n:], ":") && !strings.ContainsAny(head, " \t") {
		return head, rest[:n]
	}
	return "", ""
}

// isExt reports whether an extension is one of a file: what grep shows beside a hit goes on behind it, "a.go-12-".
func isExt(ext string) bool {
	return len(ext) > 1 && len(ext) < 7 && !strings.ContainsAny(ext, "-{}();=")
}

// differs tells the files of a diff, each with the lines that came and went; empty where the text is none.
func differs(text string) string {
	var files []string
	came, went := make(map[string]int), make(map[string]int)
	file, within := "", false // a file, within a part of it
	for line := range strings.Lines(text) {
		switch rest, begins := strings.CutPrefix(line, "diff --git "); {
		case begins:
			_, name, ok := strings.Cut(strings.TrimSpace(rest), " b/")
			if within = false; ok {
				file = name
				files = append(files, file)
			}
		case strings.HasPrefix(line, "@@ "):
			within = file != ""
		case within && line[0] == '+':
			came[file]++
		case within && line[0] == '-':
			went[file]++
		}
	}
	return counted(files, func(file string) string {
		if came[file]+went[file] == 0 {
			return path.Base(file) // it is no text, or was moved
		}
		return fmt.Sprintf("%s +%d -%d", path.Base(file), came[file], went[file])
	})
}

// counted tells the first of some files, and how many more there are.
func counted(files []string, tell func(file string) string) string {
	if len(files) == 0 {
		return ""
	}
	told := make([]string, 0, hitFiles)
	for _, file := range files[:min(len(files), hitFiles)] {
		told = append(told, tell(file))
	}
	text := Result + strings.Join(told, ", ")
	if more := len(files) - hitFiles; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}
