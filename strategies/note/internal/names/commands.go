package names

import "strings"

// command is a command line and how it ended.
type command struct {
	line   string
	failed bool
	at     int
}

const (
	maxCommand = 160
	maxDoing   = 80
	maxKept    = 200 // commands and errors remembered at most
)

// run notes a command line; the same one again moves to the end.
func (b *builder) run(script string) {
	line := commandLine(script)
	if line == "" {
		return
	}
	for i := range b.commands {
		if b.commands[i].line == line {
			b.commands = append(b.commands[:i], b.commands[i+1:]...)
			break
		}
	}
	b.commands = append(b.commands, command{line: line, at: b.at})
	if len(b.commands) > maxKept {
		b.commands = b.commands[1:]
	}
}

// failed notes that a command failed the last time it ran.
func (b *builder) failed(script string) {
	line := commandLine(script)
	for i := len(b.commands) - 1; i >= 0; i-- {
		if b.commands[i].line == line {
			b.commands[i].failed = true
			return
		}
	}
}

// commandLine is the line of a script that says what it does: the first that
// is no comment and does more than set the scene, without the text that is fed
// to it, cut to maxCommand bytes.
func commandLine(script string) string {
	scene, open := "", "" // open: a line that goes on in the next
	for line := range strings.Lines(script) {
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
			return cut(withoutHeredoc(line), maxCommand)
		}
	}
	return cut(strings.TrimSpace(open+scene), maxCommand)
}

// isScene reports whether a line only prepares for others, or announces them.
func isScene(line string) bool {
	for _, s := range []string{"cd ", "set -", "export ", "source ", "pushd ", "echo "} {
		if strings.HasPrefix(line, s) && !strings.ContainsAny(line, ";&|>") {
			return true
		}
	}
	return false
}

// withoutHeredoc cuts a line where text from the following lines is fed in.
func withoutHeredoc(line string) string {
	i := strings.Index(line, "<<")
	if i <= 0 || strings.HasPrefix(line[i:], "<<<") {
		return line
	}
	end := strings.TrimLeft(line[i+2:], "-~ '\"\\")
	if end == "" || !(end[0] >= 'A' && end[0] <= 'Z' || end[0] >= 'a' && end[0] <= 'z' || end[0] == '_') {
		return line // a shift
	}
	head := strings.TrimSpace(line[:i])
	head = strings.TrimSuffix(strings.TrimSuffix(head, "$(cat"), "\"")
	return strings.TrimSpace(head) + " …"
}

// program is what a command line runs first, after changing folders.
func program(line string) string {
	for strings.HasPrefix(line, "cd ") {
		_, rest, ok := strings.Cut(line, "&&")
		if !ok {
			break
		}
		line = strings.TrimSpace(rest)
	}
	name, rest, _ := strings.Cut(line, " ")
	if name == "git" {
		verb, _, _ := strings.Cut(rest, " ")
		name += " " + verb
	}
	return name
}

// viewers show text, in which errors may be talked about.
var viewers = set("cat", "head", "tail", "less", "sed", "awk", "grep", "rg", "ag", "find", "fd", "ls", "tree", "bat", "jq", "wc", "echo",
	"git show", "git diff", "git log", "git blame", "git grep")

// relative is a command line as it reads in the root folder.
func relative(line, root string) string {
	if root == "" {
		return line
	}
	rest, ok := strings.CutPrefix(line, "cd "+root)
	if !ok {
		return line
	}
	if rest, ok = strings.CutPrefix(strings.TrimSpace(rest), "&& "); ok && rest != "" {
		return rest
	}
	return line
}
