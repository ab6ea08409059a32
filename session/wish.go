package session

import (
	"slices"
	"strings"

	kagewasm "github.com/kagewasm/kagewasm"
	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/lists"
)

// wish is a compaction that somebody asked for.
type wish struct {
	n            int // counts the wishes of a session, from one
	turn         int // in which it was made; 0 where none was open
	reason       abi.TriggerReason
	instructions string
}

// wishes are the compactions that were asked for and not made yet, oldest first.
type wishes struct {
	list []wish
	made int // ever
}

func (w *wishes) add(reason abi.TriggerReason, turn int, instructions string) {
	w.made++
	w.list = append(w.list, wish{w.made, turn, reason, instructions})
}

// into makes one request of all wishes that need not wait for the end of the open turn, and returns the
// number of the last of them, 0 where there is none. The reason is the first one's.
func (w *wishes) into(req *kagewasm.Request, open int) (last int) {
	ready := lists.Filter(w.list, func(x wish) bool { return open == 0 || x.turn != open })
	if len(ready) == 0 {
		return 0
	}
	said := lists.Map(ready, func(x wish) string { return x.instructions })
	said = slices.DeleteFunc(said, func(text string) bool { return text == "" })
	req.Reason, req.Force, req.Instructions = ready[0].reason, true, strings.Join(said, "\n")
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
