package codec

import (
	"slices"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/transcript/internal/content"
	"github.com/kagewasm/kagewasm/transcript/internal/jsondoc"
)

// Block is what a content block is to its message: a call, a message of its own,
// or else a part. A message of its own is a tool result or, in an answer, a
// compaction that the provider made.
type Block struct {
	Call    *abi.ToolCall
	Message *abi.Message
	At      Slot // where the call's arguments or the result's content stand
	Part    abi.Part
	// Signed says that the block carries a provider's signature. The calls of
	// its answer then keep their bytes.
	Signed bool
}

// CallBlock reads a call. Its arguments stand in record rec, under a key of o.
func CallBlock(rec int, o *jsondoc.Object, id, name, key string) Block {
	call := &abi.ToolCall{ID: id, Name: name, Arguments: Arguments(o, key)}
	return Block{Call: call, At: SlotOf(rec, o, key)}
}

// BlockReader makes messages of records that hold lists of blocks, as those of
// the Messages API and of Gemini. A record of the model is one message, with the
// blocks that are tool calls as its calls. A record of the user is a message
// for each tool result, and one for each run of other blocks between them.
type BlockReader struct {
	*Log
	// Form reads a block of record rec. An answer has calls and no results;
	// other records have results and no calls.
	Form func(parent *jsondoc.Object, at jsondoc.Span, rec int, answer bool) Block
	// Header reads what record i says around its blocks into a new message,
	// which is the nth of the record. nil where records say nothing more.
	Header func(i, nth int, m *abi.Message)
	// Speaker says who spoke a message that is neither answer nor result. nil
	// means the user, or the kind that the frame around the text names.
	Speaker func(i int, m *abi.Message)
	// Plain makes a list of one text a text.
	Plain bool
	// Summaries are the provider's compactions that were read.
	Summaries []SummaryBlock

	open   *Message // the answer that blocks are still added to
	parts  []abi.Part
	signed bool
}

// SummaryBlock is a compaction that a provider made: its message and its place.
type SummaryBlock struct {
	*Message
	At jsondoc.Span
}

// Start adds a message that begins in record i.
func (r *BlockReader) Start(i int, m abi.Message) *Message {
	if r.Header != nil {
		r.Header(i, len(r.MessagesIn(i)), &m)
	}
	return r.Add(i, m)
}

// StartAnswer adds a message of the model, and leaves it open for more blocks.
func (r *BlockReader) StartAnswer(i int) *Message {
	r.CloseAnswer()
	r.open = r.Start(i, abi.Message{Role: abi.RoleAssistant})
	return r.open
}

// Answering returns the answer that is still open, or nil.
func (r *BlockReader) Answering() *Message { return r.open }

// AddPart adds parts to the open answer.
func (r *BlockReader) AddPart(p ...abi.Part) { r.parts = append(r.parts, p...) }

// ReadAnswer adds the blocks of a list in record i to the open answer, or to a
// new one. A summary is a message of its own, after which a new answer begins.
func (r *BlockReader) ReadAnswer(i int, list jsondoc.Span, o *jsondoc.Object) {
	var of []int
	var thinking []bool
	for _, at := range o.Elements(list) {
		b := r.Form(o, at, i, true)
		thinking = append(thinking, b.Part.IsThinking())
		if b.Message != nil {
			r.CloseAnswer()
			summary := r.Result(i, b)
			r.Summaries = append(r.Summaries, SummaryBlock{summary, at})
			of = append(of, summary.Index)
			continue
		}
		if r.open == nil {
			r.StartAnswer(i)
		}
		r.block(b)
		of = append(of, r.open.Index)
	}
	r.spread(i, list, of)
	r.records[i].thinking = thinking
}

// block adds a block to the open answer.
func (r *BlockReader) block(b Block) {
	if b.Call != nil {
		r.open.CallAt(b.At, *b.Call)
	} else {
		r.AddPart(b.Part)
	}
	r.signed = r.signed || b.Signed
}

// spread notes which message each block of a list belongs to.
func (r *BlockReader) spread(i int, list jsondoc.Span, of []int) {
	if len(of) > 0 {
		r.records[i].blocks, r.records[i].of = list, of
	}
}

// Result adds the message of a tool result or of a summary.
func (r *BlockReader) Result(i int, b Block) *Message {
	m := r.Start(i, *b.Message)
	m.Output = b.At
	return m
}

// CloseAnswer ends the open answer, if there is one.
func (r *BlockReader) CloseAnswer() {
	if r.open == nil {
		return
	}
	r.open.Content = content.FromParts(r.parts)
	for i := range r.open.args {
		r.open.args[i].Fixed = r.open.args[i].Fixed || r.signed
	}
	r.open, r.parts, r.signed = nil, nil, false
}

// ReadUser reads a record that is not the model's: a text or a list of blocks
// under a key.
func (r *BlockReader) ReadUser(i int, o *jsondoc.Object, key string) {
	list := o.Value(key)
	if o.Kind(list) != '[' {
		r.say(i, Content(o, key))
		return
	}
	blocks := o.Elements(list)
	if len(blocks) == 0 {
		r.CloseAnswer()
		r.Start(i, abi.Message{Role: abi.RoleUser, Content: abi.Parts()})
		return
	}
	var of []int
	var words []abi.Part // since the last result
	flush := func() {
		if len(words) > 0 {
			r.words(i, words)
			of = append(of, slices.Repeat([]int{len(r.Messages) - 1}, len(words))...)
			words = nil
		}
	}
	for _, at := range blocks {
		b := r.Form(o, at, i, false)
		if b.Message == nil {
			words = append(words, b.Part)
			continue
		}
		flush()
		r.Result(i, b)
		of = append(of, len(r.Messages)-1)
	}
	flush()
	r.spread(i, list, of)
}

func (r *BlockReader) words(i int, parts []abi.Part) {
	if r.Plain {
		r.say(i, content.FromParts(parts))
	} else {
		r.say(i, abi.Parts(parts...))
	}
}

// say adds a message that is neither an answer nor a result.
func (r *BlockReader) say(i int, c abi.Content) {
	r.CloseAnswer()
	m := r.Start(i, abi.Message{Role: abi.RoleUser, Content: c})
	if r.Speaker != nil {
		r.Speaker(i, &m.Message)
	} else {
		m.Kind = content.Framed(c)
	}
}
