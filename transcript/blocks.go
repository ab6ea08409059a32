package transcript

import "github.com/kagewasm/kagewasm/abi"

// blockReader makes messages of records that hold lists of blocks, as the
// Messages API and Gemini have them. A record of the model is one message,
// with the blocks that are tool calls as its calls; where a signature is in it,
// they stay as they are. A record of the user is a message for each tool
// result, and one for each run of other blocks between them.
type blockReader struct {
	doc  *recordDoc
	d    *decoded
	form blockForm
	// begin notes on a new message of record i what stands around its blocks;
	// nth counts the messages of the record. spoken says who a message is from
	// that is no answer and no result. Both may be nil: nothing stands there,
	// and it is the user, or the kind that a frame names.
	begin  func(i, nth int, m *abi.Message)
	spoken func(i int, m *abi.Message)

	// plain says that one text is a text, and not a list of one.
	plain bool

	summaries []summaryBlock

	open   bool // there is an answer that blocks are still added to
	latest int  // its index
	parts  []abi.Part
	signed bool
}

// summaryBlock is a compaction that the provider made, and the message it is.
type summaryBlock struct {
	msg, rec int
	at       span
	text     string
}

// blockForm is what the blocks of a format look like.
type blockForm interface {
	// open reads the object of a block.
	open(parent *object, at span) (*object, blockClass)
	// call, result and part read blocks. The slots are what an edit replaces;
	// signed says that the block carries a signature.
	call(b *object, rec int) (c abi.ToolCall, s slot, signed bool)
	result(b *object, rec int) (abi.Message, slot)
	part(b *object) (p abi.Part, signed bool)
}

type blockClass int

const (
	blockPart blockClass = iota
	blockCall
	blockResult
	blockSummary // a compaction that the provider made; read as a result is
)

// add begins a message in record i.
func (r *blockReader) add(i int, m abi.Message) *abi.Message {
	if r.begin != nil {
		nth := 0
		if i < len(r.doc.hold) {
			nth = len(r.doc.hold[i].msgs)
		}
		r.begin(i, nth, &m)
	}
	r.d.messages = append(r.d.messages, m)
	r.doc.add(i, slots{})
	return &r.d.messages[len(r.d.messages)-1]
}

// answer begins a message of the model.
func (r *blockReader) answer(i int) *abi.Message {
	r.close()
	m := r.add(i, abi.Message{Role: abi.RoleAssistant})
	r.open, r.latest = true, len(r.d.messages)-1
	return m
}

// answerBlocks adds the blocks of a list in record i to the open answer, or to
// one that it begins. A summary is a message of its own, and what follows it
// another answer.
func (r *blockReader) answerBlocks(i int, list span, o *object) {
	var of []int
	blocks := o.src.elements(list)
	for _, at := range blocks {
		b, class := r.form.open(o, at)
		if class == blockSummary {
			r.close()
			m, s := r.form.result(b, i)
			r.add(i, m)
			r.doc.at[len(r.doc.at)-1].content = s
			r.summaries = append(r.summaries, summaryBlock{len(r.d.messages) - 1, i, at, m.Text()})
		} else {
			r.answerBlock(i, b, class)
		}
		of = append(of, len(r.d.messages)-1)
		if o.adopt(b); o.err != nil {
			return
		}
	}
	if len(of) > 0 && of[0] != of[len(of)-1] {
		r.doc.hold[i].blocks, r.doc.hold[i].of = list, of
	}
}

func (r *blockReader) answerBlock(i int, b *object, class blockClass) {
	if !r.open {
		r.answer(i)
	}
	if class != blockCall {
		p, signed := r.form.part(b)
		r.parts, r.signed = append(r.parts, p), r.signed || signed
		return
	}
	call, s, signed := r.form.call(b, i)
	m, at := &r.d.messages[r.latest], &r.doc.at[r.latest]
	m.ToolCalls = append(m.ToolCalls, call)
	at.args, r.signed = append(at.args, s), r.signed || signed
}

// close ends the answer.
func (r *blockReader) close() {
	if !r.open {
		return
	}
	r.d.messages[r.latest].Content = plain(r.parts)
	for i := range r.doc.at[r.latest].args {
		r.doc.at[r.latest].args[i].fixed = r.signed
	}
	r.open, r.parts, r.signed = false, nil, false
}

// user reads the blocks of a record that is not the model's.
func (r *blockReader) user(i int, list span, o *object) {
	blocks := o.src.elements(list)
	if len(blocks) == 0 {
		r.close()
		r.add(i, abi.Message{Role: abi.RoleUser, Content: abi.Parts()})
		return
	}
	var of []int
	for k := 0; k < len(blocks); {
		b, class := r.form.open(o, blocks[k])
		n := 1
		if class == blockResult {
			m, s := r.form.result(b, i)
			r.add(i, m)
			r.doc.at[len(r.doc.at)-1].content = s
		} else {
			n = r.words(i, blocks[k:], o)
		}
		if o.adopt(b); o.err != nil {
			return
		}
		for range n {
			of = append(of, len(r.d.messages)-1)
		}
		k += n
	}
	h := &r.doc.hold[i]
	h.blocks, h.of = list, of
}

// words reads the blocks up to a result as one message, and returns how many
// they are.
func (r *blockReader) words(i int, blocks []span, o *object) (n int) {
	var parts []abi.Part
	for n < len(blocks) {
		b, class := r.form.open(o, blocks[n])
		if class == blockResult {
			break
		}
		p, _ := r.form.part(b)
		if o.adopt(b); o.err != nil {
			return n
		}
		parts = append(parts, p)
		n++
	}
	if r.plain {
		r.say(i, plain(parts))
	} else {
		r.say(i, abi.Parts(parts...))
	}
	return n
}

// say adds a message that is no answer and no result.
func (r *blockReader) say(i int, c abi.Content) {
	r.close()
	m := r.add(i, abi.Message{Role: abi.RoleUser, Content: c})
	if r.spoken != nil {
		r.spoken(i, m)
	} else {
		m.Kind = framed(c)
	}
}
