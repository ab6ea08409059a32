package codec

import (
	"cmp"
	"slices"
	"strings"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/transcript/internal/jsondoc"
)

// Log is a file that was read: its messages, and where they stand in its
// records. A record may hold one message, several in its blocks, or a part of
// one. Records that hold none stay, unless they go with another: see
// [Log.GoesWith].
type Log struct {
	*File
	jsondoc.Sequence
	About
	Messages []*Message
	// Gone are the messages, by index, that the program no longer shows the
	// model.
	Gone []int

	// Entry writes a new message as a record.
	Entry func(m *abi.Message) []byte
	// Args writes the arguments of a call. Result writes the content of a tool
	// result; nil writes a string or neutral parts.
	Args   func(text string, was Slot) []byte
	Result func(c abi.Content, was Slot) []byte
	// Split allows a record of several messages to be written as two, with a new
	// message between them.
	Split bool
	// DropsThinking allows an answer to be written without its thinking. In an
	// agent's own log it stays: the agent decides what it sends.
	DropsThinking bool
	// Prepare, if set, changes a rewriting before it is written.
	Prepare func(w *Rewrite)
	// Join, if set, merges records that a provider refuses side by side.
	Join func(items []jsondoc.Item) []jsondoc.Item

	lined   bool
	records []record    // by record
	owners  map[int]int // by record
	preface preface
}

// Message is a message that was read, and where it stands.
type Message struct {
	abi.Message
	// Output is the place of a tool result's content.
	Output Slot
	// Printed is what a command put out, where its text is put together of several
	// values of the record.
	Printed string

	Index int // among the messages
	Rec   int // the record it begins in

	args []Slot // of each tool call
}

// Slot is the place of a value that a compaction may replace.
type Slot struct {
	jsondoc.Place
	Rec   int
	Fixed bool // a signature covers the value, so it may not change
}

// record names the messages that a record holds, or holds a part of.
type record struct {
	msgs []int
	// blocks is the list whose elements are the record's messages. of names the
	// message of each element, and thinking tells which of an answer's are what the
	// model thought. Only records of blocks have them.
	blocks   jsondoc.Span
	of       []int
	thinking []bool
}

// preface is where a request body keeps its system prompt: under a key of its
// own, as one value or as a list of blocks. Each block is a message, the first
// ones of the session.
type preface struct {
	count int
	field jsondoc.Span // the key, its value, and the comma that goes with them
	list  jsondoc.Span // the list of blocks; none where the value is one message
}

// LineLog returns the log of a file of one record a line.
func (f *File) LineLog() *Log { return &Log{File: f, Sequence: jsondoc.LinesOf(f.Source), lined: true} }

// ListLog returns the log of a list of records.
func (f *File) ListLog(list jsondoc.Span) *Log {
	return &Log{File: f, Sequence: jsondoc.ListOf(f.Source, f.frame(), list)}
}

// ValueLog returns the log of one message in the place of a list: see
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
		if !l.GoOn() {
			return
		}
		read(i, l.Open(at, what, known...))
	}
}

// ReadAbout reads the model and the tools of a request body. Tools are a list: what
// else stands there stays where it is, and is in no other format.
func ReadAbout(body *jsondoc.Object) (about About) {
	about.Model = body.Str("model")
	if tools := body.Value("tools"); body.Kind(tools) == '[' {
		about.Tools = body.Bytes(tools)
	}
	return about
}

// NoteModel notes the model of an answer, unless it is empty.
func (l *Log) NoteModel(model string) { l.Model = cmp.Or(model, l.Model) }

// Add adds a message that begins in record rec.
func (l *Log) Add(rec int, m abi.Message) *Message {
	added := &Message{Message: m, Rec: rec, Index: len(l.Messages)}
	l.Messages = append(l.Messages, added)
	l.Continue(rec, added)
	return added
}

// Continue notes that record rec holds a part of a message begun before.
func (l *Log) Continue(rec int, m *Message) {
	if l.records == nil {
		l.records = make([]record, len(l.Recs))
	}
	l.records[rec].msgs = append(l.records[rec].msgs, m.Index)
}

// MessagesIn returns the messages, by index, that a record holds.
func (l *Log) MessagesIn(rec int) []int {
	if l.records == nil {
		return nil
	}
	return l.records[rec].msgs
}

// Says are the places of a text in the first record of a message that has it, and what is to
// stand there now. Of a message that is put together around what a command put out, that is its place.
func (l *Log) Says(m *Message, text Words) (rec int, places []jsondoc.Span, is string) {
	if m.Rec >= len(l.Recs) {
		return m.Rec, nil, ""
	}
	if m.Printed == "" {
		for rec = m.Rec; rec < len(l.Recs); rec++ {
			if !slices.Contains(l.MessagesIn(rec), m.Index) {
				continue
			}
			if places = l.Strings(l.Recs[rec], text.Was); len(places) > 0 {
				return rec, places, text.Is
			}
		}
		return m.Rec, nil, ""
	}
	before, after, _ := strings.Cut(text.Was, m.Printed)
	is, begins := strings.CutPrefix(text.Is, before)
	is, ends := strings.CutSuffix(is, after)
	if !begins || !ends {
		return m.Rec, nil, ""
	}
	return m.Rec, l.Strings(l.Recs[m.Rec], m.Printed), is
}

// HasMessage reports whether a record holds a message, or a part of one.
func (l *Log) HasMessage(rec int) bool { return len(l.MessagesIn(rec)) > 0 }

// BlocksOf returns the list of blocks in a record, if it has one.
func (l *Log) BlocksOf(rec int) jsondoc.Span { return l.records[rec].blocks }

// GoesWith notes that record rec, which holds no message, goes when its owner
// goes.
func (l *Log) GoesWith(rec, owner int) {
	if l.owners == nil {
		l.owners = make(map[int]int)
	}
	l.owners[rec] = owner
}

// Supersede notes which messages the program no longer shows the model.
func (l *Log) Supersede(is func(m *Message) bool) {
	for i, m := range l.Messages {
		if is(m) {
			l.Gone = append(l.Gone, i)
		}
	}
}

// Preface adds the system messages that a body keeps under a key of its own.
// list is the place of their list, or none where the value is one message. Call
// it before Add.
func (l *Log) Preface(body *jsondoc.Object, key string, list jsondoc.Span, contents ...abi.Content) {
	l.preface = preface{len(contents), body.Removal(key), list}
	for _, c := range contents {
		l.Messages = append(l.Messages, &Message{
			Message: abi.Message{Role: abi.RoleSystem, Content: c}, Index: len(l.Messages)})
	}
}

// SlotOf returns the place of a value in record rec.
func SlotOf(rec int, o *jsondoc.Object, key string) Slot { return Slot{Rec: rec, Place: o.Place(key)} }

// Call adds a call. Its arguments stand in record rec, under a key of o.
func (m *Message) Call(rec int, o *jsondoc.Object, id, name, key string) {
	m.CallAt(SlotOf(rec, o, key), abi.ToolCall{ID: id, Name: name, Arguments: Arguments(o, key)})
}

// CallAt adds a call whose arguments stand at the given place.
func (m *Message) CallAt(at Slot, call abi.ToolCall) {
	m.ToolCalls, m.args = append(m.ToolCalls, call), append(m.args, at)
}

// TakeCalls replaces the calls of m by those of another message.
func (m *Message) TakeCalls(of *Message) { m.ToolCalls, m.args = of.ToolCalls, of.args }
