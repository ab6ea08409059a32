package strategies

import (
	"cmp"
	"context"
	"regexp"
	"slices"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/firewall"
	"github.com/kagewasm/kagewasm/strategies/note"
)

// Strategy decides what goes of a session: [Strategy.Plan] returns a plan. The engine asks one strategy
// after the other, writes the note that stands for what goes, and hands the plan to the firewall. The
// first plan that the firewall accepts is applied, and each refusal joins the chain of failures.
// Implementations are safe for concurrent use.
type Strategy interface {
	// Plan says what goes of v and what is shortened in what stays. It changes
	// nothing: v is shared. The result should be under v.Target with b.Note
	// tokens to spare.
	//
	// Source says who made the plan; where its type is strategy, Plan is cheap
	// and may be asked again with less for the note. Summary, where there is
	// one, stands first in the note. Usage is what models took, and counts
	// beside an error too.
	Plan(ctx context.Context, v *View, b Budget) (abi.Plan, error)
}

// Budget says what a plan may insert, in tokens.
type Budget struct {
	// Note is how many tokens to leave for all that is inserted: the note in its frame, and texts of
	// plugins.
	Note int
	// Host is the part of Note that the host fills with what it reads off the messages that go.
	Host int
	// Inject is the most tokens of plugins' texts together.
	Inject int
	// Beside is how many more tokens than Note there may be for what must not be tried or asked again: what
	// failed, the last of it as it is quoted and the rest in short, and rules and lists that persons gave. A
	// plan says in its own Note what it leaves.
	Beside int
	// Tight: what has to stay leaves nothing under the target. Everything else
	// goes then, and the note gets a part of what is left up to the next
	// threshold.
	Tight bool
	// cramped: what has to stay leaves the note fewer tokens than its due.
	cramped bool
	// Read returns the note read off messages that would go, as they came to the session, and off those
	// that edits would shorten. It may be nil. Call it in the goroutine in which Plan was called.
	Read func(superseded []string, edits []abi.Edit) *note.Note
	// NeedBeside returns how many tokens these need in messages that would go. It costs less than Read, and
	// is otherwise like it.
	NeedBeside func(superseded []string, edits []abi.Edit) int
}

// NoteBy says who writes the note where a plugin makes the plan.
type NoteBy string

const (
	// NoteByBoth: the plugin's summary first, then what the host reads off what goes. The default.
	NoteByBoth NoteBy = "both"
	// NoteByPlugin: what the plugin says, and nothing of the host's. Where it says
	// nothing there is no note.
	NoteByPlugin NoteBy = "plugin"
	// NoteByHost: what the host reads off what goes. The plugin's summary is for people,
	// in the record.
	NoteByHost NoteBy = "host"
)

// NoteConfig is about the note that stands for what goes.
type NoteConfig struct {
	// By says who writes the note where a plugin makes the plan. Default both.
	By NoteBy
	// Tokens is what the host says in a note beside a model's or a plugin's summary:
	// what failed, todos, files, exact names; without a summary all of the note. A number
	// counts up to half of the target. Negative switches it off. 0 is the most of these,
	// and what failed comes beside it:
	//   - 7% of what goes, up to 10,000;
	//   - an eighth of the target, up to 4,000;
	//   - a fifth of the target, up to 1,000;
	//   - what the words of persons take, up to 4,000 and 35% of the target;
	//   - three quarters of the host's earlier notes that go, up to 10,000 and 60% of the target.
	Tokens int
	// InjectTokens is the most tokens of plugins' injected texts together; they never have more than an
	// eighth of the target. Default 2,000.
	InjectTokens int
	// Redact are patterns of secrets, beside the known ones, that are taken out of whatever a
	// compaction inserts. NoRedact switches all off.
	Redact   []*regexp.Regexp
	NoRedact bool
}

const (
	defaultInject = 2000
	// minHost is the least number of tokens that the host has in a note where nothing is configured:
	// with less it says nothing to go on with. In a small window it may have up to smallHost, and where
	// little goes up to maxHost.
	minHost   = 150
	smallHost = 1000
	maxHost   = 4000
	// goneShare is what the host has in a note about much that goes, as a part of that: a token of the
	// note then preserves more than a token of the newest messages. It is maxNote tokens at most, and
	// noteShare of the target.
	goneShare = 0.07
	maxNote   = 10_000
	noteShare = 0.9
	// earlierShare is the part of earlier notes that go that the new one has at least: what stands in them
	// was chosen before, and fades over several compactions. It has earlierMost of the target at most.
	earlierShare = 0.75
	earlierMost  = 0.6
	// tightShare is the part of the window that a note may cost where what stays leaves no room under
	// the target, and half of what is left up to the next compaction is less. It is small, so that the
	// note itself never becomes what the next compaction would have to remove.
	tightShare = 0.02
	// tightLeast is what the host has there in a small window: with as much it has room for names
	// beside the words of persons. Such a note costs a part of the window at most that is not worth a
	// compaction, and a part of what is free in the window: the rest is for the model's answer.
	tightLeast = 300
	tightMost  = 0.05
	freeShare  = 2. / 3
	// A note that has persons' words whole takes wordsTimes the tokens that these need. For that the note
	// takes wordsPart of the target at most.
	// It also takes maxAnswered tokens at most of what the newest words answer.
	wordsTimes  = 3
	maxAnswered = 1000
	wordsPart   = 0.35
	// askedShare is what a note may cost of a target that somebody named, as one part of
	// so many, where what stays leaves less: the target is exceeded by so much at most.
	askedShare = 5
	// minBesideTarget is the target, in tokens, from which on failures and what persons gave have room of
	// their own, besideShare the most of it that they get; of one that is a share of a small session they get
	// besideMost. Under a target of less than wholeBeside they may bring a note to besideWith of it: the newest
	// messages have the rest.
	minBesideTarget = 2000
	wholeBeside     = 8000
	besideShare     = 0.35
	besideMost      = 0.6
	besideWith      = 0.7
	// besideAll is how much of the lower threshold they have where as little as possible is to stay.
	besideAll = 0.25
)

// NewBudget returns what a plan that source makes may insert.
func NewBudget(v *View, c NoteConfig, source abi.Source) Budget {
	frame := firewall.FrameTokens(abi.KindSummary, source, v.Count)
	if c.By == NoteByPlugin && source.Type == abi.SourcePlugin {
		c.Tokens = -1
	}
	b := Budget{Host: v.hostTokens(c.Tokens), Inject: min(cmp.Or(c.InjectTokens, defaultInject), v.Target/8)}
	b.Note = frame + b.Host
	if v.All {
		if c.Tokens == 0 { // as little as possible, but nothing that must not be lost
			b.Beside = int(besideAll * float64(v.Lower))
		}
		return b
	}
	if c.Tokens == 0 && v.Target >= minBesideTarget {
		b.Beside = besideOf(v)
		if v.Target < wholeBeside {
			b.Beside = min(b.Beside, max(0, int(besideWith*float64(v.Target))-b.Note))
		}
	}
	b.fit(v, frame)
	return b
}

// besideOf is the most that failures and what persons gave have of the target. Who compacts by hand names no size:
// there is as much room as in a session that fills the window, and in a small one they may have a larger part.
func besideOf(v *View) int {
	if v.Asked {
		return int(besideShare * float64(v.Target))
	}
	return min(int(besideShare*float64(max(v.Lower, v.Target))), int(besideMost*float64(v.Target)))
}

// fit lowers a budget to what there is room for beside what stays. frame is what the note costs without
// a word in it.
func (b *Budget) fit(v *View, frame int) {
	fixed := v.Fixed()
	switch left := v.Target - fixed; {
	case left >= b.Note:
		b.Inject = min(b.Inject, left-b.Note) // a plan that keeps to it is not refused for it
	case !v.Asked && left >= b.Note/2 && left-frame >= minHost:
		b.Note, b.Host, b.Inject, b.cramped = left, left-frame, 0, true
	default:
		named := min(frame+tightLeast, tightWhole(v.Window)-tightSlack, int(freeShare*float64(v.Window-fixed)))
		least := max(tightNote(v.Window), named, (v.Upper-fixed)/2)
		if v.Asked {
			least = frame + v.LeastNote()
		}
		due := b.Note
		b.Note = max(left, min(due, least))
		b.cramped = b.Note < due
		b.Host, b.Inject = max(0, b.Note-frame), 0
		b.Tight = !v.Asked || b.Note > left
		switch {
		case v.Asked: // a named target is exceeded for the least note alone
			b.Beside = min(b.Beside, max(0, left-b.Note))
		case b.Tight:
			b.Beside = min(b.Beside, max(0, (v.Upper-fixed-b.Note)/2))
		}
	}
}

// hostTokens returns how many tokens the host may have in a note. configured is the setting: 0 is the
// default, and a negative number is none.
func (v *View) hostTokens(configured int) int {
	switch {
	case configured < 0:
		return 0
	case configured > 0 && v.All:
		return configured
	case configured > 0:
		return min(configured, v.Target/2)
	case v.All:
		earlier := v.earlierNotes(func(*abi.Message) bool { return true })
		least := min(maxNote, earlier+(v.Total-earlier)/12, v.Lower/12)
		return max(least, min(v.wordsHost(v.Lower), int(besideAll*float64(v.Lower))))
	}
	earlier := min(maxNote, int(earlierShare*float64(v.earlierNotes(isNote))), int(earlierMost*float64(v.Target)))
	return max(defaultHost(v.Total, v.Target), v.wordsHost(v.Target), earlier)
}

// defaultHost returns how many tokens the host has in a note of a session of so many tokens that is to
// come down to the target.
func defaultHost(total, target int) int {
	little := max(min(maxHost, target/8), min(smallHost, target/5))
	much := min(maxNote, int(goneShare*float64(total-target)), int(noteShare*float64(target)))
	return max(little, much)
}

// wordsHost returns how many tokens the host may have in a note so that the words of persons which may
// go stand in it, where a session is to come down to a target. They are a small part of a session, and matter more than
// anything else in it.
func (v *View) wordsHost(target int) int {
	goes := note.Session{Messages: v.Messages, Gone: make([]bool, len(v.Messages))}
	for i := range goes.Gone {
		goes.Gone[i] = !v.stays(i)
	}
	words, reply := goes.WordsNeed(v.Count.Text), 0
	if u := answered(v); u != nil {
		reply = min(v.UnitTokens(u), maxAnswered)
	}
	return min(words*wordsTimes+reply, maxHost, int(wordsPart*float64(target)))
}

// earlierNotes returns the tokens of those notes of earlier compactions that may go. They are short
// already: a note of them has as much to say.
func (v *View) earlierNotes(counts func(*abi.Message) bool) (tokens int) {
	for i := range v.Messages {
		if m := &v.Messages[i]; m.Kind == abi.KindSummary && counts(m) && !v.stays(i) {
			tokens += v.Tokens[i]
		}
	}
	return tokens
}

// tightNote returns how many tokens a note may cost where what stays leaves no room under the target.
func tightNote(window int) int { return int(tightShare * float64(window)) }

// tightWhole returns how many tokens a note, with its frame, may cost in a small window: it is not worth a compaction.
func tightWhole(window int) int { return int(tightMost * float64(window)) }

// tightSlack is how much less than that a note with names is given: a model's summary can bring it over what it has.
const tightSlack = 64

// LeastNote returns how many tokens the host may have in a note where what stays leaves no room for
// more under a target that somebody named.
func (v *View) LeastNote() int { return max(minHost, v.Target/askedShare) }

// noteSlack is how many tokens a note can be over its share of the window: its frame cannot be
// shortened.
const noteSlack = 128

// WorthTrying reports whether anything could go beside the small note that an earlier compaction left.
// Superseding only that would write it again.
func (v *View) WorthTrying() bool {
	most := max(tightNote(v.Window)+noteSlack, min(tightLeast+noteSlack, tightWhole(v.Window)))
	return slices.ContainsFunc(v.Units, func(u abi.Unit) bool {
		m := &v.Messages[u[0]]
		_, framed := abi.Unfence(m.Text())
		small := framed && m.Kind == abi.KindSummary && v.UnitTokens(u) <= most
		return v.Candidate(u) && !small
	})
}

// settle makes a choice with room for the note, and makes it again where what must not be lost of what goes
// needs more room. It also returns what the choice leaves for the note.
func (b Budget) settle(v *View, choose func(note int) choice) (choice, int) {
	c := choose(b.Note)
	note := b.withBeside(c.gone, c.edits)
	if note == b.Note {
		return c, note
	}
	return choose(note), note
}

// withBeside returns what a note may have where these messages go, with what must not be lost of them.
func (b Budget) withBeside(gone []string, edits []abi.Edit) int {
	if b.Beside == 0 || b.NeedBeside == nil || len(gone) == 0 {
		return b.Note
	}
	return b.Note + min(b.NeedBeside(gone, edits), b.Beside)
}
