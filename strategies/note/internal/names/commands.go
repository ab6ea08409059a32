package names

import (
	"slices"
	"strings"

	"github.com/kagewasm/kagewasm/internal/toolcall"
)

// command is a command line and how it ended.
type command struct {
	line   string
	failed bool
}

const (
	maxDoing = 80
	maxKept  = 200 // commands remembered at most
)

// run notes a command line; the same one again moves to the end.
func (b *builder) run(script string) {
	line := toolcall.CommandLine(script)
	if line == "" {
		return
	}
	same := func(c command) bool { return c.line == line }
	b.commands = putLast(b.commands, command{line: line}, maxKept, same)
}

// putLast appends to a list what is the same as nothing else in it, and drops
// the first of more than limit entries.
func putLast[T any](list []T, v T, limit int, same func(T) bool) []T {
	list = append(slices.DeleteFunc(list, same), v)
	return list[max(0, len(list)-limit):]
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
