package names

import (
	"strings"

	"github.com/kagewasm/kagewasm/internal/toolcall"
)

// command is a command line and how it ended.
type command struct {
	line   string
	failed bool
	at     int
}

const (
	maxDoing = 80
	maxKept  = 200 // commands and errors remembered at most
)

// run notes a command line; the same one again moves to the end.
func (b *builder) run(script string) {
	line := toolcall.CommandLine(script)
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
	line := toolcall.CommandLine(script)
	for i := len(b.commands) - 1; i >= 0; i-- {
		if b.commands[i].line == line {
			b.commands[i].failed = true
			return
		}
	}
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
