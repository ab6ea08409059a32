package codec

import (
	"cmp"

	"github.com/kagewasm/kagewasm/abi"
)

// Format is one format of sessions.
type Format struct {
	Name string
	// Lines says that a file is one JSON object a line.
	Lines bool
	// Detect says why a file is not in this format, or "" where it is. It is
	// called for files whose first value is in order, and which are lines where
	// the format is.
	Detect func(f *File) (why string)
	// Read reads all of a file. Messages have the ids of the source, empty
	// where it has none. What is wrong is noted in the file; the log is of no
	// use then.
	Read func(f *File) *Log
	// Write writes a whole file, of messages that came from elsewhere.
	Write func(about About, msgs []abi.Message) []byte
}

// About is what a file says beside its messages; empty where it does not.
type About struct {
	Model   string // that made the latest answer
	Session string // the session's own id
	Tools   []byte // definitions, in whatever form
}

// NoTime stands where a format asks for a time and none is known.
const NoTime = "1970-01-01T00:00:00.000Z"

// TimeOf is the time of a message, or another where it has none.
func TimeOf(m *abi.Message, other string) string { return cmp.Or(m.Timestamp, other) }

// SystemMark is the key that marks an entry of the user's which was a system
// message in another format, so that it is one again when it is read, and stays
// pinned. It serves programs whose logs have no place for a system prompt and
// that pass over keys they do not know.
const SystemMark = "isSystemPrompt"

// LeadingSystem is how many system messages a list begins with.
func LeadingSystem(msgs []abi.Message) int {
	for i := range msgs {
		if msgs[i].Role != abi.RoleSystem {
			return i
		}
	}
	return len(msgs)
}

// LastSummary is the index of the last summary in a list, or -1.
func LastSummary(msgs []abi.Message) int {
	for i := len(msgs) - 1; i >= 0; i-- {
		if IsSummary(&msgs[i]) {
			return i
		}
	}
	return -1
}

// IsSummary reports whether a message stands for others.
func IsSummary(m *abi.Message) bool { return m.Kind == abi.KindSummary && m.Role == abi.RoleUser }
