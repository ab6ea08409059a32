package transcript

import (
	"encoding/json"
	"slices"

	"github.com/kagewasm/kagewasm/abi"
)

// Session is a session file that was read. It refers to the bytes it was read
// from, which must not change. It may be used by several goroutines at once.
type Session struct {
	Format Format
	// Messages is the session, oldest first; every message has an id, and no
	// two the same. The caller may change the list and the messages in it.
	Messages []abi.Message
	// Tools are the tool definitions the file holds, in whatever form; nil
	// where it holds none.
	Tools json.RawMessage
	// Model is the model that made the latest answer, and ID the session's own
	// id; empty where the source does not say.
	Model string
	ID    string
	// Superseded are the ids of the messages that the program which wrote the
	// log no longer shows the model: its own compaction took their place, or a
	// person rolled them back. Messages holds them all the same; without them
	// it is what the model would see next. nil in formats that do not say.
	Superseded []string

	originals []abi.Message // as they were read
	doc       document
}

// Read reads a session. name stands in errors for the file; format may be
// [Auto] or empty. data must not be changed as long as the session is used.
//
// All errors are an [abi.Error]: of [abi.CodeBadInput] for the file, of
// [abi.CodeUsage] for an unknown format.
func Read(name string, data []byte, format Format) (*Session, error) {
	src := newSource(name, data)
	if err := src.notEmpty(); err != nil {
		return nil, err
	}
	c, err := pick(src, format)
	if err != nil {
		return nil, err
	}
	d, err := c.decode(src)
	if err != nil {
		return nil, err
	}
	if len(d.messages) == 0 {
		return nil, src.bad(src.body, "give a session that has at least one message", "no messages")
	}
	assignIDs(d.messages)
	var superseded []string
	for _, i := range d.gone {
		superseded = append(superseded, d.messages[i].ID)
	}
	return &Session{
		Format: c.format(), Messages: cloneMessages(d.messages),
		Tools: d.tools, Model: d.model, ID: d.session, Superseded: superseded,
		originals: d.messages, doc: d.doc,
	}, nil
}

func pick(src *source, format Format) (codec, error) {
	if format == "" || format == Auto {
		return detect(src)
	}
	return codecOf(format)
}

// cloneMessages copies what a caller can change in place.
func cloneMessages(msgs []abi.Message) []abi.Message {
	out := slices.Clone(msgs)
	for i := range out {
		out[i].ToolCalls = slices.Clone(out[i].ToolCalls)
	}
	return out
}

// Live are the messages that the model would see next: all but Superseded.
func (s *Session) Live() []abi.Message {
	if len(s.Superseded) == 0 {
		return s.Messages
	}
	gone := make(map[string]bool, len(s.Superseded))
	for _, id := range s.Superseded {
		gone[id] = true
	}
	return slices.DeleteFunc(slices.Clone(s.Messages), func(m abi.Message) bool { return gone[m.ID] })
}
