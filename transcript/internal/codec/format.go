package codec

import (
	"cmp"

	"github.com/kagewasm/kagewasm/abi"
)

// Format is one format of sessions.
type Format struct {
	Name string
	// Lines says that a file of the format is one JSON object a line.
	Lines bool
	// Detect returns why a file is not in this format, "" where it is. The
	// file's first value is valid JSON. A format of lines is asked about files
	// of lines alone.
	Detect func(f *File) (why string)
	// Read reads a whole file. Messages have the ids of the source, empty where
	// it has none. A fault is noted in the file, and the log is of no use then.
	Read func(f *File) *Log
	// Write writes a whole file of messages that came from another format.
	Write func(about About, msgs []abi.Message) []byte
}

// About is what a file says beside its messages. Fields it does not say are
// empty.
type About struct {
	Model   string // the model that made the latest answer
	Session string // the session's own id
	Tools   []byte // the tool definitions, in whatever form
}

// NoTime is written where a format asks for a time and none is known.
const NoTime = "1970-01-01T00:00:00.000Z"

// TimeOf returns the time of a message, or other where it has none.
func TimeOf(m *abi.Message, other string) string { return cmp.Or(m.Timestamp, other) }

// SystemMark marks an entry of the user's that was a system message in another
// format. Read again, it is a system message, and stays pinned. Some programs
// have no place for a system prompt in their logs; they pass over unknown keys.
const SystemMark = "isSystemPrompt"

// SystemPrompt takes the system prompt out of a list, for formats that hold it apart: the
// system messages that the list begins with, and those that are pinned for where they
// stand, see [abi.Pinned].
func SystemPrompt(msgs []abi.Message) (prompt, rest []abi.Message) {
	pins, leads := abi.Pinned(msgs), true
	for i := range msgs {
		m := &msgs[i]
		leads = leads && m.Role == abi.RoleSystem
		if leads || m.Role == abi.RoleSystem && pins[i] && !m.AlwaysKept() {
			prompt = append(prompt, *m)
		} else {
			rest = append(rest, *m)
		}
	}
	return prompt, rest
}

// LastSummary returns the index of the last summary in a list, or -1.
func LastSummary(msgs []abi.Message) int {
	for i := len(msgs) - 1; i >= 0; i-- {
		if isSummary(&msgs[i]) {
			return i
		}
	}
	return -1
}

// isSummary reports whether a message is a summary that stands for others.
func isSummary(m *abi.Message) bool { return m.Kind == abi.KindSummary && m.Role == abi.RoleUser }
