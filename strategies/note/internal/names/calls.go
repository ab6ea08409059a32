package names

import (
	"strings"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/clip"
	"github.com/kagewasm/kagewasm/internal/toolcall"
	"github.com/kagewasm/kagewasm/strategies/note/internal/outcome"
)

// call is a tool call whose result has not been met yet.
type call struct {
	name    string
	command string // the command line it runs, if any
	subject string // the file it is about, if any
	files   []string
	patches []string
	use     use // what it does to its files, if it ends well
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
			open.files = append(open.files, value)
			open.subject = value
		default:
			open.change.argument(key, value)
			b.text(value, weightCall)
			open.patches = append(open.patches, value)
		}
	})
	open.use = useOf(verb)
	for _, file := range open.files {
		b.subject(file, mentioned)
	}
	if open.command != "" {
		b.run(open.command)
	}
	if open.use == modified {
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
	o := b.harness.Of(m, open.command)
	b.done(&open, o)
	switch {
	case o.Failed:
		b.failed(open.command)
		b.failure(&open, text, m.IsError, o)
	case open.command != "" && o.Passed:
		b.worked(open.command)
	case o.Passed:
		b.changed(&open, text)
	}
	doing, about := open.doing()
	b.fail(o.Lines[:min(len(o.Lines), maxErrorLines)], doing, about)
}

// done notes what a call did to its files, as far as its result says that it did.
func (b *builder) done(c *call, o outcome.Outcome) {
	if c.use == modified && !o.Passed || o.Failed || o.Told {
		return
	}
	for _, file := range c.files {
		b.subject(file, c.use)
	}
	for _, text := range c.patches {
		b.patch(text)
	}
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
