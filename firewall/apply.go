package firewall

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/clip"
	"github.com/kagewasm/kagewasm/internal/set"
)

// Case is what a plan is judged against.
type Case struct {
	// Messages is the list as the model would see it, with unique ids.
	Messages []abi.Message
	// Tokens is the cost of each message, where it is known. Nil: the messages are counted.
	Tokens []int
	// Pinned and Turn mark what has to stay. Turn may be nil: then the current
	// turn is a candidate too.
	Pinned, Turn []bool
	// Overhead is the cost of the request beyond its messages, in tokens.
	Overhead int
	// Target is what the whole request has to come down to, in tokens.
	Target int
	// Count is the token counter of the model's family.
	Count abi.Counter
	// Keepers are the pins of plugins that last beyond this compaction: the first
	// summary that is inserted names them.
	Keepers abi.Keepers
	// DropThinking leaves out what the model thought after the first change, but for what is pinned: see
	// [DropThinking].
	DropThinking bool
	// Time is the timestamp of inserted messages, in RFC 3339. Where the last message has no timestamp
	// they get none.
	Time string
}

// Verdict is what a plan made of the messages.
type Verdict struct {
	// Messages is the new list.
	Messages []abi.Message
	// Superseded, Kept and Inserted are ids, in session order. Edited are the ids of kept messages
	// whose tool output or arguments the plan changed. Bare are the ids of kept messages that lost what
	// the model thought.
	Superseded, Kept, Inserted, Edited, Bare []string
	// Cost is the cost of each message of the new list, in tokens. Tokens is the cost of the whole new
	// request.
	Cost   []int
	Tokens int
	// Met reports whether Tokens is within the target. Where it is not, nothing more could go.
	Met bool
}

// Apply checks a plan against every promise of the package, and applies it. The messages of the case
// are not changed. A plan that breaks a promise is refused: the error is an *abi.Error with phase
// check, and its code says which promise.
func Apply(c Case, p abi.Plan) (*Verdict, error) {
	a := application{Case: c, index: make(map[string]int, len(c.Messages))}
	for i := range c.Messages {
		a.index[c.Messages[i].ID] = i
	}
	for _, step := range []func(abi.Plan) error{a.supersede, a.edit, a.wholeUnits, a.insert} {
		if err := step(p); err != nil {
			return nil, err
		}
	}
	return a.verdict()
}

// application is a plan that is being checked and applied.
type application struct {
	Case
	index    map[string]int
	gone     []bool
	edited   map[int]abi.Message
	inserted []insertion
}

func (a *application) supersede(p abi.Plan) error {
	a.gone = make([]bool, len(a.Messages))
	for _, id := range p.Supersede {
		i, ok := a.index[id]
		switch {
		case !ok:
			return refuse(abi.CodeUnknownID, "supersedes %q, which is not in the session", id)
		case a.gone[i]:
			return refuse(abi.CodeDuplicateID, "supersedes %q twice", id)
		case a.Pinned[i]:
			return refuse(abi.CodePinned, "supersedes %q, which is pinned", id)
		case a.Turn != nil && a.Turn[i]:
			return refuse(abi.CodeCurrentTurn, "supersedes %q, which belongs to the current turn", id)
		}
		a.gone[i] = true
	}
	return nil
}

func (a *application) edit(p abi.Plan) error {
	a.edited = make(map[int]abi.Message, len(p.Edit))
	done := make(map[abi.Edit]bool, len(p.Edit))
	for _, e := range p.Edit {
		i, ok := a.index[e.ID]
		place := abi.Edit{ID: e.ID, Call: e.Call}
		switch {
		case !ok:
			return refuse(abi.CodeUnknownID, "edits %q, which is not in the session", e.ID)
		case a.gone[i]:
			return refuse(abi.CodeEdit, "edits %q, which it also supersedes", e.ID)
		case a.Pinned[i]:
			return refuse(abi.CodePinned, "edits %q, which is pinned", e.ID)
		case done[place]:
			return refuse(abi.CodeDuplicateID, "edits %q twice", e.ID)
		}
		done[place] = true
		m, ok := a.edited[i]
		if !ok {
			m = a.Messages[i]
		}
		m, err := edited(m, e)
		if err != nil {
			return err
		}
		a.edited[i] = m
	}
	return nil
}

func (a *application) wholeUnits(abi.Plan) error {
	units, _ := abi.Units(a.Messages)
	for _, u := range units {
		for _, i := range u[1:] {
			if a.gone[i] != a.gone[u[0]] {
				return refuse(abi.CodeSplitUnit, "parts %q from %q, which belong together", a.Messages[u[0]].ID, a.Messages[i].ID)
			}
		}
	}
	return nil
}

func (a *application) insert(p abi.Plan) error {
	replaced := digest(p.Supersede...)
	for k, in := range p.Insert {
		behind, err := a.place(in)
		if err != nil {
			return err
		}
		m, err := frame(in, digest(replaced, strconv.Itoa(k)), a.index)
		if err != nil {
			return err
		}
		if len(a.Messages) > 0 && a.Messages[len(a.Messages)-1].Timestamp != "" {
			m.Timestamp = a.Time
		}
		a.index[m.ID] = -1
		a.inserted = append(a.inserted, insertion{Message: m, behind: behind})
	}
	return nil
}

// verdict builds the new list and judges it as a whole.
func (a *application) verdict() (*Verdict, error) {
	v := &Verdict{}
	before := a.Overhead
	if a.Tokens == nil {
		a.count()
	}
	stays := len(a.Messages)
	for _, gone := range a.gone {
		if gone {
			stays--
		}
	}
	kept := make([]abi.Message, 0, stays)
	for i := range a.Messages {
		m := &a.Messages[i]
		before += a.Tokens[i]
		if a.gone[i] {
			v.Superseded = append(v.Superseded, m.ID)
			continue
		}
		v.Kept = append(v.Kept, m.ID)
		if e, ok := a.edited[i]; ok {
			m = &e
			v.Edited = append(v.Edited, m.ID)
		}
		kept = append(kept, *m)
	}
	v.Messages = kept
	if len(a.inserted) > 0 {
		v.Messages, v.Inserted = a.inPlace(kept)
	}
	if a.DropThinking {
		v.Messages, v.Bare = DropThinking(a.Messages, a.Pinned, v.Messages)
	}
	v.Tokens, v.Cost = a.Overhead, make([]int, len(v.Messages))
	changed := set.Of(slices.Concat(v.Inserted, v.Edited, v.Bare)...)
	for i := range v.Messages {
		if m := &v.Messages[i]; changed[m.ID] {
			v.Cost[i] = a.Count.Message(m)
		} else {
			v.Cost[i] = a.Tokens[a.index[m.ID]]
		}
		v.Tokens += v.Cost[i]
	}
	v.Met = v.Tokens <= a.Target
	switch {
	case v.Tokens >= before:
		return nil, refuse(abi.CodeGrew, "%d tokens before, %d after", before, v.Tokens)
	case !v.Met && a.moreCouldGo():
		return nil, refuse(abi.CodeOverTarget, "%d tokens, %d allowed, and more could go", v.Tokens, a.Target)
	}
	if err := a.noNewOrphans(v.Messages); err != nil {
		return nil, err
	}
	return v, nil
}

// count counts the messages of the case.
func (a *application) count() {
	a.Tokens = make([]int, len(a.Messages))
	for i := range a.Messages {
		a.Tokens[i] = a.Count.Message(&a.Messages[i])
	}
}

// moreCouldGo reports whether a unit stays that could go: it is neither pinned nor in the current turn.
func (a *application) moreCouldGo() bool {
	units, _ := abi.Units(a.Messages)
	for _, u := range units {
		free := !a.gone[u[0]]
		for _, i := range u {
			free = free && !a.Pinned[i] && (a.Turn == nil || !a.Turn[i])
		}
		if free {
			return true
		}
	}
	return false
}

// noNewOrphans returns an error where the new list has a call without its result, or a result without
// its call, that the old one did not have: such a list makes providers refuse the session for good. It
// looks at the list itself, however that was made.
func (a *application) noNewOrphans(after []abi.Message) error {
	calls, results := abi.Orphans(a.Messages)
	calls2, results2 := abi.Orphans(after)
	for _, pair := range []struct{ was, is map[string]bool }{{calls, calls2}, {results, results2}} {
		for id := range pair.is {
			if !pair.was[id] {
				return refuse(abi.CodeSplitUnit, "leaves %q without its counterpart", id)
			}
		}
	}
	return nil
}

// maxMessage is the most bytes of a refusal's text: ids in it may be a plugin's words.
const maxMessage = 400

func refuse(code abi.Code, format string, args ...any) *abi.Error {
	text := clip.Cut(fmt.Sprintf(format, args...), maxMessage, "...")
	return &abi.Error{Code: code, Op: "check plan", Phase: abi.PhaseCheck, Message: text}
}
