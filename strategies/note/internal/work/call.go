package work

import (
	"encoding/json"
	"slices"
	"strings"
	"unicode"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/clip"
	"github.com/kagewasm/kagewasm/internal/lists"
	"github.com/kagewasm/kagewasm/internal/toolcall"
)

// call is a call that has no result yet.
type call struct {
	name    string
	command string // the script it runs, if any
	changes []file // what it does to files, if it is said to change some
	args    []arg  // short arguments
	subject string // what it is about, see [toolcall.Subject]
}

type arg struct{ key, value string }

// maxArgs bounds what is told of the arguments of a call, in bytes, and maxArg one;
// maxKept is how many are compared with those of other calls.
const (
	maxArgs = 160
	maxArg  = 60
	maxKept = 100
)

func read(c *abi.ToolCall) *call {
	out := &call{name: c.Name, subject: toolcall.Subject(c.Arguments)}
	verb, path := c.Name, ""
	toolcall.EachString(c.Arguments, func(key, value string) {
		switch {
		case toolcall.IsCommandKey(key) && toolcall.IsEditorVerb(value):
			verb = value
		case toolcall.IsCommandKey(key) && out.command == "":
			out.command = value
		case toolcall.IsPathKey(key) && path == "" && len(value) < 512:
			path = value
		}
		out.changes = append(out.changes, patched(value)...)
		a := arg{key, strings.TrimSpace(value)}
		if key != "" && a.value != "" && len(a.value) <= maxArg && len(out.args) < maxKept && !strings.Contains(a.value, "\n") {
			out.args = append(out.args, a)
		}
	})
	if len(out.changes) > 0 { // a patch, in whatever the tool takes it
		out.command = ""
	} else if f := (file{path: path}); path != "" && f.verb(verb) {
		out.changes = []file{f}
	}
	return out
}

// verb reads off the name of a tool what it does to its file, and reports whether
// it changes it.
func (f *file) verb(name string) bool {
	has := func(words ...string) bool { return toolcall.HasAny(strings.ToLower(name), words) }
	switch {
	case has("delete", "remove"):
		f.deleted = true
	case has("create", "write"):
		f.created = true
	case has("edit", "patch", "replace", "insert", "append", "rename", "move"):
		f.edits = 1
	default:
		return false
	}
	return true
}

// patched are the files that a patch changes.
func patched(text string) (files []file) {
	if !strings.Contains(text, "*** Begin Patch") {
		return nil
	}
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		for head, f := range map[string]file{
			"*** Update File: ": {edits: 1}, "*** Add File: ": {created: true}, "*** Delete File: ": {deleted: true},
		} {
			if path, ok := strings.CutPrefix(line, head); ok {
				f.path = path
				files = append(files, f)
			}
		}
	}
	return files
}

// plain is the name of the tool without that of its server, in lower case.
func (c *call) plain() string {
	name := strings.ToLower(c.name)
	if i := strings.LastIndex(name, "__"); i >= 0 {
		name = name[i+2:]
	}
	return name
}

// is reports whether the tool is one of a list, by its name, and changes no file.
func (c *call) is(list map[string]bool) bool { return len(c.changes) == 0 && list[c.plain()] }

// looks reports whether the tool changes nothing that lasts, by its name or by the
// first word of it.
func (c *call) looks() bool {
	name := c.plain()
	if len(c.changes) > 0 || name == "" {
		return false
	}
	word := name
	if i := strings.IndexAny(name, "_-."); i > 0 {
		word = name[:i]
	}
	i := strings.IndexFunc(c.name[1:], unicode.IsUpper) // "ReadFile"
	return looks[name] || reads[word] || i > 0 && reads[strings.ToLower(c.name[:i+1])]
}

// about is what work for another agent was called.
func (c *call) about() string {
	for _, key := range []string{"description", "title", "name", "prompt"} {
		for _, a := range c.args {
			if a.key == key {
				return a.value
			}
		}
	}
	return c.name
}

// told is the call with its arguments: "book_reservation (user_id mia_li_3668)". Of a
// call that repeats another the arguments that differ, and all sums.
func (c *call) told(before []arg) string {
	differs := func(a arg) bool { return !slices.Contains(before, a) }
	switch {
	case len(before) == 0:
		return c.name + listed(c.args)
	case !slices.ContainsFunc(c.args, differs):
		return c.name + " again (as before)"
	}
	return c.name + " again" + listed(lists.Filter(c.args, func(a arg) bool { return differs(a) || weighs(a.key) }))
}

// listed are the arguments that there is room for: amounts and what they are paid with
// before others, in order.
func listed(args []arg) string {
	size, shown := 0, make(map[arg]bool)
	for _, first := range []bool{true, false} {
		for _, a := range args {
			if n := len(a.key) + len(a.value); weighs(a.key) == first && !shown[a] && size+n <= maxArgs {
				shown[a], size = true, size+n
			}
		}
	}
	var told []string
	for _, a := range args {
		if s := a.key + " " + a.value; shown[a] && (weighs(a.key) || !slices.Contains(told, s)) {
			told = append(told, s)
		}
	}
	if len(told) == 0 {
		return ""
	}
	return " (" + strings.Join(told, ", ") + ")"
}

// weighs reports whether an argument of this name says how much of something, or what
// it is paid with: the same amount may stand there twice, of two payments.
func weighs(key string) bool {
	return toolcall.HasAny(strings.ToLower(key), []string{"amount", "pay", "price", "total", "cost", "quantity"})
}

// maxFound is how many values of a result are told.
const maxFound = 4

// found is what identifies a result: of an object, its ids, numbers and states
// that the call did not give itself; of a text, its first line.
func found(text string, args []arg) string {
	var doc map[string]json.RawMessage
	if json.Unmarshal([]byte(text), &doc) != nil {
		if line := clip.Line(first(nil, text), 120); line != "" {
			return Result + line
		}
		return ""
	}
	var own, inner []string
	toolcall.EachString(text, func(key, value string) {
		given := slices.ContainsFunc(args, func(a arg) bool { return a.value == value })
		if s := key + " " + value; !given && value != "" && len(value) <= maxArg && identifies(key) && !slices.Contains(inner, s) {
			if _, top := doc[key]; top || weighs(key) {
				own = append(own, s)
			}
			inner = append(inner, s)
		}
	})
	if len(own) == 0 {
		own = inner // of a result in an envelope; else what is inside has ids of its own
	}
	if len(own) == 0 {
		return ""
	}
	return Result + strings.Join(own[:min(len(own), maxFound)], ", ")
}

// identifies reports whether a value under this key tells one thing from others.
func identifies(key string) bool {
	key = strings.ToLower(key)
	return key == "id" || strings.HasSuffix(key, "_id") || strings.HasSuffix(key, "number") ||
		toolcall.HasAny(key, []string{"status", "url", "hash", "sha", "total", "price", "amount", "cost",
			"balance", "confirmation", "state", "code", "key"})
}

// first is the first line that says something, of lines or else of a text.
func first(lines []string, text string) string {
	if len(lines) > 0 {
		return lines[0]
	}
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line != "" {
			return line
		}
	}
	return ""
}
