package demogen

import (
	"bufio"
	"bytes"
	"strings"
)

// event is one step of a script:
//
//	%% VERB ARGUMENTS
//	body
//
// Verbs are meta, system, user and say for messages, and read, list, grep,
// edit, write and run for the tool calls of the say above them.
type event struct {
	verb string
	args []string
	body string // without the last newline
	line int
}

const marker = "%% "

// parse reads a script. What stands before the first marker is a comment.
func parse(script []byte) []event {
	var events []event
	var body []string
	flush := func() {
		if n := len(events); n > 0 {
			events[n-1].body = strings.TrimRight(strings.Join(body, "\n"), "\n")
		}
		body = nil
	}
	lines := bufio.NewScanner(bytes.NewReader(script))
	for n := 1; lines.Scan(); n++ {
		head, ok := strings.CutPrefix(lines.Text(), marker)
		if !ok {
			body = append(body, lines.Text())
			continue
		}
		flush()
		words := strings.Fields(head)
		events = append(events, event{verb: words[0], args: words[1:], line: n})
	}
	flush()
	return events
}

// is reports whether one of the event's arguments is word.
func (e *event) is(word string) bool {
	for _, arg := range e.args {
		if arg == word {
			return true
		}
	}
	return false
}

// value returns what follows key= in the event's arguments.
func (e *event) value(key string) string {
	for _, arg := range e.args {
		if v, ok := strings.CutPrefix(arg, key+"="); ok {
			return v
		}
	}
	return ""
}
