package session

import (
	"context"
	"fmt"
	"slices"

	kagewasm "github.com/kagewasm/kagewasm"
	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/set"
)

// recover makes a call again that the provider refused as too long, of a session that is
// compacted for it: once, or with fewer messages each time. The error is the provider's
// where that does not help.
func (d *dispatch) recover(ctx context.Context, err error) ([]abi.Message, error) {
	e, tooLong := d.s.tooLong(err)
	if !tooLong {
		return nil, err
	}
	policy, perr := d.s.compactor.Policy(d.s.state.session())
	if perr != nil {
		return nil, perr
	}
	if policy.Recovery == kagewasm.RecoverDescend {
		return d.descend(ctx, e, err)
	}
	shorter, cerr := d.shorten(ctx, &e, nil)
	switch {
	case cerr != nil:
		return nil, cerr
	case !shorter:
		return nil, err
	}
	return d.call(ctx)
}

// descend lets fewer messages stay at the end, one less at each refusal than did. What does not make
// the list shorter is not worth a call: none stays at once then.
func (d *dispatch) descend(ctx context.Context, e abi.Exceeded, err error) ([]abi.Message, error) {
	for keep, last := kagewasm.RecoverFrom+1, false; !last; {
		keep = max(0, min(keep-1, d.fewer()))
		last = keep == 0
		shorter, cerr := d.shorten(ctx, &e, &keep)
		if cerr != nil {
			return nil, cerr
		}
		if !shorter {
			keep = 0
			continue
		}
		var answer []abi.Message
		if answer, err = d.call(ctx); err == nil {
			return answer, nil
		}
		var tooLong bool
		if e, tooLong = d.s.tooLong(err); !tooLong {
			return nil, err
		}
	}
	return nil, d.stuck(e, err)
}

// fewer is how many messages stay at the end without the first one there that may go. A call goes with its results, so
// that one less would often change nothing.
func (d *dispatch) fewer() (rest int) {
	last := d.Results[len(d.Results)-1]
	pinned := set.Of(last.Report.Pinned...)
	all, results := 0, 0
	for _, m := range slices.Backward(last.Messages) {
		switch {
		case m.Kind == abi.KindSummary:
			return rest
		case pinned[m.ID]:
		case m.Role == abi.RoleTool:
			results++
		default:
			rest, all, results = all, all+1+results, 0
		}
	}
	return rest
}

// stuck is the error where the provider refuses a request in which nothing is left that
// could go. The last report has it as its warning.
func (d *dispatch) stuck(e abi.Exceeded, err error) error {
	report := &d.Results[len(d.Results)-1].Report
	limit := fmt.Sprintf("the window is %d", report.Window)
	if e.Limit > 0 && !e.Bytes {
		limit = fmt.Sprintf("the provider takes %d", e.Limit)
	}
	x := &abi.Error{Code: abi.CodeExceedsWindow, Op: "dispatch", Err: err,
		Message: fmt.Sprintf("refused as too long with nothing left that could go: %d tokens in %d messages, and %s",
			report.TokensAfter, report.MessagesAfter, limit),
		Hint: "pin less, offer fewer tools, or start a new session"}
	report.Warning = x.Message + "; " + x.Hint
	return x
}

// shorten compacts a session that the provider refused as too long, so that at most keep
// messages stay at the end where that is said, and reports whether that made it shorter
// than it was.
func (d *dispatch) shorten(ctx context.Context, e *abi.Exceeded, keep *int) (shorter bool, err error) {
	before := d.tokens()
	req := d.s.state.request(abi.TriggerOverflow)
	req.Exceeded = e
	if keep != nil {
		req.Overrides = &kagewasm.Overrides{KeepLast: keep}
	}
	switch err := d.fit(ctx, req); abi.CodeOf(err) {
	case "":
	case abi.CodeExceedsWindow: // by an estimate that was wrong already: let the provider judge once more
	default:
		return false, err
	}
	report := &d.Results[len(d.Results)-1].Report
	if window, ok := e.Window(before); ok {
		d.s.state.learn(report.Scale.Tokens(window))
	}
	return d.tokens() < before, nil
}
