package session

import (
	"slices"

	kagewasm "github.com/kagewasm/kagewasm"
	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/hooks"
	"github.com/kagewasm/kagewasm/internal/lists"
)

// wish is a compaction that somebody asked for.
type wish struct {
	n    int // counts the wishes of a session, from one
	turn int // in which it was made; 0 where none was open
	hooks.Wish
}

// reason is what a compaction that only answers this wish is made for.
func (w *wish) reason() abi.TriggerReason {
	if w.Plugin == "" {
		return abi.TriggerAgent
	}
	return abi.TriggerPlugin
}

// wishes are the compactions that were asked for and not made yet, oldest first.
type wishes struct {
	list []wish
	made int // ever
}

// add takes up a wish, made in a turn. One that a plugin repeats in that turn stands once.
func (w *wishes) add(turn int, x hooks.Wish) {
	w.list = slices.DeleteFunc(w.list, func(was wish) bool { return was.turn == turn && x.Repeats(was.Wish) })
	w.made++
	w.list = append(w.list, wish{w.made, turn, x})
}

// into makes one request of all wishes after the one numbered taken that need not wait for the end of the open turn,
// and returns the number of the last of them, 0 where there is none. The reason is the first one's.
func (w *wishes) into(req *kagewasm.Request, taken, open int) (last int) {
	ready := lists.Filter(w.list, func(x wish) bool { return x.n > taken && (open == 0 || x.turn != open) })
	if len(ready) == 0 {
		return 0
	}
	req.Reason, req.Force = ready[0].reason(), true
	req.Instructions = hooks.Instructed(lists.Map(ready, func(x wish) hooks.Wish { return x.Wish }))
	return ready[len(ready)-1].n
}

// answered forgets the wishes up to the one of that number.
func (w *wishes) answered(last int) {
	w.list = slices.DeleteFunc(w.list, func(x wish) bool { return x.n <= last })
}

// asked is a look at the session, with the wishes it answers.
type asked struct {
	kagewasm.Request
	// wished is the number of the last wish that the request was made of, 0 where there was none. A
	// look answers those, whatever its result.
	wished int
	// before is the number of the last wish that was made before the request. A compaction answers them
	// all.
	before int
}
