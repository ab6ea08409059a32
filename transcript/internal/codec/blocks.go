package codec

import (
	"slices"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/transcript/internal/content"
	"github.com/kagewasm/kagewasm/transcript/internal/jsondoc"
)

// Block is what a block is to its message: a call, a message of its own, which is a tool result or, in an answer, a
// compaction that the provider made; and otherwise a part.
type Block struct {
	Call    *abi.ToolCall
	Message *abi.Message
	At      Slot // of the call's arguments or the result's content
	Part    abi.Part
	// Signed says that the block carries a provider's signature.
	Signed bool
}

// CallBlock is a call whose arguments stand in record rec, under a key of o.
func CallBlock(rec int, o *jsondoc.Object, id, name, key string) Block {
	call := &abi.ToolCall{ID: id, Name: name, Arguments: Arguments(o, key)}
	return Block{Call: call, At: SlotOf(rec, o, key)}
}

// BlockReader makes messages of records that hold lists of blocks, as the
// Messages API and Gemini have them. A record of the model is one message,
// with the blocks that are tool calls as its calls; where a signature is in it,
// they stay as they are. A record of the user is a message for each tool
// result, and one for each run of other blocks between them.
type BlockReader struct {
	*Log
	// Form reads a block of record rec. In an answer there are calls, and no
	// results; elsewhere results, and no calls.
	Form func(parent *jsondoc.Object, at jsondoc.Span, rec int, answer bool) Block
	// Begin, where it is set, notes on a new message of record i what stands
	// around its blocks; nth counts the messages of the record.
	Begin func(i, nth int, m *abi.Message)
	// Spoke says who a message is from that is no answer and no result. Without
	// it, it is from the user, or of the kind that a frame names.
	Spoke func(i int, m *abi.Message)
	// Plain says that one text is a text, and not a list of one.
	Plain bool
	// Summaries are the compactions in answers that were read.
	Summaries []SummaryBlock

	open   *Message // the answer that blocks are still added to
	parts  []abi.Part
	signed bool
}

// SummaryBlock is a compaction that the provider made, and the message it is.
type SummaryBlock struct {
	*Message
	At jsondoc.Span
}

// Begun begins a message in record i.
func (r *BlockReader) Begun(i int, m abi.Message) *Message {
	if r.Begin != nil {
		r.Begin(i, len(r.Held(i)), &m)
	}
	return r.Add(i, m)
}

// Answer begins a message of the model.
func (r *BlockReader) Answer(i int) *Message {
	r.Close()
	r.open = r.Begun(i, abi.Message{Role: abi.RoleAssistant})
	return r.open
}

// Current is the answer that blocks are still added to, or nil.
func (r *BlockReader) Current() *Message { return r.open }

// AddPart adds parts to the open answer.
func (r *BlockReader) AddPart(p ...abi.Part) { r.parts = append(r.parts, p...) }

// Blocks adds the blocks of a list in record i to the open answer, or to one
// that it begins. A summary is a message of its own, and what follows it
// another answer.
func (r *BlockReader) Blocks(i int, list jsondoc.Span, o *jsondoc.Object) {
	var of []int
	for _, at := range o.Elements(list) {
		b := r.Form(o, at, i, true)
		if b.Message != nil {
			r.Close()
			summary := r.Result(i, b)
			r.Summaries = append(r.Summaries, SummaryBlock{summary, at})
			of = append(of, summary.Index)
			continue
		}
		if r.open == nil {
			r.Answer(i)
		}
		r.block(b)
		of = append(of, r.open.Index)
	}
	r.spread(i, list, of)
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

// spread notes of which message each block of a list is.
func (r *BlockReader) spread(i int, list jsondoc.Span, of []int) {
	if len(of) > 0 {
		r.records[i].blocks, r.records[i].of = list, of
	}
}

// Result begins the message of a tool result, or of a summary.
func (r *BlockReader) Result(i int, b Block) *Message {
	m := r.Begun(i, *b.Message)
	m.Output = b.At
	return m
}

// Close ends the answer.
func (r *BlockReader) Close() {
	if r.open == nil {
		return
	}
	r.open.Content = content.Plain(r.parts)
	for i := range r.open.args {
		r.open.args[i].Fixed = r.open.args[i].Fixed || r.signed
	}
	r.open, r.parts, r.signed = nil, nil, false
}

// User reads what stands under a key in a record that is not the model's: a text,
// or blocks.
func (r *BlockReader) User(i int, o *jsondoc.Object, key string) {
	list := o.Value(key)
	if o.Kind(list) != '[' {
		r.Say(i, Content(o, key))
		return
	}
	blocks := o.Elements(list)
	if len(blocks) == 0 {
		r.Close()
		r.Begun(i, abi.Message{Role: abi.RoleUser, Content: abi.Parts()})
		return
	}
	var of []int
	var words []abi.Part // since the last result
	say := func() {
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
		say()
		r.Result(i, b)
		of = append(of, len(r.Messages)-1)
	}
	say()
	r.spread(i, list, of)
}

func (r *BlockReader) words(i int, parts []abi.Part) {
	if r.Plain {
		r.Say(i, content.Plain(parts))
	} else {
		r.Say(i, abi.Parts(parts...))
	}
}

// Say adds a message that is no answer and no result.
func (r *BlockReader) Say(i int, c abi.Content) {
	r.Close()
	m := r.Begun(i, abi.Message{Role: abi.RoleUser, Content: c})
	if r.Spoke != nil {
		r.Spoke(i, &m.Message)
	} else {
		m.Kind = content.Framed(c)
	}
}
