package names

import (
	"strings"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/clip"
	"github.com/kagewasm/kagewasm/internal/toolcall"
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
	toolcall.EachString(c.Arguments, func(key, value string) {
		b.parameter(c.Name, key)
		switch {
		case toolcall.IsCommandKey(key) && toolcall.IsEditorVerb(value):
			verb = value // one tool for all that is done to files
		case toolcall.IsCommandKey(key) && open.command == "":
			open.command = value
			b.text(value, weightCall)
		case toolcall.IsPathKey(key) && len(value) < 512:
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
	toolcall.EachString(c.Arguments, func(key, value string) {
		switch {
		case toolcall.IsCommandKey(key) && !toolcall.IsEditorVerb(value) && open.command == "":
			open.command = value
		case toolcall.IsPathKey(key) && len(value) < 512:
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
	shallow := open.command == "" || viewers[toolcall.Program(toolcall.CommandLine(open.command))]
	f := findings{marked: m.IsError, failed: m.IsError, shallow: shallow}
	f.read(text, b.goOn)
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
		return clip.Cut(toolcall.CommandLine(c.command), maxDoing, "…"), ""
	}
	return clip.Cut(c.name, maxDoing, "…"), clip.Cut(c.subject, maxDoing, "…")
}

// changes are in the names of tools that change files.
var changes = []string{"edit", "write", "create", "patch", "replace", "insert", "append", "delete", "move", "rename"}

// useOf says from a tool's name what it does to files.
func useOf(tool string) use {
	if toolcall.HasAny(strings.ToLower(tool), changes) {
		return modified
	}
	return read
}
