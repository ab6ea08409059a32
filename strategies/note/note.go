package note

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/lists"
	"github.com/kagewasm/kagewasm/strategies/note/internal/names"
	"github.com/kagewasm/kagewasm/strategies/note/internal/outcome"
)

// Note is what was read off the superseded messages.
type Note struct {
	memory      *Memory
	names       *names.Names
	size        int    // of what went, in bytes
	talk        int    // how much of it agents said at the end of turns, in hundredths
	focus       *Focus // nil where nobody gave instructions
	turns       []turn
	repeats     bool   // messages of persons that these tell stand below once more
	rules       []rule // of messages that earlier notes shortened
	todos       todos
	loads       loads
	laws        *enforcing // what came of rules
	failed      []failure  // with what each costs
	steps       []step     // what was said and done last
	standing    standing   // behind them
	follows     bool       // agents go on in what stays
	below       int        // the size of what stays below, in bytes
	whole       int        // what messages of persons need to stand whole, in tokens
	usage       *usage     // of their words
	older       int        // messages that stay below the note and came before the last one that goes
	heard       int        // the number of the last message of a person, of those that stay too
	past        past       // a summary that somebody else wrote
	since       became     // what was done behind it
	transcripts []string   // how earlier notes say that more can be found
}

// Session is the session that a compaction takes messages from.
type Session struct {
	// Messages are all of its messages, oldest first: those that go as they came,
	// those that stay as they stay.
	Messages []abi.Message
	// Gone marks those that go.
	Gone []bool
	// Pruned are messages that stay and were shortened, as they were before: calls
	// whose results were pruned, with the results, and messages of persons of which
	// the middle is left out. Failures and rules in what is cut are told too.
	Pruned []abi.Message
	// Instructions say what the note should keep in view. Default nothing.
	Instructions string
	// Memory is what notes of the same session found in its texts before. Default none.
	Memory *Memory
}

// Build reads the messages that go. Names that the kept messages hold are not said
// again.
//
// Once ctx is done it reads no further: the note is then of no use.
func Build(ctx context.Context, s Session) *Note {
	s = s.oneResultEach()
	origins, prefix := abi.Origins(s.Messages), abi.PrefixEnd(s.Messages)
	messages, wrote := called(s.Messages, origins)
	s.Messages = messages
	memory := cmp.Or(s.Memory, new(Memory))
	s = s.plain(memory)
	gone, stays := s.parted()
	found, harness := &memory.found, s.harness(ctx, memory)
	n := &Note{memory: memory, size: sizeOf(gone), names: names.Build(ctx, gone, s.Pruned, harness, found),
		loads: loads{memory: memory}}
	n.names.Beside(ctx, stays, harness, found)
	last := lastGone(s.Gone)
	n.names.Settle(ctx, s.Messages, s.Gone, harness)
	if n.focus = focusOn(s.Instructions, gone); n.focus != nil {
		n.names.Raise(n.focus.bears)
	}
	if wrote {
		n.names.WithoutTools()
	}
	n.loads.modified = n.Files().Modified
	r := walk{Note: n, thread: newThread(harness, memory, &n.loads, n.loads.modified), Session: s, origins: origins,
		prefix: prefix, last: last, before: byCall(s.Pruned), replays: replays{same: sameEvents(s.Messages)}}
	persons := fromPersons(origins)
	for i := range s.Messages {
		if ctx.Err() != nil {
			return n
		}
		if !r.replays.holds(s.Messages, i, persons) {
			r.message(i)
		} else {
			n.repeats = n.repeats || persons[i] && !s.Gone[i]
		}
	}
	r.todos.finish()
	n.turns, n.heard = r.thread.finish(), max(r.thread.n, r.thread.known)
	n.talk = r.thread.talked * 100 / max(1, n.size)
	n.steps, n.standing, n.since = lastSteps(r.thread.steps), r.thread.standing, r.thread.since
	below := s.Messages[r.last+1:]
	for i := min(prefix, r.last+1); i <= r.last; i++ { // the note stands behind the prefix
		if !s.Gone[i] && !s.Messages[i].Kind.Internal() {
			n.older++
		}
	}
	n.follows = slices.ContainsFunc(below, func(m abi.Message) bool { return m.Role == abi.RoleAssistant })
	n.todos.below, n.below = n.follows, sizeOf(below)
	return n
}

// fromPersons marks what persons wrote.
func fromPersons(origins []abi.Origin) []bool {
	return lists.Map(origins, func(o abi.Origin) bool { return o == abi.FromPerson })
}

// walk is a session while its messages go by, in order.
type walk struct {
	*Note
	*thread
	Session
	replays replays
	origins []abi.Origin
	prefix  int                     // where the messages end that always stay
	last    int                     // the place of the last message that goes
	before  map[string]*abi.Message // results that were pruned, as they were
}

// message takes the message at place i.
func (r *walk) message(i int) {
	m := &r.Messages[i]
	r.thread.standing.below = i > r.last
	r.loads.hears(m)
	switch {
	case r.origins[i] == abi.FromPerson:
		r.personAt(i)
	case !r.Gone[i]:
		r.thread.stays(m)
		whole := r.before[m.ToolCallID]
		r.todos.message(cmp.Or(whole, m), true, r.thread.harness)
		r.thread.stands(cmp.Or(whole, m), whole != nil)
		r.thread.standing.use.Acted = r.thread.standing.use.Acted || m.Kind == abi.KindSummary // it may tell of more
	case m.Kind == abi.KindSummary:
		r.summaryAt(i)
	default:
		r.thread.message(m, r.origins[i])
		r.loads.message(m, r.thread.n)
		r.rules, r.loads.lists = append(r.rules, r.loads.lists...), nil
		r.todos.message(m, false, r.thread.harness)
	}
}

// personAt takes a message of a person.
func (r *walk) personAt(i int) {
	m := &r.Messages[i]
	defer func() { r.rules = append(r.rules, agreedTo(r.askedBefore(i), m.Words(), r.thread.n)...) }()
	switch {
	case r.Gone[i]:
		r.thread.person(m, "")
		return
	case i < r.prefix:
		r.thread.person(m, staysAbove)
	default:
		r.thread.person(m, staysBelow)
	}
	r.rules = append(r.rules, leftOutOf(m, r.Pruned, r.thread.n)...)
}

// askedBefore is what the agent said last before place i, where that goes: a person answers it there.
func (r *walk) askedBefore(i int) string {
	for k := i - 1; k >= 0 && r.origins[k] != abi.FromPerson; k-- {
		if m := &r.Messages[k]; m.Role == abi.RoleAssistant && m.Text() != "" {
			if r.Gone[k] {
				return m.Text()
			}
			return ""
		}
	}
	return ""
}

// summaryAt takes over what an earlier compaction kept.
func (r *walk) summaryAt(i int) {
	f := r.summary(r.Messages[i].Text())
	shift := r.thread.takeOver(f)
	r.replays.tells(f.turns)
	r.thread.since = became{}
	r.thread.standing.use.Acted = r.thread.standing.use.Acted || f.foreign || len(f.turns) == 0
	if f.foreign {
		r.past.written(max(r.thread.n, r.thread.known), r.Messages[i+1:], r.origins[i+1:])
	}
	for _, rule := range f.rules {
		rule.n += shift
		r.rules = append(r.rules, rule)
	}
	for _, l := range f.loads.list {
		l.n += shift
		r.loads.add(l)
	}
}

// parted are the messages that go and those that stay.
func (s *Session) parted() (gone, stays []abi.Message) {
	goes := 0
	for _, gone := range s.Gone {
		if gone {
			goes++
		}
	}
	gone, stays = make([]abi.Message, 0, goes), make([]abi.Message, 0, len(s.Gone)-goes)
	for i := range s.Messages {
		if s.Gone[i] {
			gone = append(gone, s.Messages[i])
		} else {
			stays = append(stays, s.Messages[i])
		}
	}
	return gone, stays
}

// plain is the session with the results of its calls as what ran put them out.
func (s Session) plain(memory *Memory) Session {
	s.Messages, s.Pruned = memory.known.Plain(s.Messages), memory.known.Plain(s.Pruned)
	return s
}

// harness is what is known of the one that ran the calls.
func (s *Session) harness(ctx context.Context, memory *Memory) outcome.Harness {
	known := &memory.known
	return outcome.Harness{Marks: known.Marks(s.Messages) || known.Marks(s.Pruned), Known: known,
		Flags: known.Flags(s.Messages) || known.Flags(s.Pruned),
		GoOn:  func() bool { return ctx.Err() == nil }}
}

// sizeOf is how long the texts of messages are, in bytes. A note stands for many times its length.
func sizeOf(msgs []abi.Message) (total int) {
	const standsFor = 8
	for i := range msgs {
		n := len(msgs[i].Text())
		for k := range msgs[i].ToolCalls {
			n += len(msgs[i].ToolCalls[k].Arguments)
		}
		if msgs[i].Kind == abi.KindSummary {
			n *= standsFor
		}
		total += n
	}
	return total
}

// lastGone is the place of the last message that goes.
func lastGone(gone []bool) int {
	last := len(gone) - 1
	for last >= 0 && !gone[last] {
		last--
	}
	return last
}

// byCall are the results among messages, by the id of the call. No result has none.
func byCall(msgs []abi.Message) map[string]*abi.Message {
	list := make(map[string]*abi.Message)
	for i := range msgs {
		if m := &msgs[i]; m.Role == abi.RoleTool && m.ToolCallID != "" {
			list[m.ToolCallID] = m
		}
	}
	return list
}

// Files returns what tool calls read and modified, sorted, cumulative over
// earlier compactions, whole paths where they are known. What was modified is not
// listed as read.
func (n *Note) Files() abi.Files { return n.names.Files() }

// empty reports whether there is nothing to say.
func (n *Note) empty() bool {
	return n.names.Empty() && len(n.names.Failures()) == 0 && n.todos.none() &&
		len(n.turns)+len(n.rules)+len(n.loads.list) == 0 && n.past.none()
}

// Words says how much of what persons wrote in the superseded messages a text
// holds, in bytes: of all, and of those messages that are there whole.
func (n *Note) Words(text string) (told, all int) {
	for i := range n.turns {
		words := n.turns[i].words
		all += len(words)
		if words != "" && strings.Contains(text, asQuoted(words)) {
			told += len(words)
		}
	}
	return told, all
}
