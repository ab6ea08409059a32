package content

import (
	"crypto/sha256"
	"fmt"
	"strings"
)

// WireIDs gives the calls of a session ids that a provider accepts: the
// session's own wherever they are, and otherwise ones that follow from them, so
// that the same session is written the same. Calls and results stay paired as
// [abi.Units] pairs them.
type WireIDs struct {
	Most   int  // bytes; 0 is any length
	Plain  bool // letters, digits, _ and - alone
	Unique bool // an id may not be used again
	used   map[string]bool
	times  map[string]int // how often an id was found used
	open   map[string]openIDs
}

// openIDs are the calls of one id that have no result yet.
type openIDs struct {
	by  int // the message that made them
	ids []string
}

// Call gives the id for a call that message by makes.
func (w *WireIDs) Call(id string, by int) string {
	w.begin()
	wire := w.fresh(id)
	open := w.open[id]
	if open.by != by {
		open = openIDs{by: by}
	}
	open.ids = append(open.ids, wire)
	w.open[id] = open
	return wire
}

// Result gives the id for the result of a call.
func (w *WireIDs) Result(id string) string {
	open := w.open[id]
	if len(open.ids) == 0 {
		return w.fresh(id) // and no other call's
	}
	wire := open.ids[0]
	open.ids = open.ids[1:]
	w.open[id] = open
	return wire
}

func (w *WireIDs) begin() {
	if w.used == nil {
		w.used, w.times, w.open = make(map[string]bool), make(map[string]int), make(map[string]openIDs)
	}
}

// fresh is the id itself, or one that was not given yet where it has to be.
func (w *WireIDs) fresh(id string) string {
	wire := w.fit(id)
	if !w.Unique {
		return wire
	}
	w.begin()
	for n := max(w.times[wire], 1); w.used[wire]; n++ {
		w.times[w.fit(id)] = n
		wire = w.fit(fmt.Sprintf("%s_%d", id, n+1))
	}
	w.used[wire] = true
	return wire
}

func (w *WireIDs) fit(id string) string {
	fits := id != "" && (w.Most == 0 || len(id) <= w.Most)
	if w.Plain {
		fits = fits && strings.Trim(id, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-") == ""
	}
	if fits {
		return id
	}
	return fmt.Sprintf("call_%x", sha256.Sum256([]byte(id)))[:29]
}
