package strategies

import (
	"github.com/kagewasm/kagewasm/abi"
)

// cut is the choice of what goes.
type cut struct {
	units    []int // of the view, oldest first, without the previous summary
	previous int   // the unit of the previous summary, or -1
	taken    size  // what all of it takes
	end      int   // the index after the last message that goes
}

// makeCut takes the oldest units whole, at least window messages
// and as many as the target needs beside reserve tokens for the summary. Units
// that are pinned, belong to the current turn, or reach into the last keepLast
// messages stay.
func makeCut(v *View, window, keepLast, reserve int) cut {
	keep := len(v.Messages)
	if keepLast > 0 {
		keep = (&KeepConfig{Messages: keepLast}).start(v)
	}
	may := func(k int) bool {
		u := v.Units[k]
		return u[len(u)-1] < keep && v.Candidate(u)
	}
	c := cut{previous: previous(v, may)}
	if c.previous >= 0 {
		c.take(v, c.previous)
	}
	messages, says := 0, false
	for k, u := range v.Units {
		if k == c.previous || !may(k) {
			continue
		}
		if messages >= window && says && c.fits(v, reserve) {
			break
		}
		c.units = append(c.units, k)
		c.take(v, k)
		for _, i := range u {
			says = says || !silent(&v.Messages[i])
			if !v.Messages[i].Kind.Internal() {
				messages++
			}
		}
	}
	c.beginTurn(v, reserve)
	return c
}

// beginTurn leaves a person's message that would go last to the answers that
// stay, where the target does not need it.
func (c *cut) beginTurn(v *View, reserve int) {
	last := len(c.units) - 1
	if last < 1 {
		return
	}
	u := v.Units[c.units[last]]
	if u[len(u)-1] != c.end-1 || !v.Messages[u[0]].IsPerson() {
		return
	}
	less := cut{units: c.units[:last], previous: c.previous, taken: c.taken.less(v.size(u))}
	if !less.fits(v, reserve) {
		return
	}
	for _, k := range less.units {
		less.reach(v.Units[k])
	}
	if less.previous >= 0 {
		less.reach(v.Units[less.previous])
	}
	*c = less
}

// fits reports whether what stays is within the targets, with a note of reserve
// tokens.
func (c *cut) fits(v *View, reserve int) bool { return v.fitsWithout(c.taken, reserve) }

func (c *cut) take(v *View, k int) {
	u := v.Units[k]
	c.taken = c.taken.plus(v.size(u))
	c.reach(u)
}

func (c *cut) reach(u abi.Unit) { c.end = max(c.end, u[len(u)-1]+1) }

// previous is the unit of the latest earlier summary that may go, or -1.
func previous(v *View, may func(int) bool) int {
	for k := len(v.Units) - 1; k >= 0; k-- {
		if v.Messages[v.Units[k][0]].Kind == abi.KindSummary && may(k) {
			return k
		}
	}
	return -1
}

// turnOf is the message of a person in whose turn the cut falls, or -1 where
// it falls between two turns, or before the first.
func turnOf(msgs []abi.Message, end int) int {
	for i := end; ; i++ {
		if i == len(msgs) || msgs[i].IsPerson() {
			return -1
		}
		if !msgs[i].Kind.Internal() {
			break
		}
	}
	for i := end - 1; i >= 0; i-- {
		if msgs[i].IsPerson() {
			return i
		}
	}
	return -1
}

// stripped reports whether the summarizer does not get to read a message.
func stripped(m *abi.Message) bool {
	return m.Kind.Internal() || m.Kind == abi.KindSynthetic || m.Kind == abi.KindEphemeral
}
