// Package descent is what the recovery descend does where a provider refuses a request as too long. Sessions, also
// those of a server, and the proxy have it in common.
package descent

import (
	"context"
	"fmt"
	"slices"

	kagewasm "github.com/kagewasm/kagewasm"
	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/set"
)

// Session is one whose last call was refused.
type Session interface {
	// Last is the last look at the session.
	Last() *kagewasm.Result
	// Shorten compacts the session, so that at most keep messages stay at its end, and reports whether it has fewer
	// tokens than it had.
	Shorten(ctx context.Context, keep int) (shorter bool, err error)
	// Again makes the call again, and reports whether it is refused as too long.
	Again(ctx context.Context) (refused bool, err error)
}

// Down lets fewer messages stay at the end, one less at each refusal than did. Where a step leaves as many messages as
// there were, further steps would help as little: none stays at the next. A step that takes tokens away is worth a
// call in any case, one that takes none away is not. A session is stuck that is refused with none. The error is the
// session's.
func Down(ctx context.Context, s Session) (stuck bool, err error) {
	for keep, last := kagewasm.RecoverFrom+1, false; !last; {
		keep = max(0, min(keep-1, fewer(s.Last())))
		last = keep == 0
		shorter, err := s.Shorten(ctx, keep)
		if err != nil {
			return false, err
		}
		if r := &s.Last().Report; !shorter || r.MessagesAfter >= r.MessagesBefore {
			keep = 0
		}
		if !shorter {
			continue
		}
		if refused, err := s.Again(ctx); err != nil || !refused {
			return false, err
		}
	}
	return true, nil
}

// fewer is how many messages stay at the end without the first one there that may go. A call goes with its results, so
// that one less would often change nothing. The current turn stays as long as any message does.
func fewer(last *kagewasm.Result) (rest int) {
	pinned, turn := set.Of(last.Report.Pinned...), abi.CurrentTurn(last.Messages)
	all, results := 0, 0
	for i, m := range slices.Backward(last.Messages) {
		switch {
		case m.Kind == abi.KindSummary:
			return rest
		case m.Kind.Internal(): // it does not count
		case m.Role == abi.RoleTool:
			results++
		case turn[i] || pinned[m.ID]:
			all, results = all+1+results, 0
		default:
			rest, all, results = all, all+1+results, 0
		}
	}
	return rest
}

// Stuck is the error of a session that is stuck, as its provider refused it last with err. The last report has it as
// its warning.
func Stuck(op string, last *kagewasm.Result, e abi.Exceeded, err error) error {
	report := &last.Report
	limit := fmt.Sprintf("the window is %d", report.Window)
	if e.Limit > 0 && !e.Bytes {
		limit = fmt.Sprintf("the provider takes %d", e.Limit)
	}
	x := &abi.Error{Code: abi.CodeExceedsWindow, Op: op, Err: err,
		Message: fmt.Sprintf("refused as too long with nothing left that could go: %d tokens in %d messages, and %s",
			report.TokensAfter, report.MessagesAfter, limit),
		Hint: "pin less, offer fewer tools, or start a new session"}
	report.Warning = x.Message + "; " + x.Hint
	return x
}
