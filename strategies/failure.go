package strategies

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/kagewasm/kagewasm/abi"
)

// worthAnother reports whether a shorter request may do better.
func worthAnother(err error) bool {
	return !errors.Is(err, errNoBudget) && (abi.CodeOf(err) == abi.CodeBadSummary || isTooLong(err) || passes(err))
}

// passes reports whether a model failed in a way that less text or a little time may change: it is busy, slow or
// broken, or refused in words that nobody knows. A key or a model that is not there stays away.
func passes(err error) bool {
	switch abi.CodeOf(err) {
	case abi.CodeModel, abi.CodeRateLimited, abi.CodeOverloaded, abi.CodeNetwork, abi.CodeDeadline:
		e, ok := errors.AsType[interface {
			error
			Final() bool
		}](err)
		return !ok || !e.Final()
	}
	return false
}

// patience is how long the calls of one summary that failed so may have taken together for the model to be asked
// again: somebody waits, and a provider that is down stays down.
const patience = 30 * time.Second

// isTooLong reports whether an error says that a request did not fit, from a provider or from here.
func isTooLong(err error) bool {
	switch abi.CodeOf(err) {
	case abi.CodeContextLength, abi.CodeExceedsWindow, abi.CodeInputLimit:
		return true
	}
	return false
}

// errNoBudget marks a failure that shorter tool results cannot help.
var errNoBudget = errors.New("no room for a transcript")

// tooLong returns the error of a request that is too long to be sent.
func tooLong(cause error, format string, args ...any) error {
	return &abi.Error{Code: abi.CodeContextLength, Op: summarizeName, Phase: abi.PhaseCall, Err: cause,
		Message: fmt.Sprintf(format, args...), Hint: hintTooLong}
}

// hintTooLong says what to do about a summarizer whose request did not fit. The session
// is being compacted already.
const hintTooLong = "use a model with a larger window for summaries, or a shorter prompt"

// failure returns an *abi.Error for what a model call failed with.
func failure(ctx context.Context, err error) *abi.Error {
	out := &abi.Error{Code: abi.CodeOf(err), Op: summarizeName, Phase: abi.PhaseCall, Message: err.Error(), Err: err,
		Hint: "nothing was changed; the next strategy takes over"}
	var e *abi.Error
	switch {
	case errors.As(err, &e):
		out.Message, out.Hint = e.Message, e.Hint
	case errors.Is(err, context.DeadlineExceeded):
		out.Code = abi.CodeDeadline
	case errors.Is(err, context.Canceled):
		out.Code = abi.CodeCanceled
	default:
		out.Code = abi.CodeModel
	}
	if isTooLong(out) {
		out.Hint = hintTooLong
	}
	switch ctx.Err() {
	case context.DeadlineExceeded:
		out.Code = abi.CodeDeadline
	case context.Canceled:
		out.Code = abi.CodeCanceled
	}
	return out
}

// stated returns the window, in tokens, that a provider names where it refuses a request of so many
// tokens with room for an answer of so many more, 0 where it names none. Providers count that room or do
// not: what is nearer to their number is believed, and whole says that they do. Where it does not say what
// the request took, the window it names is believed, as far as it is shorter than the request, which was
// refused.
func stated(err error, request, answer int) (window int, whole bool) {
	x := abi.ExceededBy(err)
	switch {
	case x == nil:
		return 0, false
	case x.Tokens == 0 && !x.Bytes:
		return max(0, min(x.Limit, request-1)), false
	case x.Tokens > request+answer/2:
		request, whole = request+answer, true
	}
	n, ok := x.Window(request)
	if !ok {
		return 0, false
	}
	return n, whole
}
