package firewall

import (
	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/lists"
	"github.com/kagewasm/kagewasm/internal/results"
)

// insertion is a message to be inserted.
type insertion struct {
	abi.Message
	behind int // the index in the session of the message that it comes after, -1 for the task
	before int // the index in what stays of the message that it comes before
}

// place returns the index of the message after which an insertion stands.
func (a *application) place(in abi.Insert) (int, error) {
	if in.After == "" {
		return -1, nil
	}
	i, ok := a.index[in.After]
	if !ok || i < 0 {
		return 0, refuse(abi.CodeUnknownID, "inserts a message behind %q, which is not in the session", in.After)
	}
	return i, nil
}

// inPlace returns the list of what stays with the insertions in it, and their ids in the order of that
// list. An insertion stands where the plan has it, but never within the prefix, before the system prompt where all
// that stands before that stays, between a call and its results, or after calls whose results may still
// arrive. A note that names pins stands before older such notes: the first note that names any is the one
// that holds.
func (a *application) inPlace(kept []abi.Message) (list []abi.Message, ids []string) {
	stays := make([]int, 0, len(a.gone)+1) // how many stay before each message, and in all
	n := 0
	for _, gone := range a.gone {
		stays = append(stays, n)
		if !gone {
			n++
		}
	}
	stays = append(stays, n)
	gaps, note := gapsOf(kept), true
	first := max(abi.PrefixEnd(kept), gaps[a.prompt()])
	for k := range a.inserted {
		in, at := &a.inserted[k], first
		if in.behind >= 0 {
			at = max(first, gaps[stays[in.behind+1]])
		}
		if in.Kind == abi.KindSummary && note {
			note = false
			in.Content = abi.Text(a.Keepers.Note(in.Text(), kept))
			at = max(first, a.Keepers.Place(kept, at))
		}
		in.before = at
	}
	lists.SortStable(a.inserted, func(x, y insertion) int { return x.before - y.before })
	list, n = make([]abi.Message, 0, len(kept)+len(a.inserted)), 0
	for i := range a.inserted {
		in := &a.inserted[i]
		list = append(append(list, kept[n:in.before]...), in.Message)
		ids, n = append(ids, in.ID), in.before
	}
	return append(list, kept[n:]...), ids
}

// prompt returns how many messages stay up to the system prompt, with it, where none before it goes. 0 is no such
// place: a note behind it would tell of what came before it.
func (a *application) prompt() (n int) {
	for i, gone := range a.gone {
		switch {
		case gone:
			return n
		case a.Pinned[i] && a.Messages[i].Role == abi.RoleSystem:
			n = i + 1
		}
	}
	return 0
}

// gapsOf returns where a message may be put into a list without parting a call from its results: for
// each index, and for the end, the next such place from there on. For
//
//	0 request   1 call   2 result   3 words
//
// it is 0 1 3 3 4: what would be put before the result at 2 is put before 3. Where results may still
// arrive at the end of the list, what would be put after their call is put before it.
func gapsOf(msgs []abi.Message) []int {
	gaps, inside := make([]int, len(msgs)+1), make([]int, len(msgs)+2) // inside: units around each index
	units, of := abi.Units(msgs)
	for _, u := range units {
		inside[u[0]+1]++
		inside[u[len(u)-1]+1]--
	}
	for i := 1; i < len(inside); i++ {
		inside[i] += inside[i-1]
	}
	end := len(msgs) // nothing may be put behind it
	if end > 0 {
		if last := units[of[end-1]]; results.Open(msgs, last) {
			for end = last[0]; inside[end] > 0; {
				end--
			}
		}
	}
	next := end
	for i := len(msgs); i >= 0; i-- {
		if i <= end && inside[i] == 0 {
			next = i
		}
		gaps[i] = next
	}
	return gaps
}
