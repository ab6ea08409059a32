package toolcall

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/kagewasm/kagewasm/internal/clip"
)

// maxCommand is what a command line is cut to, in bytes.
const maxCommand = 160

// CommandLine returns the line of a script that says what it does: the first that
// is no comment and does more than set the scene, without the text that is fed
// to it, cut to 160 bytes, at the end of a word where one is near. A mark says that more
// follows.
func CommandLine(script string) string {
	scene, open := "", "" // open: a line that goes on in the next
	at := 0
	for line := range strings.Lines(script) {
		at += len(line)
		line = open + strings.TrimSpace(line)
		if rest, ok := strings.CutSuffix(line, "\\"); ok && len(rest) < maxCommand {
			open = strings.TrimSpace(rest) + " "
			continue
		}
		open = ""
		switch {
		case line == "" || line[0] == '#':
		case isScene(line):
			scene = line
		default:
			if line = withoutHeredoc(line); !strings.HasSuffix(line, LeftOut) && doesMore(script[at:]) {
				line += " " + LeftOut
			}
			return cut(line)
		}
	}
	return cut(strings.TrimSpace(open + scene))
}

// cut is a command line that is not too long.
func cut(line string) string {
	head := clip.Head(line, maxCommand)
	if i := strings.LastIndexByte(head, ' '); len(head) < len(line) && i > maxCommand*3/4 {
		head = head[:i]
	}
	if len(head) < len(line) {
		head += LeftOut
	}
	return head
}

// doesMore reports whether a line of a script is more than a comment.
func doesMore(script string) bool {
	for line := range strings.Lines(script) {
		if line = strings.TrimSpace(line); line != "" && line[0] != '#' {
			return true
		}
	}
	return false
}

// scenes are programs that only prepare for others, or announce them.
var scenes = []string{"cd", "set", "export", "source", ".", "pushd", "echo"}

// isScene reports whether a line only prepares for others, or announces them.
func isScene(line string) bool {
	program, _, more := strings.Cut(line, " ")
	return more && slices.Contains(scenes, program) && !strings.ContainsAny(line, ";&|>")
}

// withoutHeredoc cuts a line where text from the following lines is fed in.
func withoutHeredoc(line string) string {
	i := strings.Index(line, "<<")
	if i <= 0 {
		return line
	}
	if _, size := heredoc(line[i:]); size == 0 {
		return line
	}
	head := strings.TrimSpace(line[:i])
	head = strings.TrimSuffix(strings.TrimSuffix(head, "$(cat"), "\"")
	return strings.TrimSpace(head) + " …"
}

// lineEnds makes one line of a script.
var lineEnds = strings.NewReplacer("\\\n", " ", "\n", " ; ")

// maxScript is how much of a script is compared, in bytes.
const maxScript = 4000

// Normal returns a script as it is compared with others: without the folder it
// changes to, settings of the environment and time limits before it, and without
// what shortens or redirects its output. It is empty where nothing is left.
func Normal(script string) string {
	s := onOneLine(clip.Head(script, maxScript))
	all := s
	for {
		if rest, ok := strings.CutPrefix(s, "cd "); ok {
			if folder, after, ok := strings.Cut(rest, "&& "); ok && !strings.ContainsAny(folder, ";|&") {
				s = after
				continue
			}
		}
		word, rest, ok := strings.Cut(s, " ")
		switch {
		case !ok:
		case word == "time" || word == "sudo" || isSetting(word):
			s = rest
			continue
		case word == "timeout":
			if _, after, ok := strings.Cut(rest, " "); ok {
				s = after
				continue
			}
		}
		break
	}
	s = strings.ReplaceAll(s, " 2>&1", "")
	for _, mark := range outputMarks {
		if !strings.ContainsAny(s, "|>;") {
			break // one of which each mark has
		}
		for at := strings.Index(s, mark); at > 0; at = strings.Index(s, mark) {
			rest := s[at+len(mark):]
			s = strings.TrimRight(s[:at], " ")
			if end := strings.IndexAny(rest, ";&"); end >= 0 {
				s += " " + rest[end:]
			}
		}
	}
	s = strings.Trim(strings.ReplaceAll(s, " ;", ";"), " ;&")
	if len(s) < len(all) {
		return Normal(s) // what stands before may begin with a setting again
	}
	return s
}

// onOneLine is a script on one line, with one blank between its words.
func onOneLine(script string) string {
	if isOneLine(script) { // most are
		return script
	}
	return strings.Join(strings.Fields(lineEnds.Replace(script)), " ")
}

// isOneLine reports whether a script is of ASCII, and has no white space but single blanks between its words.
func isOneLine(script string) bool {
	before := byte(' ')
	for i := range len(script) {
		c := script[i]
		if c < ' ' || c >= utf8.RuneSelf || c == ' ' && before == ' ' {
			return false
		}
		before = c
	}
	return before != ' '
}

// outputMarks begin what shortens or redirects the output of a command, or talks after
// it.
var outputMarks = []string{" | head", " | tail", " | grep", " | tee", " | less", " | cat", " 2>", "; echo", " ; echo"}

// isSetting reports whether a word sets a variable: "CGO_ENABLED=0".
func isSetting(word string) bool {
	name, _, ok := strings.Cut(word, "=")
	return ok && name != "" && strings.ToUpper(name) == name &&
		strings.Trim(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_") == ""
}
