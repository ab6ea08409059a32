package transcript

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/set"
	"github.com/kagewasm/kagewasm/transcript/internal/codec"
)

// Session is a session file that was read. It refers to the bytes it was read
// from, which must not change. Several goroutines may use it at once.
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

	log *codec.Log
}

// Read reads a session. name stands in errors for the file; format may be
// [Auto] or empty. data must not be changed as long as the session is used.
//
// All errors are an [abi.Error]: of [abi.CodeBadInput] for the file, of
// [abi.CodeUsage] for an unknown format.
func Read(name string, data []byte, format Format) (*Session, error) {
	return ReadContext(context.Background(), name, data, format)
}

// ReadContext is [Read] until ctx is done, which is an error of [abi.CodeCanceled].
func ReadContext(ctx context.Context, name string, data []byte, format Format) (*Session, error) {
	file, err := codec.NewFile(name, data)
	if err != nil {
		return nil, err
	}
	file.Look = func() error { return canceled(ctx) }
	defer func() { file.Look = nil }() // the session outlives the reading
	f, err := pick(file, format)
	if err != nil {
		return nil, err
	}
	log := f.Read(file)
	if file.Err() != nil {
		return nil, file.Err()
	}
	if len(log.Messages) == 0 {
		return nil, file.Bad(file.Text, "give a session that has at least one message", "no messages")
	}
	assignIDs(log.Messages)
	s := &Session{Format: Format(f.Name), Tools: log.Tools, Model: log.Model, ID: log.Session, log: log}
	s.Messages = make([]abi.Message, 0, len(log.Messages))
	for _, m := range log.Messages {
		copied := m.Message
		copied.ToolCalls = slices.Clone(m.ToolCalls)
		s.Messages = append(s.Messages, copied)
	}
	for _, i := range log.Gone {
		s.Superseded = append(s.Superseded, log.Messages[i].ID)
	}
	return s, nil
}

func canceled(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return &abi.Error{Code: abi.CodeCanceled, Op: "read", Message: err.Error(), Err: err}
	}
	return nil
}

func pick(file *codec.File, format Format) (*codec.Format, error) {
	if format == "" || format == Auto {
		return detect(file)
	}
	return formatOf(format)
}

// assignIDs gives a positional id to every message that has none and to every
// one whose id an earlier message has.
func assignIDs(msgs []*codec.Message) {
	taken := make(map[string]bool, len(msgs))
	var need []int
	for i, m := range msgs {
		if m.ID == "" || taken[m.ID] {
			need = append(need, i)
		} else {
			taken[m.ID] = true
		}
	}
	for _, i := range need {
		id := fmt.Sprintf("m%05d", i)
		for n := 1; taken[id]; n++ {
			id = fmt.Sprintf("m%05d.%d", i, n)
		}
		taken[id] = true
		msgs[i].ID = id
	}
}

// Live returns the messages that the model would see next: all but Superseded.
func (s *Session) Live() []abi.Message {
	if len(s.Superseded) == 0 {
		return s.Messages
	}
	gone := set.Of(s.Superseded...)
	return slices.DeleteFunc(slices.Clone(s.Messages), func(m abi.Message) bool { return gone[m.ID] })
}
