package replay

import "github.com/kagewasm/kagewasm/abi"

// view is a list that a model was sent, to look things up in.
type view struct {
	messages []abi.Message
	index    map[string]int
	log      *log
}

func (l *log) view(msgs []abi.Message) *view {
	v := &view{messages: msgs, index: make(map[string]int, len(msgs)), log: l}
	for i := range msgs {
		v.index[msgs[i].ID] = i
	}
	return v
}

// holds reports whether the result of a call is there as it came.
func (v *view) holds(c *toolCall) bool {
	was := &v.log.messages[c.result]
	i, ok := v.index[was.ID]
	return ok && v.messages[i].Content.Equal(was.Content)
}

// says reports whether the list holds one of the texts, word for word.
func (v *view) says(texts ...string) bool {
	for _, t := range texts {
		if met(v.messages, t) {
			return true
		}
	}
	return false
}
