package session

import (
	"context"

	kagewasm "github.com/kagewasm/kagewasm"
	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/descent"
)

// recover compacts a session whose request the provider refused as too long, and calls the model again:
// once, or with fewer messages each time. Where that does not help it returns the provider's error.
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

// descend makes the call again with fewer messages each time.
func (d *dispatch) descend(ctx context.Context, e abi.Exceeded, err error) ([]abi.Message, error) {
	down := &descending{dispatch: d, exceeded: e, refusal: err}
	switch stuck, err := descent.Down(ctx, down); {
	case err != nil:
		return nil, err
	case stuck:
		return nil, descent.Stuck("dispatch", down.Last(), down.exceeded, down.refusal)
	}
	return down.answer, nil
}

// descending is a dispatch on its way down. refusal is the provider's last one, and exceeded what it says.
type descending struct {
	*dispatch
	exceeded abi.Exceeded
	refusal  error
	answer   []abi.Message
}

// Last implements descent.Session.
func (d *descending) Last() *kagewasm.Result { return d.Results[len(d.Results)-1] }

// Shorten implements descent.Session.
func (d *descending) Shorten(ctx context.Context, keep int) (shorter bool, err error) {
	return d.shorten(ctx, &d.exceeded, &keep)
}

// Again implements descent.Session.
func (d *descending) Again(ctx context.Context) (refused bool, err error) {
	if d.answer, err = d.call(ctx); err == nil {
		return false, nil
	}
	e, tooLong := d.s.tooLong(err)
	if !tooLong {
		return false, err
	}
	d.exceeded, d.refusal = e, err
	return true, nil
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
