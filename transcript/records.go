package transcript

import "github.com/kagewasm/kagewasm/abi"

// recordDoc is a document whose records hold the messages: one each, or
// several in the blocks of one record, or one message in several records.
// Records that hold none always stay. It serves every format that asks no more
// than this; a codec says what is where, and how a new message is written.
type recordDoc struct {
	layout
	src   *source
	hold  []holding // by record
	first []int     // the first record of each message
	at    []slots   // by message
	fresh func(m *abi.Message) []byte
	// arg writes the arguments of a call, result the content of a tool result;
	// without result it is written as a string or as neutral parts.
	arg    func(text string, was slot) []byte
	result func(c abi.Content, was slot) []byte
	// split says that a record whose messages are blocks can be written as
	// two, with a new message between them.
	split bool
	// join, where it is set, puts records together that a provider refuses
	// side by side.
	join    func([]item) []item
	preface preface
}

// holding is which messages a record holds, or holds a part of.
type holding struct {
	msgs []int
	// blocks is the list in the record that the messages of a record are
	// blocks of, and of the message of each block; for records that may hold
	// several.
	blocks span
	of     []int
}

// add notes the next message, which begins in record rec.
func (d *recordDoc) add(rec int, s slots) {
	d.put(rec, len(d.first))
	d.first = append(d.first, rec)
	d.at = append(d.at, s)
}

// put notes that record rec holds message m, or a part of it.
func (d *recordDoc) put(rec, m int) {
	if d.hold == nil {
		d.hold = make([]holding, len(d.recs))
	}
	d.hold[rec].msgs = append(d.hold[rec].msgs, m)
}

// begins notes the system messages that the preface holds.
func (d *recordDoc) begins(with []abi.Content, into *decoded) {
	for _, c := range with {
		into.messages = append(into.messages, abi.Message{Role: abi.RoleSystem, Content: c})
		d.first = append(d.first, 0)
		d.at = append(d.at, slots{})
	}
}

func (d *recordDoc) rewrite(changes []change) []byte { return d.begin(changes).finish() }
