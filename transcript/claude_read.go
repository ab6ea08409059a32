package transcript

import "github.com/kagewasm/kagewasm/abi"

// claudeReader makes messages of the entries of a log.
type claudeReader struct {
	blockReader
	doc *claudeDoc
	id  string // the model's message.id of the open answer
}

func newClaudeReader(doc *claudeDoc, d *decoded) *claudeReader {
	r := &claudeReader{doc: doc}
	r.blockReader = blockReader{doc: &doc.recordDoc, d: d, form: claudeBlocks{}, begin: r.header, spoken: r.from}
	return r
}

func (r *claudeReader) line(i int) error {
	l := &r.doc.lines[i]
	m := r.doc.src.object(l.message, `"message"`, claudeMessageKeys...)
	list, ok := m.raw("content")
	isList := ok && m.is("content", '[')
	switch {
	case l.assistant:
		r.assistant(i, m)
	case isList:
		r.user(i, list, m)
	default:
		r.say(i, m.content("content"))
	}
	return m.err
}

// header notes the id and the time of a message in line i.
func (r *claudeReader) header(i, nth int, m *abi.Message) {
	l := &r.doc.lines[i]
	m.Timestamp = l.time
	m.ID = ordinalID(l.uuid, nth)
}

func (r *claudeReader) assistant(i int, o *object) {
	id := o.str("id")
	if r.open && id != "" && id == r.id {
		r.doc.put(i, r.latest)
	} else {
		m := r.answer(i)
		switch model := o.str("model"); model {
		case "<synthetic>":
			m.Kind = abi.KindSynthetic
		case "":
		default:
			r.d.model = model
		}
		r.id = id
	}
	if o.is("content", '"') {
		r.parts = append(r.parts, abi.TextPart(o.str("content")))
	} else if list, ok := o.value("content"); ok && o.isList("content") {
		r.answerBlocks(i, list, o)
	}
}

// from says who a message of line i is from that is no answer and no result.
func (r *claudeReader) from(i int, m *abi.Message) {
	if l := &r.doc.lines[i]; l.meta && l.system {
		m.Role = abi.RoleSystem
		return
	}
	m.Kind = r.userKind(i, m.Content)
}

func (r *claudeReader) userKind(i int, c abi.Content) abi.Kind {
	l := &r.doc.lines[i]
	if l.summary {
		return abi.KindSummary
	}
	if kind := framed(c); kind != "" {
		return kind
	}
	if l.meta {
		return abi.KindMeta
	}
	return ""
}
