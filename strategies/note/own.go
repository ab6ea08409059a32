package note

import (
	"encoding/json"
	"strings"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/strategies/note/internal/outcome"
	"github.com/kagewasm/kagewasm/strategies/note/internal/work"
)

// A person may run commands of their own from within the harness ("! git push"). They are no words, and what they did
// changes how things stand: the thread tells them, and the last commit is theirs too.

// ownMark begins the line on a command that a person ran.
const ownMark = "The person ran: "

// ownCommands follows the commands that a person runs.
type ownCommands struct {
	waits string // a command whose output is still to come
	lines []string
}

// own is a command that a person ran, and what came back.
type own struct {
	command, output string
	// told: the harness says of a command that failed that it did.
	told bool
}

// of reads the command of a message, with what came back where that stands there. Ok is false where it holds none, or
// one whose output follows in the next message.
func (c *ownCommands) of(m *abi.Message) (o own, ok bool) {
	text := strings.TrimSpace(m.Text())
	waits := c.waits
	c.waits = ""
	if command, ok := inside(text, "<bash-input>", "</bash-input>"); ok {
		if !strings.Contains(text, "<bash-stdout>") {
			c.waits = command
			return o, false
		}
		waits = command
	}
	out, ok := inside(text, "<bash-stdout>", "</bash-stdout>")
	if ok && waits != "" {
		err, _ := inside(text, "<bash-stderr>", "</bash-stderr>")
		return own{command: waits, output: strings.TrimSpace(out + "\n" + err)}, true
	}
	if inner, ok := inside(text, "<user_shell_command>", "</user_shell_command>"); ok {
		command, _ := inside(inner, "<command>", "</command>")
		out, ran := inside(inner, "<result>", "</result>")
		return own{command, out, true}, ran && command != ""
	}
	if m.Kind != abi.KindBash {
		return o, false
	}
	command, out, ok := strings.Cut(strings.TrimPrefix(text, "Ran `"), "`\n")
	return own{command, strings.ReplaceAll(out, fence, ""), true}, ok && command != "" && command != text
}

// inside is what stands between two marks in a text.
func inside(text, from, to string) (string, bool) {
	_, rest, ok := strings.Cut(text, from)
	inner, _, ended := strings.Cut(rest, to)
	return strings.TrimSpace(inner), ok && ended
}

// step is the command as it is told, and what it did to the repository and to files.
func (o own) step(h outcome.Harness) work.Step {
	args, err := json.Marshal(map[string]string{"command": o.command})
	if err != nil {
		return work.Step{}
	}
	h.Marks = o.told
	w := work.New(h)
	w.Call(&abi.ToolCall{ID: ownMark, Name: "bash", Arguments: string(args)})
	return w.Result(&abi.Message{Role: abi.RoleTool, ToolCallID: ownMark, Content: abi.Text(o.output)})
}

// ran takes a message of the harness, which may hold a command that the person ran. Told: it goes, and is told.
func (t *thread) ran(m *abi.Message, told bool) {
	o, ok := t.own.of(m)
	if !ok || len(t.turns) == 0 {
		return
	}
	s := o.step(t.harness)
	t.stood(s)
	if told && s.Text != "" {
		t.own.lines = append(t.own.lines, ownMark+s.Text)
		t.step(step{did: ownMark + s.Text})
		t.silent = false
	}
}
