package wire

import (
	"unsafe"

	"github.com/kagewasm/kagewasm/abi"
)

var plainMessageFields = messageFields(func(m *abi.Message) *abi.Message { return m })

func plainMessage(d *decoder, m *abi.Message) { object(d, m, plainMessageFields) }

// Messages reads a list of messages, as a host stores them. They share memory with the
// document.
func Messages(doc string) ([]abi.Message, error) {
	d := decoder{doc: unsafe.Slice(unsafe.StringData(doc), len(doc))} // which nobody writes to
	msgs := list(&d, plainMessage)
	return msgs, d.end()
}

// AppendMessages appends a list of messages as JSON.
func AppendMessages(dst []byte, msgs []abi.Message) ([]byte, error) {
	e := encoder{doc: dst}
	elements(&e, msgs, e.message)
	return e.doc, e.err
}
