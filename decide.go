package kagewasm

import (
	"fmt"
	"strings"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/hooks"
)

// limits are the figures a decision is made on.
type limits struct {
	window int // what there is for a request, the output's reserve taken off
	upper  int // tokens over which a compaction starts
	target int // tokens to get down to
	// upperShare and lowerShare are the thresholds as fractions of the window.
	upperShare, lowerShare float64
	// upperBytes and targetBytes bound the request's size; 0 is no bound.
	upperBytes, targetBytes int
	// all: only what is pinned stays; the current turn goes too.
	all bool
}

// maxTokens bounds what a caller can claim, so that sums stay sums.
const maxTokens = 1 << 40

// limits works out the figures for a session of so many tokens.
func (p *Policy) limits(req *Request, tokens int) (limits, error) {
	l := limits{window: abi.FallbackWindow, upperShare: p.Upper, lowerShare: p.Lower}
	switch w := req.Session.ContextWindow; {
	case w == nil && p.StrictWindow && p.MaxTokens == 0:
		e := usage("the context window of model %q is not known", req.Session.Model)
		e.Hint = "say how large it is, or set a number of tokens to start at (max_tokens), or leave strict_window off: then 128,000 are used"
		return l, e
	case w == nil:
	case *w <= 0:
		return l, usage("context window %d: it has to be positive", *w)
	case *w > maxTokens:
		return l, usage("context window %d: give %d tokens at most", *w, maxTokens)
	default:
		l.window = *w
	}
	if req.Overhead < 0 || req.Overhead > maxTokens {
		return l, usage("overhead %d: give 0 to %d tokens", req.Overhead, maxTokens)
	}
	if p.OutputReserve >= l.window || p.ReserveTokens >= l.window-p.OutputReserve {
		return l, usage("a reserve of %d and %d tokens leaves nothing of a window of %d", p.OutputReserve, p.ReserveTokens, l.window)
	}
	l.window -= p.OutputReserve
	l.thresholds(p)
	if fits, ok := req.Exceeded.Window(tokens); ok && fits < l.window {
		l.window = fits
		l.upper = min(l.upper, int(l.upperShare*float64(fits)))
		l.target = min(l.target, int(l.lowerShare*float64(fits)))
	}
	switch {
	case req.Target == nil:
		if req.Force || req.Reason == abi.TriggerOverflow {
			l.target = min(l.target, int(p.Lower*float64(tokens)))
		}
	case *req.Target < 0 || *req.Target > l.upper:
		return l, usage("target %d: give 0 to %d tokens, the threshold at which the next compaction starts", *req.Target, l.upper)
	default:
		l.target, l.all = *req.Target, *req.Target == 0
	}
	return l, nil
}

// thresholds applies the policy's mode: an absolute number of tokens, a
// reserve, or fractions of the window.
func (l *limits) thresholds(p *Policy) {
	l.upper = int(p.Upper * float64(l.window))
	l.target = int(p.Lower * float64(l.window))
	switch {
	case p.MaxTokens > 0:
		l.upper = min(p.MaxTokens, l.window)
		l.target = int(float64(l.upper) * p.Lower / p.Upper)
		l.shares()
	case p.ReserveTokens > 0:
		l.upper = l.window - p.ReserveTokens
		l.target = min(l.target, int(float64(l.upper)*p.Lower/p.Upper))
		l.shares()
	}
	l.upperBytes = p.MaxBytes
	l.targetBytes = int(float64(p.MaxBytes) * p.Lower / p.Upper)
}

// shares says the thresholds as fractions again, for plugins and reports.
func (l *limits) shares() {
	l.upperShare = float64(l.upper) / float64(l.window)
	l.lowerShare = float64(l.target) / float64(l.window)
}

// due reports whether a compaction is to run: over a threshold, or asked for.
// Getting down to the lower one keeps it from running again at once (FEATURES
// K2).
func (p *pass) due() bool {
	l := &p.limits
	switch {
	case p.req.Force:
		return true
	case p.policy.Disabled:
		return false
	case p.total <= min(p.req.QuietBelow, l.window) && p.req.Reason != abi.TriggerOverflow:
		return false
	case p.req.Reason == abi.TriggerOverflow:
		return true
	case p.req.Reason == abi.TriggerIdle && p.total > int(p.policy.IdleUpper*float64(l.window)):
		return true
	}
	return p.total > l.upper || l.upperBytes > 0 && p.bytes() > l.upperBytes
}

// reasonCode says how a plan that was applied ended.
func (l limits) reasonCode(tokens, pinned int) abi.ReasonCode {
	goal := l.target
	if l.all {
		// As little as possible was asked for, and is there; it falls short
		// only where that would start the next compaction.
		goal = l.upper
	}
	switch {
	case tokens <= goal:
		return abi.ReasonCompacted
	case pinned > goal || l.all:
		return abi.ReasonPinnedExceedTarget
	}
	return abi.ReasonCurrentTurnExceedsTarget
}

// explain puts a reason into words.
func explain(code abi.ReasonCode, r *Report) string {
	switch code {
	case abi.ReasonCompacted:
		return fmt.Sprintf("%d of %d messages superseded, %d tokens brought down to %d (target %d)", len(r.Superseded), r.MessagesBefore, r.TokensBefore, r.TokensAfter, r.Target)
	case abi.ReasonBelowThreshold:
		return fmt.Sprintf("%d tokens, %.0f%% of the window of %d: compaction starts over %.0f%%", r.TokensAfter, 100*float64(r.TokensAfter)/float64(r.Window), r.Window, 100*r.Upper)
	case abi.ReasonCancelled:
		return "the caller gave up; nothing was changed"
	case abi.ReasonCancelledByPlugin:
		return fmt.Sprintf("cancelled by %s; nothing was changed", cancelledBy(r.Hooks))
	case abi.ReasonCommitFailed:
		return "the result could not be stored; the session is as it was"
	case abi.ReasonDisabled:
		return fmt.Sprintf("%d tokens, %.0f%% of the window of %d; automatic compaction is switched off", r.TokensAfter, 100*float64(r.TokensAfter)/float64(r.Window), r.Window)
	case abi.ReasonPending:
		return "a compaction is ready, and waits for the operator to approve it; nothing was changed"
	case abi.ReasonPruneOnly:
		return "no model for summaries and no compactor plugin, and the floor is switched off: only old tool output was shortened"
	case abi.ReasonNotWorthIt:
		if r.Receipt == nil {
			return "too little could go for a compaction: nearly all there is has to stay"
		}
		return "a compaction would not earn back its cost soon enough: " + words(r.Receipt)
	case abi.ReasonNothingToSupersede:
		if r.TokensAfter <= r.Target {
			return fmt.Sprintf("%d tokens, under the target of %d already", r.TokensAfter, r.Target)
		}
		return fmt.Sprintf("%d tokens, and nothing that could go would make it less", r.TokensAfter)
	case abi.ReasonPinnedExceedTarget:
		return fmt.Sprintf("everything that may go went; what is pinned and the summary cost %d tokens (target %d)", r.TokensAfter, r.Target)
	case abi.ReasonCurrentTurnExceedsTarget:
		return fmt.Sprintf("everything that may go went; what is pinned, the current turn and the summary cost %d tokens (target %d)", r.TokensAfter, r.Target)
	}
	return string(code)
}

func cancelledBy(list []hooks.Outcome) string {
	var names []string
	for _, o := range list {
		if o.Outcome == hooks.OutcomeCancelled {
			names = append(names, o.Plugin)
		}
	}
	return strings.Join(names, ", ")
}
