package outcome

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/clip"
)

// Some harnesses hand a model what a command put out as a field of a JSON document, beside the code that it ended with,
// and most leave the colours of a terminal in it. Neither is what the command said: all that reads results reads them
// without.

// Plain returns messages with the results of calls as what ran put them out: without the escapes of a terminal, and
// out of the JSON that its harness put around, with the code of the exit on a line in front: the first such line is the
// one that is believed, and a command may put out one of its own. Where nothing is to be changed it returns them as
// they are.
func (k *Known) Plain(msgs []abi.Message) []abi.Message {
	tools, out := k.wrapping(msgs), msgs
	for i := range msgs {
		m := &msgs[i]
		if m.Role != abi.RoleTool || slices.ContainsFunc(m.Content.Parts(), isMedia) {
			continue
		}
		text, isError := m.Text(), m.IsError
		if w := k.unwrapped(text); w.ok && tools[m.ToolCallID] {
			text, isError = w.text, isError || w.failed
		} else {
			text = framed(text)
		}
		text = withoutEscapes(text)
		if isError == m.IsError && text == m.Text() {
			continue
		}
		if &out[0] == &msgs[0] {
			out = slices.Clone(msgs)
		}
		out[i].Content, out[i].IsError = abi.Text(text), isError
	}
	return out
}

func isMedia(p abi.Part) bool { return p.Text == "" }

// wrapping marks the calls of tools whose results are wrapped: one that tells the code of an exit on a line of its own
// has a harness which does not wrap, and a document among its results is what a command put out.
func (k *Known) wrapping(msgs []abi.Message) map[string]bool {
	wraps := func(m abi.Message) bool { return m.Role == abi.RoleTool && k.unwrapped(m.Text()).ok }
	if !slices.ContainsFunc(msgs, wraps) {
		return nil
	}
	names, calls := make(map[string]string), make(map[string]bool) // tools and marks, by call
	bare := make(map[string]bool)                                  // tools
	for i := range msgs {
		m := &msgs[i]
		for j := range m.ToolCalls {
			names[m.ToolCalls[j].ID] = m.ToolCalls[j].Name
		}
		if m.Role != abi.RoleTool {
			continue
		}
		if wraps(*m) {
			calls[m.ToolCallID] = true
		} else if _, told := exit(m.Text()); told {
			bare[names[m.ToolCallID]] = true
		}
	}
	for call := range calls {
		calls[call] = !bare[names[call]]
	}
	return calls
}

// wrapped is a result out of its document. Failed: the harness says so, and of no code.
type wrapped struct {
	text       string
	failed, ok bool
}

// Fields of such documents: what was put out, in the order in which it is read, and the code of the exit.
var (
	outputFields = []string{"output", "stdout", "stderr"}
	codeFields   = []string{"exit_code", "exitCode", "exit_status", "exitStatus", "returncode", "return_code"}
)

// unwrapped takes a result out of its document, which may have been read before.
func (k *Known) unwrapped(text string) wrapped {
	if !mayWrap(text) {
		return wrapped{}
	}
	if k == nil {
		return unwrapResult(text)
	}
	w, ok := k.wrapped[text]
	if !ok {
		if w = unwrapResult(text); k.wrapped == nil {
			k.wrapped = make(map[string]wrapped)
		}
		k.wrapped[text] = w
	}
	return w
}

// mayWrap reports whether a text looks like such a document: reading one takes long.
func mayWrap(text string) bool {
	text = strings.TrimSpace(text)
	return strings.HasPrefix(text, "{") && strings.HasSuffix(text, "}") && slices.ContainsFunc(codeFields,
		func(field string) bool { return strings.Contains(text, `"`+field+`"`) })
}

// unwrapResult reads a document that has a text that was put out, and the code of an exit, or that in its metadata.
func unwrapResult(text string) (w wrapped) {
	var doc map[string]json.RawMessage
	if json.Unmarshal([]byte(text), &doc) != nil {
		return w
	}
	var metadata map[string]json.RawMessage
	_ = json.Unmarshal(doc["metadata"], &metadata) // or else there is none
	code, told := 0, false
	for _, fields := range []map[string]json.RawMessage{doc, metadata} {
		for _, name := range codeFields {
			if raw, ok := fields[name]; ok && !told {
				told = string(raw) != "null" && json.Unmarshal(raw, &code) == nil
			}
		}
	}
	var parts []string
	for _, name := range append(slices.Clone(outputFields), "error") {
		said := ""
		if json.Unmarshal(doc[name], &said) == nil && doc[name] != nil {
			w.ok = w.ok || name != "error"
			w.failed = w.failed || name == "error" && said != "" && code < 0
			if said != "" && !slices.Contains(parts, said) {
				parts = append(parts, strings.TrimSuffix(said, "\n"))
			}
		}
	}
	if w.ok = w.ok && told; !w.ok {
		return wrapped{}
	}
	if w.text = strings.Join(parts, "\n"); !w.failed {
		w.text = headed(fmt.Sprintf("Exit code %d", code), w.text)
	}
	return w
}

// headed is what a command put out, behind the line on how it ended.
func headed(ended, output string) string {
	if output == "" {
		return ended
	}
	return ended + "\n" + output
}

// Output is the result of a call without the line in front that says with which code it ended, where it says more.
func Output(text string) string {
	if line, rest, more := strings.Cut(text, "\n"); more && SaysExit(strings.TrimSpace(line)) {
		return rest
	}
	return text
}

// maxFrame is how much of a text a harness may say before and behind what a command put out, in bytes.
const maxFrame = 1000

// framed is what a command put out, without the lines of its harness around it, but for the one on how it ended, which
// stands in front:
//
//	Chunk ID: 1a2b3c        Command: go test ./...
//	Wall time: 0.2 seconds  Directory: (root)
//	Exit code: 1            Output: FAIL
//	Output:                 Error: (none)
//	FAIL                    Exit Code: 1
//
// Where nothing says how it ended the text stays as it is.
func framed(text string) string {
	if head, output, ok := strings.Cut(clip.Head(text, maxFrame), "\nOutput:\n"); ok {
		if ended := endOf(head); ended != "" {
			return headed(ended, strings.TrimSuffix(output+text[len(clip.Head(text, maxFrame)):], "\n"))
		}
		return text
	}
	if !strings.HasPrefix(text, "Command: ") {
		return text
	}
	_, rest, ok := strings.Cut(text, "\nOutput: ")
	at := strings.LastIndex(rest, "\nError: ")
	if !ok || at < 0 || len(rest)-at > maxFrame {
		return text
	}
	says, _, _ := strings.Cut(rest[at+1:], "\n")
	output, ended := strings.TrimSuffix(rest[:at], "\n"), endOf(rest[at+1:])
	if says != "Error: (none)" {
		output += "\n" + says
	}
	if ended == "" {
		return text
	}
	return headed(ended, strings.TrimPrefix(strings.TrimPrefix(output, "(empty)"), "\n"))
}

// endOf is the line on how a command ended, among lines that all name what they say; empty where there is none.
func endOf(lines string) (ended string) {
	for line := range strings.Lines(lines) {
		line = strings.TrimSpace(line)
		if SaysExit(line) {
			ended = line
		} else if name, _, ok := strings.Cut(line, ": "); !ok || strings.Count(name, " ") > 2 {
			return ""
		}
	}
	return ended
}

const (
	escape      = '\x1b'
	endOfString = "\x1b\\" // of a sequence that has a text in it
)

// withoutEscapes is a text without the sequences with which a program sets colours, moves the cursor, or links. One
// that does not end is left out up to the end of its line.
func withoutEscapes(text string) string {
	i := strings.IndexByte(text, escape)
	if i < 0 {
		return text
	}
	var b strings.Builder
	for ; i >= 0; i = strings.IndexByte(text, escape) {
		b.WriteString(text[:i])
		text = text[i+sequence(text[i:]):]
	}
	b.WriteString(text)
	return b.String()
}

// sequence is the length of the sequence that a text begins with: the escape alone where it begins none.
func sequence(text string) int {
	if len(text) < 2 {
		return len(text)
	}
	line, _, _ := strings.Cut(clip.Head(text, maxSequence), "\n")
	switch text[1] {
	case '[': // up to a letter
		for i := 2; i < len(line); i++ {
			if c := line[i]; c >= '@' && c <= '~' {
				return i + 1
			} else if c < ' ' || c > '~' {
				return i
			}
		}
		return len(line)
	case ']', 'P', 'X', '^', '_': // up to a bell, or the escape that ends it
		for i := 2; i < len(line); i++ {
			switch {
			case line[i] == '\a':
				return i + 1
			case strings.HasPrefix(line[i:], endOfString):
				return i + len(endOfString)
			case line[i] == escape: // another sequence begins
				return i
			}
		}
		return len(line)
	}
	i := 1
	for i < len(line) && line[i] >= ' ' && line[i] <= '/' {
		i++
	}
	if i < len(line) && line[i] >= '0' && line[i] <= '~' {
		return i + 1
	}
	return 1
}

// maxSequence is how long a sequence is at the most, in bytes: links have an address.
const maxSequence = 2048
