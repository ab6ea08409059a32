package cost

import (
	"math/rand/v2"
	"strconv"
	"strings"
)

// Count stands in a fragment for a number that goes up.
const Count = "\x00"

// Bomb writes about n bytes: a few fragments over and over, between others, some of
// them with a second half as often behind it. That is what a bomb for a parser looks
// like: each of its costs that grows with the square needs much of the same.
func Bomb(r *rand.Rand, fragments []string, n int) []byte {
	some := func(most int) string {
		var b strings.Builder
		for range r.IntN(most + 1) {
			b.WriteString(fragments[r.IntN(len(fragments))])
		}
		return b.String()
	}
	head, unit, tail := some(4), some(5)+fragments[r.IntN(len(fragments))], ""
	if r.IntN(3) == 0 {
		tail = some(3)
	}
	// Some are nested, or grouped, and each group is there more than once.
	group := n
	if r.IntN(3) == 0 {
		group = 1 + r.IntN(n)
	}
	var b strings.Builder
	for b.Len() < n {
		b.WriteString(head)
		times := max(1, (min(group, n)-len(head))/(len(unit)+len(tail)))
		b.WriteString(strings.Repeat(unit, times))
		b.WriteString(strings.Repeat(tail, times))
		if r.IntN(4) == 0 {
			head = some(4)
		}
	}
	return number(b.String())
}

// number puts numbers in the place of Count.
func number(text string) []byte {
	parts := strings.Split(text, Count)
	out := []byte(parts[0])
	for i, part := range parts[1:] {
		out = append(strconv.AppendInt(out, int64(i), 36), part...)
	}
	return out
}
