package transcript

import (
	"cmp"
	"slices"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/results"
)

// answered returns messages as providers take them: right behind an answer stand the results of its calls, one of each.
// Logs may have results later, and several of one call.
func answered(msgs []abi.Message) []abi.Message {
	units, of := abi.Units(msgs)
	first := results.Further(msgs)
	if first == nil && slices.IsSorted(of) {
		return msgs
	}
	list, at := make([]abi.Message, 0, len(msgs)), make([]int, len(msgs))
	more := make(map[int][]*abi.Message) // further results, by the place of the first
	for _, u := range units {
		for _, i := range u {
			if first == nil || first[i] < 0 {
				at[i] = len(list)
				list = append(list, msgs[i])
			} else {
				k := at[first[i]]
				more[k] = append(more[k], &msgs[i])
			}
		}
	}
	for k, later := range more {
		list[k] = joined(list[k], later)
	}
	return list
}

// joined returns the results of a call as one: it has what all of them say, once where they say the same, and failed
// where the last one says so.
func joined(m abi.Message, later []*abi.Message) abi.Message {
	parts, last, alone := slices.Clip(partsOf(m.Content)), m.Content, true
	for _, r := range later {
		m.Name, m.IsError = cmp.Or(m.Name, r.Name), r.IsError
		said := partsOf(r.Content)
		switch {
		case len(said) == 0 || len(parts) > 0 && r.Content.Equal(last):
			continue
		case len(parts) == 0:
			m.Content = r.Content
		default:
			alone = false
		}
		parts, last = append(parts, said...), r.Content
	}
	if !alone {
		m.Content = abi.Parts(parts...)
	}
	return m
}

func partsOf(c abi.Content) []abi.Part {
	if c.IsParts() || c.Text() == "" {
		return c.Parts()
	}
	return []abi.Part{abi.TextPart(c.Text())}
}
