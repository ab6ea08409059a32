// Package results tells which results of a list answer the same call: a harness may say in one that a command
// began and in the next how it ended. All of them are of one unit, see [abi.Units]; providers take one of each call.
package results

import "github.com/kagewasm/kagewasm/abi"

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
