package kagewasm

import (
	"strings"
	"unicode/utf8"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/firewall"
	"github.com/kagewasm/kagewasm/strategies"
	"github.com/kagewasm/kagewasm/strategies/ledger"
)

const (
	// minLedger and maxLedger bound the ledger, in tokens, where nothing is
	// configured.
	minLedger = 150
	maxLedger = 4000
	// tightShare is the part of the window that a note may cost where what
	// stays leaves no room under the target. It is small, so that the note
	// itself never becomes what the next compaction would have to remove.
	tightShare = 0.02
)

// room is what a compaction's note may cost, in tokens.
type room struct {
	note   int // the whole inserted message
	ledger int // the ledger in it
	inject int // all injected messages together
	// tight: what stays leaves no room; the note is as small as is of use.
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
		r.ledger = min(maxLedger, v.Total/12, lower/12)
	case p.policy.LedgerTokens == 0:
		r.ledger = min(maxLedger, max(l.target/12, min(minLedger, l.target/3)))
	}
	r.note = frame + r.ledger
	r.inject = min(p.policy.InjectTokens, l.target/8)
	if l.all {
		return r
	}
	if left := l.target - v.Fixed(); left < r.note {
		r.tight = true
		r.note = max(left, min(r.note, int(tightShare*float64(l.window))))
		r.ledger = max(0, r.note-frame)
		r.inject = 0
	}
	return r
}

// bareNote stands for superseded messages of which nothing else is said.
const bareNote = "Earlier messages were superseded."

// note is the text that stands for what a plan supersedes: its summary, and
// the exact names in at most budget tokens.
func (c *Compactor) note(summary string, names *ledger.Ledger, budget int) (text string, ledgerTokens int) {
	var parts []string
	if summary = strings.TrimSpace(summary); summary != "" {
		parts = append(parts, summary)
	}
	if list := names.Render(budget, c.opts.Counter.Text); list != "" {
		parts = append(parts, list)
		ledgerTokens = c.opts.Counter.Text(list)
	}
	if len(parts) == 0 {
		return bareNote, 0
	}
	return strings.Join(parts, "\n\n"), ledgerTokens
}

// clip cuts text to at most budget tokens, at a word where it can, and says
// that it did. It returns the empty string where nothing useful fits.
func clip(text string, budget int, count func(string) int) string {
	text = strings.TrimSpace(abi.Defuse(text))
	if count(text) <= budget {
		return text
	}
	const mark = "\n[cut: over the token budget]"
	lo, hi := 0, len(text)
	for lo < hi {
		mid := (lo + hi + 1) / 2
		if count(text[:mid]+mark) <= budget {
			lo = mid
		} else {
			hi = mid - 1
		}
	}
	for lo > 0 && !utf8.RuneStart(text[lo]) {
		lo--
	}
	// Not every script has spaces: a cut at one is nicer, not needed.
	if i := strings.LastIndexAny(text[:lo], "\n "); i > lo/2 {
		lo = i
	}
	if text = strings.TrimSpace(text[:lo]); text == "" {
		return ""
	}
	return text + mark
}
