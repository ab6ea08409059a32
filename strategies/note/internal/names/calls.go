package names

import (
	"strings"

	"github.com/kagewasm/kagewasm/abi"
)

// call is a tool call whose result has not been met yet.
type call struct {
	name    string
	command string // the command line it runs, if any
	subject string // the file it is about, if any
	change  facts
}

// call ranks the names in a tool call's arguments, and remembers what it does
// until its result is met.
func (b *builder) call(c *abi.ToolCall) {
	open := call{name: c.Name}
	verb := c.Name
	b.tool(c.Name)
	eachString(c.Arguments, func(key, value string) {
		b.parameter(c.Name, key)
		switch {
		case commandKeys[key] && editorVerbs[value]:
			verb = value // one tool for all that is done to files
		case commandKeys[key] && open.command == "":
			open.command = value
			b.text(value, weightCall)
		case pathKeys[key] && len(value) < 512:
			if open.subject != "" {
				b.subject(open.subject, useOf(verb))
			}
			open.subject = value
		default:
			open.change.argument(key, value)
			b.text(value, weightCall)
			b.patch(value)
		}
	})
	if open.subject != "" { // known by now: what is done to it
		b.subject(open.subject, useOf(verb))
	}
	if open.command != "" {
		b.run(open.command)
	}
	if useOf(verb) == modified {
		open.change.verb(verb)
	}
	b.calls[c.ID] = open
}

// stays remembers what a call does that is still in view.
func (b *builder) stays(c *abi.ToolCall) {
	open := call{name: c.Name}
	eachString(c.Arguments, func(key, value string) {
		switch {
		case commandKeys[key] && !editorVerbs[value] && open.command == "":
			open.command = value
		case pathKeys[key] && len(value) < 512:
			open.subject = value
		}
	})
	b.calls[c.ID] = open
}

// subject ranks the file that a call is about.
func (b *builder) subject(file string, u use) {
	scanPath(file, func(name string, c class) {
		if c == path {
			b.mention(name, c, weightCall, u)
		} else {
			b.mention(name, c, weightCall, mentioned)
		}
	})
}

// result ranks the names in a tool's output and notes whether it failed.
func (b *builder) result(m *abi.Message, text string) {
	open := b.calls[m.ToolCallID]
	delete(b.calls, m.ToolCallID)
	b.output(text)
	f := findings{marked: m.IsError, failed: m.IsError, shallow: open.command == "" || viewers[program(commandLine(open.command))]}
	f.read(text)
	switch {
	case f.failed:
		b.failed(open.command)
		b.failure(&open, text, &f)
	case open.command != "":
		b.worked(open.command)
	default:
		b.changed(&open, text)
	}
	doing, about := open.doing()
	b.fail(f.lines[:min(len(f.lines), maxErrorLines)], doing, about)
}

// doing is what a call does, in short, and the file it is about.
func (c call) doing() (doing, about string) {
	if c.command != "" {
		return cut(commandLine(c.command), maxDoing), ""
	}
	return cut(c.name, maxDoing), cut(c.subject, maxDoing)
}

var commandKeys = set("command", "cmd", "script", "code", "commands", "bash")

// editorVerbs are commands of an editor that is one tool, not of a shell.
var editorVerbs = set("view", "create", "str_replace", "insert", "undo_edit", "open", "read", "write", "edit", "delete", "rename", "append")

var pathKeys = set("file_path", "path", "filename", "file", "filepath", "notebook_path", "target_file",
	"absolute_path", "relative_path", "file_name", "directory", "dir_path")

// useOf says from a tool's name what it does to files.
func useOf(tool string) use {
	t := strings.ToLower(tool)
	for _, s := range []string{"edit", "write", "create", "patch", "replace", "insert", "append", "delete", "move", "rename"} {
		if strings.Contains(t, s) {
			return modified
		}
	}
	return read
}
