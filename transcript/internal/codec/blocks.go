package codec

import (
	"slices"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/transcript/internal/content"
	"github.com/kagewasm/kagewasm/transcript/internal/jsondoc"
)

// BlockForm is what the blocks of a format look like.
type BlockForm interface {
	// Open reads the object of a block.
	Open(parent *jsondoc.Object, at jsondoc.Span) (*jsondoc.Object, BlockClass)
	// Call adds a call, in record rec, to the answer it is made in. signed says
	// that the block carries a provider's signature.
	Call(m *Message, b *jsondoc.Object, rec int) (signed bool)
	// Result reads the result of a call, and where an edit replaces it; and a
	// summary.
	Result(b *jsondoc.Object, rec int) (abi.Message, Slot)
	// Part reads any other block.
	Part(b *jsondoc.Object) (p abi.Part, signed bool)
}

// BlockClass is what a block is to its message.
type BlockClass int

// The classes of blocks. A BlockSummary is a compaction that the provider made.
const (
	BlockPart BlockClass = iota
	BlockCall
	BlockResult
	BlockSummary
)

// BlockReader makes messages of records that hold lists of blocks, as the
// Messages API and Gemini have them. A record of the model is one message,
// with the blocks that are tool calls as its calls; where a signature is in it,
// they stay as they are. A record of the user is a message for each tool
// result, and one for each run of other blocks between them.
type BlockReader struct {
	*Log
	Form BlockForm
	// Begin, where it is set, notes on a new message of record i what stands
	// around its blocks; nth counts the messages of the record.
	Begin func(i, nth int, m *abi.Message)
	// Spoke says who a message is from that is no answer and no result. Without
	// it, it is from the user, or of the kind that a frame names.
	Spoke func(i int, m *abi.Message)
	// Plain says that one text is a text, and not a list of one.
	Plain bool
	// Summaries are the blocks of class BlockSummary that were read.
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

// AddPart adds a part to the open answer.
func (r *BlockReader) AddPart(p abi.Part) { r.parts = append(r.parts, p) }

// Blocks adds the blocks of a list in record i to the open answer, or to one
// that it begins. A summary is a message of its own, and what follows it
// another answer.
func (r *BlockReader) Blocks(i int, list jsondoc.Span, o *jsondoc.Object) {
	var of []int
	for _, at := range o.Elements(list) {
		b, class := r.Form.Open(o, at)
		if class == BlockSummary {
			r.Close()
			r.Summaries = append(r.Summaries, SummaryBlock{r.result(i, b), at})
		} else {
			if r.open == nil {
				r.Answer(i)
			}
			r.block(i, b, class)
		}
		if of = append(of, len(r.Messages)-1); o.Err() != nil {
			return
		}
	}
	if len(of) > 0 && of[0] != of[len(of)-1] {
		r.records[i].blocks, r.records[i].of = list, of
	}
}

// block adds a block to the open answer.
func (r *BlockReader) block(i int, b *jsondoc.Object, class BlockClass) {
	signed := false
	if class == BlockCall {
		signed = r.Form.Call(r.open, b, i)
	} else {
		var p abi.Part
		p, signed = r.Form.Part(b)
		r.AddPart(p)
	}
	r.signed = r.signed || signed
}

// result begins the message of a tool result, or of a summary.
func (r *BlockReader) result(i int, b *jsondoc.Object) *Message {
	m, at := r.Form.Result(b, i)
	added := r.Begun(i, m)
	added.Output = at
	return added
}

// Close ends the answer.
func (r *BlockReader) Close() {
	if r.open == nil {
		return
	}
	r.open.Content = content.Plain(r.parts)
	for i := range r.open.args {
		r.open.args[i].Fixed = r.signed
	}
	r.open, r.parts, r.signed = nil, nil, false
}

// User reads the blocks of a record that is not the model's.
func (r *BlockReader) User(i int, list jsondoc.Span, o *jsondoc.Object) {
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
		b, class := r.Form.Open(o, at)
		if class == BlockResult {
			say()
			r.result(i, b)
			of = append(of, len(r.Messages)-1)
		} else {
			p, _ := r.Form.Part(b)
			words = append(words, p)
		}
		if o.Err() != nil {
			return
		}
	}
	say()
	r.records[i].blocks, r.records[i].of = list, of
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
