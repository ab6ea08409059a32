package transcript

import (
	"github.com/kagewasm/kagewasm/abi"
)

// slot is a value of the source that a compaction may replace.
type slot struct {
	rec int // the record it stands in
	at  span
	// key is set where the object has no such value yet: at is then the empty
	// place before its closing brace.
	key string
	// text says that the value is a string, whatever it holds.
	text bool
	// fixed says that the value may not change: a signature covers it.
	fixed bool
}

// slots are what may be replaced in one message.
type slots struct {
	content slot   // of a tool result
	args    []slot // of each tool call
}

// slot is the place of a value, or the one where it would go. The object is
// never empty.
func (o *object) slot(rec int, key string) slot {
	at, ok := o.raw(key)
	if !ok {
		return slot{rec: rec, at: span{o.at.end - 1, o.at.end - 1}, key: key}
	}
	return slot{rec: rec, at: at, text: o.src.data[at.start] == '"'}
}

func (s slot) put(value []byte) edit {
	if s.key == "" {
		return edit{s.at, value}
	}
	return edit{s.at, append(append([]byte{','}, quote(s.key)...), append([]byte{':'}, value...)...)}
}

// change is one entry of the list to write: an original, or a new message.
type change struct {
	msg   *abi.Message
	index int // among the originals, -1 for a new one
	// content says that the tool result's content differs from the original's,
	// args which calls' arguments do.
	content bool
	args    []int
}

// edits are the replacements that c asks for, by record.
func (c *change) edits(d *recordDoc, into map[int][]edit) {
	at := d.at[c.index]
	if c.content && !at.content.fixed {
		value := contentJSON
		if d.result != nil {
			value = func(content abi.Content) []byte { return d.result(content, at.content) }
		}
		into[at.content.rec] = append(into[at.content.rec], at.content.put(value(c.msg.Content)))
	}
	for _, i := range c.args {
		if s := at.args[i]; !s.fixed {
			into[s.rec] = append(into[s.rec], s.put(d.arg(c.msg.ToolCalls[i].Arguments, s)))
		}
	}
}
