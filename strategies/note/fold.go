package note

import (
	"fmt"
	"strconv"
)

// fold is the line that stands for turns of which nothing is shown.
func (v *view) fold(from, end int) string {
	n, copies, again := 0, 0, 0
	for i := from; i < end; i++ {
		t := &v.turns[i]
		n += max(1, t.folded)
		if again = max(again, t.again); t.again > 0 {
			copies += max(1, t.folded)
		}
	}
	last := v.turns[end-1].n
	line := fmt.Sprintf("[%d-%d] %d messages of persons are ", v.turns[from].n-max(0, v.turns[from].folded-1), last, n)
	if n == 1 {
		line = fmt.Sprintf("[%d] 1 message of a person is ", last)
	}
	mark := foldedMark
	if v.alone {
		mark = foldedAlone
	}
	switch {
	case copies == n:
		return line + againMark + strconv.Itoa(again) + "]"
	case copies > 0:
		return line + fmt.Sprintf("%s; %d of them said again below", mark, copies)
	}
	return line + mark
}

// Lines that stand for turns that there was no room for, and for those whose words stand
// elsewhere.
const (
	foldedMark  = "left out here: search the transcript"
	foldedAlone = "left out here, for want of room" // where there is nothing to search
	againMark   = "said again in the same words below, up to ["
	sameMark    = " the same words as ["
)
