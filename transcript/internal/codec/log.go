package codec

import (
	"cmp"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/transcript/internal/jsondoc"
)

// Log is a file that was read: its messages, and where they stand in its
// records. A record may hold one message, several in its blocks, or a part of
// one; those that hold none always stay.
type Log struct {
	*File
	jsondoc.Sequence
	About
	Messages []*Message
	// Gone are the messages, by index, that the program's own compaction took
	// from the model.
	Gone []int

	// Entry writes a new message as a record.
	Entry func(m *abi.Message) []byte
	// Args writes the arguments of a call, Result the content of a tool result;
	// without Result it is written as a string or as neutral parts.
	Args   func(text string, was Slot) []byte
	Result func(c abi.Content, was Slot) []byte
	// Split says that a record whose messages are blocks can be written as two,
	// with a new message between them.
	Split bool
	// Prepare changes what is written beside the messages themselves.
	Prepare func(w *Rewrite)
	// Join puts records together that a provider refuses side by side.
	Join func(items []jsondoc.Item) []jsondoc.Item

	lined   bool
	records []record    // by record
	owners  map[int]int // by record
	preface preface
}

// Message is a message that was read, and where it stands.
type Message struct {
	abi.Message
	// Output is where the content of a tool result stands.
	Output Slot

	Index int // among the messages
	Rec   int // the record it begins in

	args []Slot // of each tool call
}

// Slot is a value in a record that a compaction may replace.
type Slot struct {
	jsondoc.Place
	Rec   int
	Fixed bool // the value may not change, as a signature covers it
}

// record is which messages a record holds, or holds a part of.
type record struct {
	msgs []int
	// blocks is the list in the record that its messages are blocks of, and of
	// the message of each block; for records that may hold several.
	blocks jsondoc.Span
	of     []int
}

// preface is where a request body keeps its system prompt: apart from the
// list, under a key of its own, as one value or as a list of blocks. Each block
// is a message, the first ones of the session.
type preface struct {
	count int
	field jsondoc.Span // the key and its value, with a comma that goes with them
	list  jsondoc.Span // the list of the blocks; empty where the value is one message
}

// LineLog is the log of a file of one record a line.
func (f *File) LineLog() *Log { return &Log{File: f, Sequence: jsondoc.LinesOf(f.Source), lined: true} }

// ListLog is the log of a list of records.
func (f *File) ListLog(list jsondoc.Span) *Log {
	return &Log{File: f, Sequence: jsondoc.ListOf(f.Source, f.frame(), list)}
}

// ValueLog is the log of one message that stands in the place of a list: see
// [jsondoc.ValueOf].
func (f *File) ValueLog(value jsondoc.Span, before, after string) *Log {
	return &Log{File: f, Sequence: jsondoc.ValueOf(f.Source, f.frame(), value, before, after)}
}

// Each reads the records one after the other, up to the first fault.
func (l *Log) Each(what string, known []string, read func(i int, o *jsondoc.Object)) {
	for i, at := range l.Recs {
		if l.lined {
			l.Note(l.Check(at))
		}
		if l.Err() != nil {
			return
		}
		read(i, l.Open(at, what, known...))
	}
}

// ReadAbout reads the model and the tools of a request body.
func ReadAbout(body *jsondoc.Object) (about About) {
	about.Model = body.Str("model")
	if tools := body.Value("tools"); tools.OK() {
		about.Tools = body.Bytes(tools)
	}
	return about
}

// NoteModel takes in the model of an answer, unless it has none.
func (l *Log) NoteModel(model string) { l.Model = cmp.Or(model, l.Model) }

// Add notes the next message, which begins in record rec.
func (l *Log) Add(rec int, m abi.Message) *Message {
	added := &Message{Message: m, Rec: rec, Index: len(l.Messages)}
	l.Messages = append(l.Messages, added)
	l.Hold(rec, added)
	return added
}

// Hold notes that record rec holds a part of a message that another began.
func (l *Log) Hold(rec int, m *Message) {
	if l.records == nil {
		l.records = make([]record, len(l.Recs))
	}
	l.records[rec].msgs = append(l.records[rec].msgs, m.Index)
}

// Held are the messages, by index, that a record holds.
func (l *Log) Held(rec int) []int {
	if l.records == nil {
		return nil
	}
	return l.records[rec].msgs
}

// Holds reports whether a record holds a message, or a part of one.
func (l *Log) Holds(rec int) bool { return len(l.Held(rec)) > 0 }

// BlocksOf is the list of the blocks that a record holds messages in, if it does.
func (l *Log) BlocksOf(rec int) jsondoc.Span { return l.records[rec].blocks }

// Own says that record rec, which holds no message, goes with another record.
func (l *Log) Own(rec, owner int) {
	if l.owners == nil {
		l.owners = make(map[int]int)
	}
	l.owners[rec] = owner
}

// Supersede notes the messages that the program no longer shows the model.
func (l *Log) Supersede(is func(m *Message) bool) {
	for i, m := range l.Messages {
		if is(m) {
			l.Gone = append(l.Gone, i)
		}
	}
}

// Preface notes the system messages that a body keeps apart: see preface. list
// is empty where the value is one message.
func (l *Log) Preface(body *jsondoc.Object, key string, list jsondoc.Span, contents ...abi.Content) {
	l.preface = preface{len(contents), body.Removal(key), list}
	for _, c := range contents {
		l.Messages = append(l.Messages, &Message{
			Message: abi.Message{Role: abi.RoleSystem, Content: c}, Index: len(l.Messages)})
	}
}

// SlotOf is the place of a value in record rec.
func SlotOf(rec int, o *jsondoc.Object, key string) Slot { return Slot{Rec: rec, Place: o.Place(key)} }

// Call adds a call whose arguments stand in record rec, under a key of o.
func (m *Message) Call(rec int, o *jsondoc.Object, id, name, key string) {
	m.CallAt(SlotOf(rec, o, key), abi.ToolCall{ID: id, Name: name, Arguments: Arguments(o, key)})
}

// CallAt adds a call whose arguments stand at the given place.
func (m *Message) CallAt(at Slot, call abi.ToolCall) {
	m.ToolCalls, m.args = append(m.ToolCalls, call), append(m.args, at)
}

// TakeCalls gives m the calls of another message in place of its own.
func (m *Message) TakeCalls(of *Message) { m.ToolCalls, m.args = of.ToolCalls, of.args }
