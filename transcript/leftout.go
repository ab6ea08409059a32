package transcript

import (
	"fmt"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/results"
	"github.com/kagewasm/kagewasm/transcript/internal/content"
)

// LeftOut returns what a conversion left out: what stands in the messages that were given to
// [Session.Encode] and not in what it wrote, which was read again. It is empty where nothing was. Ids
// and times are not listed: nothing depends on them.
func LeftOut(given []abi.Message, written *Session) []string {
	var left []string
	if n := further(given) - further(written.Messages); n > 0 {
		left = append(left, fmt.Sprintf("second results of calls (%d): what they say stands in the first one", n))
		given = answered(given)
	}
	before, after := contentsOf(given), contentsOf(written.Messages)
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

// further counts the results that answer a call once more.
func further(msgs []abi.Message) (n int) {
	for _, first := range results.Further(msgs) {
		if first >= 0 {
			n++
		}
	}
	return n
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
