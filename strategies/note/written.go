package note

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/set"
)

// Some agents have no tools: they write a command down, in a block of code or in
// elements of their own, and the harness answers in the role of the user.

// called returns the messages of such an agent as those of one with tools: what it
// wrote down is a call, the answer its result, and says so. Of a session with calls, where nothing
// runs by being written down, it returns the messages as they are.
func called(msgs []abi.Message, origins []abi.Origin) (list []abi.Message, wrote bool) {
	if !slices.Contains(origins, abi.FromCommand) ||
		slices.ContainsFunc(msgs, func(m abi.Message) bool { return len(m.ToolCalls) > 0 }) {
		return msgs, false
	}
	out, last := slices.Clone(msgs), -1
	for i := range out {
		switch m := &out[i]; {
		case m.Role == abi.RoleAssistant:
			last = i
		case origins[i] == abi.FromCommand && last >= 0:
			if said, c, ok := written(msgs[last].Text()); ok {
				c.ID = fmt.Sprintf("written-%d", last)
				out[last].Content, out[last].ToolCalls, wrote = abi.Text(said), []abi.ToolCall{c}, true
				m.Role, m.ToolCallID, m.Content = abi.RoleTool, c.ID, abi.Text(answer(m.Text()))
			}
			last = -1
		}
	}
	return out, wrote
}

// answer is what came of a call, without the line that says that it follows.
func answer(text string) string {
	head, rest, _ := strings.Cut(strings.TrimSpace(text), "\n")
	if head == "OBSERVATION:" || strings.HasPrefix(head, "EXECUTION RESULT of [") {
		return rest
	}
	return text
}

// written is the call that a text ends with, and what is said before it.
func written(text string) (said string, c abi.ToolCall, ok bool) {
	text = strings.TrimSpace(text)
	if i := strings.LastIndex(text, functionMark); i >= 0 {
		c, ok = asFunction(text[i+len(functionMark):])
		return text[:i], c, ok
	}
	for tag, key := range map[string]string{"execute_bash": "command", "execute_ipython": "code"} {
		if said, rest, ok := strings.Cut(text, "<"+tag+">"); ok {
			script, _, _ := strings.Cut(rest, "</"+tag+">")
			c, ok = call(tag, map[string]string{key: strings.TrimSpace(script)})
			return said, c, ok
		}
	}
	body, ended := strings.CutSuffix(text, fence)
	i := strings.LastIndex(body, fence)
	if !ended || i < 0 {
		return "", c, false
	}
	_, script, _ := strings.Cut(body[i+len(fence):], "\n")
	c, ok = asEditor(strings.TrimSpace(script))
	return body[:i], c, ok
}

// functionMark begins a call in elements.
const functionMark = "<function="

// asFunction reads "NAME>" and elements "<parameter=KEY>VALUE</parameter>" behind it.
func asFunction(text string) (abi.ToolCall, bool) {
	name, rest, ok := strings.Cut(text, ">")
	if !ok || strings.ContainsAny(name, " \n<") {
		return abi.ToolCall{}, false
	}
	args := make(map[string]string)
	for {
		_, after, more := strings.Cut(rest, "<parameter=")
		key, value, ok := strings.Cut(after, ">")
		if !more || !ok {
			return call(name, args)
		}
		value, rest, _ = strings.Cut(value, "</parameter>")
		args[key] = strings.Trim(value, "\n")
	}
}

// editorVerbs are the commands of SWE-agent's editor, beside those of the shell.
var editorVerbs = set.Of("open", "goto", "create", "scroll_up", "scroll_down", "search_dir", "search_file", "find_file",
	"edit", "insert",
	"submit")

// asEditor is a command of the editor, or else of the shell.
func asEditor(script string) (abi.ToolCall, bool) {
	line, body, _ := strings.Cut(script, "\n")
	verb, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
	if !editorVerbs[verb] {
		return call("shell", map[string]string{"command": script})
	}
	args := make(map[string]string)
	switch first, _, _ := strings.Cut(rest, " "); verb {
	case "open", "create":
		args["path"] = strings.Trim(first, `"'`)
	case "edit":
		from, to, _ := strings.Cut(first, ":")
		args["start_line"], args["end_line"], args["text"] = from, to, body
	case "insert":
		args["insert_line"], args["text"] = first, body
	case "submit":
	default:
		args["query"] = rest
	}
	return call(verb, args)
}

func call(name string, args map[string]string) (abi.ToolCall, bool) {
	doc, err := json.Marshal(args)
	return abi.ToolCall{Name: name, Arguments: string(doc)}, err == nil
}
