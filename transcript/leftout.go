package transcript

import (
	"fmt"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/transcript/internal/content"
)

// LeftOut returns what a conversion left out: what stands in the messages that were given to
// [Session.Encode] and not in what it wrote, which was read again. It is empty where nothing was. Ids
// and times are not listed: nothing depends on them.
func LeftOut(given []abi.Message, written *Session) []string {
	before, after := contentsOf(given), contentsOf(written.Messages)
	var left []string
	for i, what := range []string{
		"thinking (%d parts), which only the model's own provider can read", "kinds of %d messages",
		"pins of %d messages: pin them again in what is written", "%d messages that are for no model",
		"parts other than text: %d become words", "marks of %d failed calls",
	} {
		if n := before[i] - after[i]; n > 0 {
			left = append(left, fmt.Sprintf(what, n))
		}
	}
	return left
}

// contentsOf counts what a format may have no place for, in the order of LeftOut.
func contentsOf(msgs []abi.Message) (n [6]int) {
	for i := range msgs {
		m := &msgs[i]
		for _, p := range m.Content.Parts() {
			switch {
			case content.IsThinking(p.Type):
				n[0]++
			case p.Type != "text":
				n[4]++
			}
		}
		switch {
		case m.Kind.Internal():
			n[3]++
		case m.Kind != "":
			n[1]++
		}
		if m.Meta.Bool(abi.MetaAlwaysKeep) {
			n[2]++
		}
		if m.IsError {
			n[5]++
		}
	}
	return n
}
