package strategies

import "github.com/kagewasm/kagewasm/abi"

// cut is the choice of what goes.
type cut struct {
	units    []abi.Unit // oldest first, without the previous summary
	previous abi.Unit   // the previous summary, or nil
	taken    size       // what all of it takes
	end      int        // the index after the last message that goes
}

// makeCut returns the oldest units whole: at least window messages, and as many as the target needs
// beside reserve tokens for the summary. Units that are pinned, belong to the current turn, or reach
// into the last keepLast messages stay.
func makeCut(v *View, window, keepLast, reserve int, exact bool) cut {
	keep := len(v.Messages)
	if keepLast > 0 {
		keep = (&KeepConfig{Messages: keepLast}).start(v)
	}
	may := func(u abi.Unit) bool { return u[len(u)-1] < keep && v.Candidate(u) }
	last := -1 // the latest earlier summary that may go
	for k, u := range v.Units {
		if v.Messages[u[0]].Kind == abi.KindSummary && may(u) {
			last = k
		}
	}
	var none cut
	if last >= 0 {
		none = none.with(v, v.Units[last])
		none.previous = v.Units[last]
	}
	c := none
	messages, says := 0, false
	for k, u := range v.Units {
		if k == last || !may(u) {
			continue
		}
		if messages >= window && says && v.fitsWithout(c.taken, reserve) {
			break
		}
		c = c.with(v, u)
		c.units = append(c.units, u)
		for _, i := range u {
			says = says || !silent(&v.Messages[i])
			if !v.Messages[i].Kind.Internal() {
				messages++
			}
		}
	}
	// A person's message that would go last stays with its answers, where the target does not need it
	// to go, but where somebody said how much stays.
	n := len(c.units) - 1
	if !exact && n > 0 && c.units[n][len(c.units[n])-1] == c.end-1 &&
		abi.Persons(v.Messages)[c.units[n][0]] {
		less := none
		for _, u := range c.units[:n] {
			less = less.with(v, u)
		}
		if less.units = c.units[:n]; v.fitsWithout(less.taken, reserve) {
			return less
		}
	}
	return c
}

// with returns the cut with what a unit takes added.
func (c cut) with(v *View, u abi.Unit) cut {
	c.taken, c.end = c.taken.plus(v.size(u)), max(c.end, u[len(u)-1]+1)
	return c
}

// turnOf returns the index of the message of a person in whose turn the cut falls, or -1 where it falls
// between two turns, or before the first.
func turnOf(msgs []abi.Message, end int) int {
	persons := abi.Persons(msgs)
	for i := end; ; i++ {
		if i == len(msgs) || persons[i] {
			return -1
		}
		if !msgs[i].Kind.Internal() {
			break
		}
	}
	for i := end - 1; i >= 0; i-- {
		if persons[i] {
			return i
		}
	}
	return -1
}

// stripped reports whether the summarizer does not get to read a message.
func stripped(m *abi.Message) bool {
	return m.Kind.Internal() || m.Kind == abi.KindSynthetic || m.Kind == abi.KindEphemeral
}
