// Package keep is a compactor without a model. What is pinned and the current
// turn stay; so do the newest units while there is room, and older ones that
// hold an error or a decision. Everything else is superseded, and one message
// in its place has a line for each thing worth remembering: what was asked,
// run, read and edited, and what failed how.
//
// It is also the example to start from: [Plugin] is registered by main, and
// compact reads as the steps any compactor has. It never fails: a session it
// cannot make smaller gets no answer, and the host's own strategy follows.
package keep

import (
	"slices"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/abi/guest"
)

// Plugin is the compactor.
var Plugin = guest.Plugin{PreCompact: compact}

// unit is a group of messages that stays or goes as one, and what this
// compactor thinks of it.
type unit struct {
	at     []int // indices into the input's messages
	tokens int
	fixed  bool // has a pinned message, or one of the current turn
	keep   bool
}

// frameTokens is what a message costs beside its text.
const frameTokens = 8

func compact(c *guest.Call) (*abi.Output, error) {
	in := c.Input
	units, total := group(in)
	room := in.Budget.TargetTokens
	for i := range units {
		if units[i].fixed {
			units[i].keep = true
			room -= units[i].tokens
		}
	}
	if total <= in.Budget.TargetTokens {
		return nil, nil
	}
	// Where what is fixed exceeds the target already, nothing meets it, and
	// the summary may have all that a summary may.
	reserve := in.Budget.SummaryTokens
	if room > 0 {
		reserve = min(reserve, room/2)
		room -= reserve
	}
	recent := int(float64(room) * in.Config.Float("recent_share", 0.6))
	room -= recent
	// What the recent units leave over is room for the older ones that
	// matter, and what those leave for any others.
	room += fill(units, recent, func(*unit) bool { return true }, true)
	room = fill(units, room, func(u *unit) bool { return matters(in, u) }, false)
	room = fill(units, room, func(*unit) bool { return true }, false)

	text, cost, err := summarize(c, units, min(in.Budget.SummaryTokens, reserve+max(room, 0)))
	if err != nil || kept(units)+cost >= total {
		return nil, err
	}
	return build(in, units, text), nil
}

// group makes the units of the input.
func group(in *abi.Input) (units []unit, total int) {
	turn := abi.CurrentTurn(in.Plain())
	index := make(map[int]int)
	for i, m := range in.Messages {
		u, ok := index[m.Unit]
		if !ok {
			u = len(units)
			index[m.Unit] = u
			units = append(units, unit{})
		}
		units[u].at = append(units[u].at, i)
		units[u].tokens += m.Tokens
		// A target of nothing asks for the current turn as well.
		units[u].fixed = units[u].fixed || m.Pinned || turn[i] && in.Budget.TargetTokens > 0
		total += m.Tokens
	}
	return units, total
}

// fill keeps units from the newest to the oldest while they fit, and returns
// the room that is left. With together set it ends at the first that does not
// fit, so that what stays is in one piece; a single giant is passed over.
func fill(units []unit, room int, wanted func(*unit) bool, together bool) int {
	giant := room / 4
	for i := len(units) - 1; i >= 0; i-- {
		u := &units[i]
		switch {
		case u.keep || !wanted(u):
		case u.tokens <= room:
			u.keep = true
			room -= u.tokens
		case together && u.tokens <= giant:
			return room
		}
	}
	return room
}

func kept(units []unit) (tokens int) {
	for i := range units {
		if units[i].keep {
			tokens += units[i].tokens
		}
	}
	return tokens
}

// build is the new list: what stays by reference, in its order, and the
// summary behind the stable prefix.
func build(in *abi.Input, units []unit, text string) *abi.Output {
	keep := make([]bool, len(in.Messages))
	for _, u := range units {
		for _, i := range u.at {
			keep[i] = u.keep
		}
	}
	place := abi.PrefixEnd(in.Plain())
	out := &abi.Output{Messages: []abi.OutputMessage{}}
	at := 0
	for i, m := range in.Messages {
		if !keep[i] {
			out.Superseded = append(out.Superseded, m.ID)
			continue
		}
		out.Messages = append(out.Messages, abi.OutputMessage{Ref: m.ID})
		if i < place {
			at = len(out.Messages)
		}
	}
	if text != "" {
		summary := abi.Message{Role: abi.RoleUser, Kind: abi.KindSummary, Content: abi.Text(text)}
		out.Messages = slices.Insert(out.Messages, at, abi.OutputMessage{Message: summary})
	}
	return out
}
