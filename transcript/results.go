package transcript

import (
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
	for _, u := range units {
		for _, i := range u {
			if first == nil || first[i] < 0 {
				at[i] = len(list)
				list = append(list, msgs[i])
			}
		}
	}
	for i, of := range results.Several(msgs, first) {
		list[at[i]] = results.Joined(of, false)
	}
	return list
}
