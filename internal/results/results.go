// Package results tells which results of a list answer the same call: a harness may say in one that a command
// began and in the next how it ended. All of them are of one unit, see [abi.Units]; providers take one of each call.
package results

import (
	"cmp"
	"slices"

	"github.com/kagewasm/kagewasm/abi"
)

// Further returns, for each message that answers a call once more, the place of the first result of that call, and -1
// for all others. It is nil where no call has more than one result.
func Further(msgs []abi.Message) (first []int) {
	units, _ := abi.Units(msgs)
	for _, u := range units {
		if len(u) < 3 { // one result
			continue
		}
		pair(msgs, u, func(result, of int) {
			for len(first) < len(msgs) {
				first = append(first, -1)
			}
			first[result] = of
		})
	}
	return first
}

// Open reports whether a unit has a call without a result.
func Open(msgs []abi.Message, u abi.Unit) bool {
	return pair(msgs, u, func(int, int) {}) > 0
}

// pair gives each result of a unit its call: of calls with the same id one after the other. It returns how many have
// none. further is told of each result beyond the first, and where that stands.
func pair(msgs []abi.Message, u abi.Unit, further func(result, first int)) (open int) {
	left, first := make(map[string]int), make(map[string]int) // by the id of a call
	for _, c := range msgs[u[0]].ToolCalls {
		left[c.ID]++
		open++
	}
	for _, i := range u[1:] {
		id := msgs[i].ToolCallID
		if left[id] == 0 {
			further(i, first[id])
			continue
		}
		left[id]--
		open--
		first[id] = i
	}
	return open
}

// Several returns the results of each call that has more than one, in order, by the place of the first. First is what
// [Further] returns.
func Several(msgs []abi.Message, first []int) map[int][]*abi.Message {
	of := make(map[int][]*abi.Message)
	for i, at := range first {
		if at < 0 {
			continue
		}
		if of[at] == nil {
			of[at] = []*abi.Message{&msgs[at]}
		}
		of[at] = append(of[at], &msgs[i])
	}
	return of
}

// Joined returns the results of a call, in the order of the session, as one: the first one, with what all of them say,
// once where they say the same, and failed where the last one says so. Backwards: what was said last stands first.
func Joined(of []*abi.Message, backwards bool) abi.Message {
	m, last, alone := *of[0], abi.Content{}, true
	var said [][]abi.Part
	for _, r := range of {
		m.Name, m.IsError = cmp.Or(m.Name, r.Name), r.IsError
		parts := partsOf(r.Content)
		switch {
		case len(parts) == 0 || len(said) > 0 && r.Content.Equal(last):
			continue
		case len(said) == 0:
			m.Content = r.Content
		default:
			alone = false
		}
		said, last = append(said, parts), r.Content
	}
	if backwards {
		slices.Reverse(said)
	}
	if !alone {
		m.Content = abi.Parts(slices.Concat(said...)...)
	}
	return m
}

func partsOf(c abi.Content) []abi.Part {
	if c.IsParts() || c.Text() == "" {
		return c.Parts()
	}
	return []abi.Part{abi.TextPart(c.Text())}
}
