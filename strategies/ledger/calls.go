package ledger

import (
	"encoding/json"
	"strings"

	"github.com/kagewasm/kagewasm/abi"
)

// call is a tool call whose result has not been met yet.
type call struct {
	name    string
	command string // the command line it runs, if any
	subject string // the file it is about, if any
}

// call ranks the names in a tool call's arguments, and remembers what it does
// until its result is met.
func (b *builder) call(c *abi.ToolCall) {
	open := call{name: c.Name}
	u := useOf(c.Name)
	b.tool(c.Name)
	eachString(c.Arguments, func(key, value string) {
		b.parameter(c.Name, key)
		switch {
		case commandKeys[key] && editorVerbs[value]:
			u = useOf(value) // one tool for all that is done to files
		case commandKeys[key] && open.command == "":
			open.command = value
			b.text(value, weightCall)
		case pathKeys[key] && len(value) < 512:
			open.subject = value
			scanPath(value, func(name string, cl class) {
				if cl == path {
					b.mention(name, cl, weightCall, u)
				} else {
					b.mention(name, cl, weightCall, mentioned)
				}
			})
		default:
			b.text(value, weightCall)
		}
	})
	if open.command != "" {
		b.run(open.command)
	}
	b.calls[c.ID] = open
}

// result ranks the names in a tool's output and notes whether it failed.
func (b *builder) result(m *abi.Message, text string) {
	open := b.calls[m.ToolCallID]
	delete(b.calls, m.ToolCallID)
	b.output(text)
	f := findings{failed: m.IsError, shallow: open.command == "" || viewers[program(commandLine(open.command))]}
	f.read(text)
	if f.failed {
		b.failed(open.command)
	}
	doing, about := open.doing()
	b.fail(f.lines, doing, about)
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

// eachString calls f for every string in a JSON document with the key it
// stands under; for text that is no JSON, once with the empty key. Numbers
// count as text.
func eachString(doc string, f func(key, value string)) {
	var v any
	dec := json.NewDecoder(strings.NewReader(doc))
	dec.UseNumber() // an offset of 120000 is a name too
	if !strings.HasPrefix(strings.TrimSpace(doc), "{") || dec.Decode(&v) != nil {
		f("", doc)
		return
	}
	walk("", v, f)
}

func walk(key string, v any, f func(key, value string)) {
	switch v := v.(type) {
	case string:
		f(key, v)
	case json.Number:
		f(key, v.String())
	case []any:
		if commandKeys[key] {
			f(key, joinStrings(v))
			return
		}
		for _, e := range v {
			walk(key, e, f)
		}
	case map[string]any:
		for _, k := range sortedKeys(v) {
			walk(k, v[k], f)
		}
	}
}
