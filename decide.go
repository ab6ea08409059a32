package kagewasm

import (
	"fmt"
	"strings"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/hooks"
)

// limits are the figures a decision is made on.
type limits struct {
	window int
	upper  int // tokens over which a compaction starts
	target int // tokens to get down to
	// all: only what is pinned stays; the current turn goes too.
	all bool
}

// maxTokens bounds what a caller can claim, so that sums stay sums.
const maxTokens = 1 << 40

func (c *Compactor) limits(req *Request, tokens int) (limits, error) {
	l := limits{window: abi.FallbackWindow}
	if w := req.Session.ContextWindow; w != nil {
		if *w <= 0 {
			return l, usage("context window %d: it has to be positive", *w)
		}
		if *w > maxTokens {
			return l, usage("context window %d: give %d tokens at most", *w, maxTokens)
		}
		l.window = *w
	}
	if req.Overhead < 0 || req.Overhead > maxTokens {
		return l, usage("overhead %d: give 0 to %d tokens", req.Overhead, maxTokens)
	}
	l.upper = int(c.opts.Upper * float64(l.window))
	l.target = int(c.opts.Lower * float64(l.window))
	switch {
	case req.Target == nil:
		if req.Force {
			l.target = min(l.target, int(c.opts.Lower*float64(tokens)))
		}
	case *req.Target < 0 || *req.Target > l.upper:
		return l, usage("target %d: give 0 to %d tokens, the threshold at which the next compaction starts", *req.Target, l.upper)
	default:
		l.target, l.all = *req.Target, *req.Target == 0
	}
	return l, nil
}

// due reports whether a compaction is to run: over the upper threshold, or
// asked for. Getting down to the lower one keeps it from running again at once
// (FEATURES K2).
func (l limits) due(req *Request, tokens int) bool { return req.Force || tokens > l.upper }

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
