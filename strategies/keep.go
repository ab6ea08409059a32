package strategies

import (
	"slices"
	"strings"

	"github.com/kagewasm/kagewasm/abi"
)

// KeepConfig says what a compaction leaves of a session, and how large. With the zero value as much of
// the end stays word for word as fits the target.
//
// Messages, Tokens and Exchanges let more go than the target asks for. Where both are set, Tokens is
// the budget of Exchanges. Where Messages asks for more of the end than these, that much stays. None of
// them makes a compaction fail: where what they keep does not fit, less stays, down to nothing.
type KeepConfig struct {
	// Messages at the end that stay, not counting those of the kinds
	// display_only, bookmark and metadata.
	Messages int
	// Tokens at the end that stay. Without Exchanges the message that crosses the limit stays too.
	Tokens int
	// Exchanges at the end that stay: a message of a person with all that follows, up to the next. With
	// Tokens as many of them stay whole as fit that, and at least one.
	Exchanges int
	// ToolTokens cuts tool output in messages that stay to about so many tokens each, beginning and
	// end. 0 leaves it as it is.
	ToolTokens int
	// MessageTokens caps one tool result, or one call's arguments, in what a
	// compaction leaves: what is over keeps its beginning and end. Negative
	// switches it off. By default only what stands in the way is cut:
	//   - where what has to stay does not fit, to half of the bound and then less;
	//   - where nothing has to go then, output among the newest messages, to a twelfth of the
	//     target;
	//   - where one of the newest messages would go, to a quarter of the target;
	//   - what would go just before the rest, to what is left;
	//   - where a giant would go, and take all that is older along, whoever wrote it: see [Spare.ShortenGiants].
	//
	// Where the window does not hold what has to stay even so, that of it which persons wrote is cut
	// too, unless it is switched off: see [ShortenWords].
	MessageTokens int
	// OnePiece makes what stays one piece, for hosts that keep a session from one message on, and all of
	// that as it is: no giant is shortened ([Spare.ShortenGiants]), and what the newest words of a person
	// answer goes with the rest.
	OnePiece bool
	// DropThinking leaves out what the model thought in answers that stay after the first change that
	// pruning or a compaction makes, but for pinned ones. It is for models that bind it
	// ([tokens.Model]): their provider refuses it there. By default it stays, and the report warns
	// where the model is known to be one of them.
	DropThinking bool
	// Always are the operator's predicates: messages for which one reports true
	// are never touched.
	Always []func(*abi.Message) bool
}

// Recent reports whether the configuration says what the recent end is.
func (k *KeepConfig) Recent() bool { return k.Messages > 0 || k.Tokens > 0 || k.Exchanges > 0 }

// start returns the index of the first message that is recent.
func (k *KeepConfig) start(v *View) int {
	if !k.Recent() {
		return 0
	}
	messages, tokens := k.Messages, k.Tokens
	if k.Exchanges > 0 {
		tokens = 0 // the budget of the exchanges
	}
	i := len(v.Messages)
	for i > 0 && (messages > 0 || tokens > 0) {
		i--
		tokens -= v.Tokens[i]
		if !v.Messages[i].Kind.Internal() {
			messages--
		}
	}
	return min(i, k.exchanges(v))
}

// exchanges returns the index where the recent exchanges begin: as many whole ones as are wanted and as
// their budget holds, and at least one.
func (k *KeepConfig) exchanges(v *View) int {
	at := len(v.Messages)
	if k.Exchanges <= 0 {
		return at
	}
	persons := abi.Persons(v.Messages)
	n, tokens := 0, 0
	for i := len(v.Messages) - 1; i >= 0; i-- {
		tokens += v.Tokens[i]
		if n > 0 && k.Tokens > 0 && tokens > k.Tokens {
			return at
		}
		if persons[i] {
			at, n = i, n+1
		}
		if n == k.Exchanges {
			return at
		}
	}
	return 0 // there are fewer, and all of them are recent
}

// count returns how many messages are recent, without those of kinds that do not count.
func (k *KeepConfig) count(v *View) (n int) {
	for i := k.start(v); i < len(v.Messages); i++ {
		if !v.Messages[i].Kind.Internal() {
			n++
		}
	}
	return n
}

// Cut returns the ids of the messages that have to go for a note of so many tokens to fit under the
// target, in session order: the oldest units, and everything that is older than the recent end, even
// where it would fit. A unit is recent if its last message is. Where the recent end does not fit it
// shrinks. Where the session fits as it is nothing goes, since there is then nothing to note. Small
// earlier summaries do not go alone while the session is under its threshold.
//
// No unit that may go stays before one that goes, but for what the newest words of a person answer. That
// one giant result costs the session everything before it is what [Spare.ShortenGiants] is for.
func Cut(v *View, note int, keep KeepConfig) []string {
	from := keep.start(v)
	if v.Fits() && !v.olderThan(from) {
		return nil
	}
	c := crossingOf(v, note, &keep)
	gone := make([]bool, len(v.Messages))
	for k, u := range v.Units {
		if v.Candidate(u) && u[0] != c.answered && (k <= c.at || u[len(u)-1] < from) {
			for _, i := range u {
				gone[i] = true
			}
		}
	}
	if v.summariesAlone(gone) {
		return nil
	}
	withNotes(v, gone)
	return v.ids(gone)
}

// crossing is where the room for units ends.
type crossing struct {
	// at is the newest unit, of those that may go and are recent, that does not fit beside newer ones; -1 where all fit.
	at int
	// room is what there is for units, left what newer ones leave of it.
	room, left size
	// answered is the first message of what stays as the newest words of a person answer it, or -1.
	answered int
}

// crossingOf returns where the room ends that the targets leave for units beside a note of so many tokens.
func crossingOf(v *View, note int, keep *KeepConfig) crossing {
	room, from := v.beside(note).less(v.fixed()), keep.start(v)
	c := crossing{room: room, left: room, answered: keepsAnswered(v, room, keep)}
	if c.answered >= 0 {
		c.left = c.left.less(v.size(v.Units[v.UnitOf[c.answered]]))
	}
	for c.at = len(v.Units) - 1; c.at >= 0; c.at-- {
		u := v.Units[c.at]
		if !v.Candidate(u) || u[0] == c.answered || u[len(u)-1] < from {
			continue
		}
		n := v.size(u)
		if !n.within(c.left) {
			break
		}
		c.left = c.left.less(n)
	}
	return c
}

// withNotes lets earlier notes of the host's go where anything goes: the new one takes over what they say. Two of them
// would stand in the wrong order, as a note stands behind the prefix. What a model wrote stays as long as it fits.
func withNotes(v *View, gone []bool) {
	if !slices.Contains(gone, true) {
		return
	}
	for _, u := range v.Units {
		if m := &v.Messages[u[0]]; m.Kind == abi.KindSummary && len(u) == 1 && v.Candidate(u) && isNote(m) {
			gone[u[0]] = true
		}
	}
}

// isNote reports whether a message is a note that the host wrote without a model.
func isNote(m *abi.Message) bool {
	head, _, _ := strings.Cut(m.Text(), "\n")
	_, framed := abi.Unfence(m.Text())
	return framed && strings.HasSuffix(head, ` from="`+string(DropSource.Type)+":"+DropSource.Name+`">`)
}

// smallShare is the part of the window up to which earlier summaries do not go alone.
const smallShare = 0.04

// summariesAlone reports whether only small earlier summaries would go of a session that is under its
// threshold. Writing them again would lose some of what they say, and tell nothing more. Where somebody
// named the target it is false.
func (v *View) summariesAlone(gone []bool) bool {
	if v.Asked || v.All || v.Total > v.Upper {
		return false
	}
	tokens := 0
	for i, goes := range gone {
		if !goes {
			continue
		}
		if v.Messages[i].Kind != abi.KindSummary {
			return false
		}
		tokens += v.Tokens[i]
	}
	return tokens <= int(smallShare*float64(v.Window))
}

// olderThan reports whether a unit that may go ends before message i, other than an
// earlier summary.
func (v *View) olderThan(i int) bool {
	for _, u := range v.Units {
		if u[0] >= i {
			return false
		}
		if u[len(u)-1] < i && v.Candidate(u) && v.Messages[u[0]].Kind != abi.KindSummary {
			return true
		}
	}
	return false
}
