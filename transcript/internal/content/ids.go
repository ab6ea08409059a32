package content

import (
	"crypto/sha256"
	"fmt"
	"regexp"
	"strings"

	"github.com/kagewasm/kagewasm/abi"
)

// OrdinalID returns the id of the nth message of a record: the record's own for
// the first, followed by #2, #3, ... for the others.
func OrdinalID(id string, nth int) string {
	if id == "" || nth == 0 {
		return id
	}
	return fmt.Sprintf("%s#%d", id, nth+1)
}

// FunctionID returns the id of a call that has none. It follows from the
// function's name, which pairs the call with its result.
func FunctionID(name string) string { return "function:" + name }

var uuidShape = regexp.MustCompile(`^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$`)

// UUID returns the id itself where it is a uuid. Otherwise it derives one from
// the id, so that the same compaction writes the same log.
func UUID(session, id string) string {
	if uuidShape.MatchString(id) {
		return id
	}
	sum := sha256.Sum256([]byte("kagewasm\x00" + session + "\x00" + id))
	sum[6] = sum[6]&0x0f | 0x80 // version 8: a layout of one's own
	sum[8] = sum[8]&0x3f | 0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", sum[0:4], sum[4:6], sum[6:8], sum[8:10], sum[10:16])
}

// SessionUUID returns the id of a session where it is a uuid. Otherwise it
// derives one from the messages.
func SessionUUID(id string, msgs []abi.Message) string {
	if uuidShape.MatchString(id) {
		return id
	}
	h := sha256.New()
	for i := range msgs {
		fmt.Fprintf(h, "%s\x00%s\x00%s\x00", msgs[i].ID, msgs[i].Role, msgs[i].Text())
	}
	return UUID("session", string(h.Sum(nil)))
}

// WireIDs gives the calls of a session ids that a provider accepts. It keeps the
// session's own ids where the provider takes them and derives the others from
// them, so that a session is always written the same. Calls and results stay
// paired as [abi.Units] pairs them.
type WireIDs struct {
	Most   int  // bytes; 0 is any length
	Plain  bool // letters, digits, _ and - alone
	Unique bool // an id may not be used again
	used   map[string]bool
	times  map[string]int // how often an id was found used
	open   map[string]openIDs
}

// NewWireIDs returns the ids of one session. The exported fields of rule say what
// the provider accepts.
func NewWireIDs(rule WireIDs) *WireIDs {
	rule.used, rule.times, rule.open = make(map[string]bool), make(map[string]int), make(map[string]openIDs)
	return &rule
}

// openIDs are the calls of one id that have no result yet.
type openIDs struct {
	by  int // the message that made them
	ids []string
}

// Call returns the id for a call that message by makes.
func (w *WireIDs) Call(id string, by int) string {
	wire := w.fresh(id)
	open := w.open[id]
	if open.by != by {
		open = openIDs{by: by}
	}
	open.ids = append(open.ids, wire)
	w.open[id] = open
	return wire
}

// Result returns the id for the result of a call.
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

// fresh returns the id, or one that was not used yet where ids must be unique.
func (w *WireIDs) fresh(id string) string {
	base := w.fit(id)
	wire := base
	for w.Unique && w.used[wire] {
		w.times[base]++
		wire = w.fit(fmt.Sprintf("%s_%d", id, w.times[base]+1))
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
