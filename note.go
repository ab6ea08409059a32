package kagewasm

import (
	"strings"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/firewall"
	"github.com/kagewasm/kagewasm/internal/clip"
	"github.com/kagewasm/kagewasm/strategies"
	"github.com/kagewasm/kagewasm/strategies/note"
)

const (
	// minLedger bounds what the host says in a note, in tokens, where nothing
	// is configured, and maxLedger does where little goes.
	minLedger = 150
	maxLedger = 4000
	// goneShare is what the host says in a note about much that goes, as a part
	// of it: there a token of the note keeps more than one of the newest
	// messages. It is maxNote tokens at most, and noteShare of the target.
	goneShare = 0.07
	maxNote   = 10_000
	noteShare = 0.9
	// tightShare is the part of the window that a note may cost where what
	// stays leaves no room under the target, and half of what is left up to the
	// next compaction is less. It is small, so that the note itself never
	// becomes what the next compaction would have to remove.
	tightShare = 0.02
)

// room is what a compaction's note may cost, in tokens.
type room struct {
	note   int // the whole inserted message
	ledger int // the ledger in it
	inject int // all injected messages together
	// failures is what the last failures may cost beside the ledger.
	failures int
	// spare is what there is for failures, at most.
	spare int
	// tight: what stays leaves no room under the target, so everything else
	// goes, and the note has what the next compaction leaves it.
	tight bool
}

func (p *pass) room(v *strategies.View, l limits, source abi.Source) room {
	frame := firewall.FrameTokens(abi.KindSummary, source, p.opts.Counter)
	var r room
	lower := int(l.lowerShare * float64(l.window))
	switch {
	case p.policy.LedgerTokens > 0 && l.all:
		r.ledger = p.policy.LedgerTokens
	case p.policy.LedgerTokens > 0:
		r.ledger = min(p.policy.LedgerTokens, l.target/2)
	case p.policy.LedgerTokens == 0 && l.all:
		r.ledger = min(maxNote, v.Total/12, lower/12)
	case p.policy.LedgerTokens == 0:
		r.ledger = defaultLedger(v.Total, l.target)
	}
	r.note = frame + r.ledger
	r.inject = min(p.policy.InjectTokens, l.target/8)
	if l.target >= minFailuresTarget {
		r.spare = int(failuresShare * float64(l.target))
	}
	if l.all {
		return r
	}
	switch left := l.target - v.Fixed(); {
	case left >= r.note:
	case left >= r.note/2 && left-frame >= minLedger:
		r.note, r.ledger, r.inject = left, left-frame, 0
	default:
		r.tight = true
		r.note = max(left, min(r.note, max(int(tightShare*float64(l.window)), (l.upper-v.Fixed())/2)))
		r.ledger = max(0, r.note-frame)
		r.spare = min(r.spare, max(0, (l.upper-v.Fixed()-r.note)/2))
		r.inject = 0
	}
	return r
}

// defaultLedger is what the host says in a note of a session of so many tokens
// that is to come down to the target.
func defaultLedger(total, target int) int {
	little := max(min(maxLedger, target/8), min(minLedger, target/3))
	much := min(maxNote, int(goneShare*float64(total-target)), int(noteShare*float64(target)))
	return max(little, much)
}

// minFailuresTarget is the target, in tokens, from which on the last failures
// have room of their own, and failuresShare the most of it that they get.
const (
	minFailuresTarget = 8000
	failuresShare     = 0.25
)

// withFailures makes a plan with room for the last failures in it, word for
// word: what was tried and did not work is what a summary must not lose
// (FEATURES I4, I10).
func (p *pass) withFailures(r room, with func(room) abi.Plan) (abi.Plan, room) {
	plan := with(r)
	if r.spare == 0 || p.limits.all || p.policy.LedgerTokens != 0 || len(plan.Supersede) == 0 {
		return plan, r
	}
	read, _ := p.read(plan.Supersede)
	if r.failures = min(read.FailuresBeside(r.ledger, p.opts.Counter.Text), r.spare); r.failures == 0 {
		return plan, r
	}
	r.note += r.failures
	return with(r), r
}

// bareNote stands for superseded messages of which nothing else is said.
const bareNote = "Earlier messages were superseded."

// note is the text that stands for what a plan supersedes: its summary, and
// what was read off the messages in at most budget tokens.
func (p *pass) note(summary string, read *note.Note, budget, failures int) (text string, ledgerTokens int) {
	text, ledgerTokens = read.Write(note.Options{Summary: summary, Outline: p.outline(), Budget: budget, Failures: failures, Count: p.opts.Counter.Text})
	if text == "" {
		return bareNote, 0
	}
	return text, ledgerTokens
}

// outline are the sections of a summary.
func (p *pass) outline() note.Outline {
	o, _ := note.OutlineNamed(p.policy.Summarize.Outline) // checked with the policy
	return o
}

// within cuts text to at most budget tokens, at a word where it can, and says
// that it did. It returns the empty string where nothing useful fits.
func within(text string, budget int, count func(string) int) string {
	return clip.Tokens(strings.TrimSpace(abi.Defuse(text)), budget, "\n[cut: over the token budget]", count)
}
