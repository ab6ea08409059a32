package demogen

import (
	"slices"
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
	for i, line := range strings.Split(string(script), "\n") {
		words := strings.Fields(strings.TrimPrefix(line, marker))
		if !strings.HasPrefix(line, marker) || len(words) == 0 {
			body = append(body, line)
			continue
		}
		flush()
		events = append(events, event{verb: words[0], args: words[1:], line: i + 1})
	}
	flush()
	return events
}

// is reports whether one of the event's arguments is word.
func (e *event) is(word string) bool { return slices.Contains(e.args, word) }

// value returns what follows key= in the event's arguments.
func (e *event) value(key string) string {
	for _, arg := range e.args {
		if v, ok := strings.CutPrefix(arg, key+"="); ok {
			return v
		}
	}
	return ""
}

// options may stand after a call's verb and path.
var options = []string{"failed", "unanswered", "reuse", "took=", "lines=", "timeout=", "rm=", "mv="}

// unknown returns the first argument of a call that means nothing.
func (e *event) unknown() string {
	args := e.args
	if e.verb != "run" && len(args) > 0 {
		args = args[1:]
	}
	for _, arg := range args {
		key, _, ok := strings.Cut(arg, "=")
		if ok {
			key += "="
		}
		if !slices.Contains(options, key) {
			return arg
		}
	}
	return ""
}
