package proxy

import (
	"context"
	"net/http"

	kagewasm "github.com/kagewasm/kagewasm"
	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/descent"
)

// recovery sends a request again that the provider refused as too long, of a conversation that is compacted for it.
type recovery struct {
	*exchange
	request  *http.Request
	exceeded abi.Exceeded   // what the last refusal says
	said     *http.Response // what the provider said last
	body     []byte         // to send the next time
}

// run sends the request once more, or with fewer messages each time, as the policy wants. What the provider says then
// is the client's; where there is nothing to send, or nobody answers, that is what it said before.
func (r *recovery) run(ctx context.Context) *http.Response {
	policy, err := r.policy()
	switch {
	case err != nil:
		r.failed(err)
	case policy.Recovery == kagewasm.RecoverDescend:
		r.descend(ctx)
	default:
		if shorter, _ := r.shorten(ctx, nil); shorter {
			_ = r.send()
		}
	}
	return r.said
}

// descend goes down from the last look at the conversation, and takes one where there was none. The log tells how it
// stands where nothing helps; what went wrong on the way is told where it did.
func (r *recovery) descend(ctx context.Context) {
	r.refused = true
	if r.last == nil {
		_, _ = r.shortened(ctx, look{reason: abi.TriggerThreshold})
	}
	if r.last == nil {
		return
	}
	if stuck, _ := descent.Down(ctx, r); stuck {
		_ = descent.Stuck("proxy", r.last, r.exceeded, nil)
		r.p.opts.Log("proxy: " + r.last.Report.Warning)
	}
}

// Last implements descent.Session.
func (r *recovery) Last() *kagewasm.Result { return r.last }

// Shorten implements descent.Session.
func (r *recovery) Shorten(ctx context.Context, keep int) (shorter bool, err error) {
	return r.shorten(ctx, &keep)
}

// Again implements descent.Session.
func (r *recovery) Again(context.Context) (refused bool, err error) {
	if err := r.send(); err != nil {
		return false, err
	}
	r.exceeded, refused = r.refusal(r.said)
	return refused, nil
}

// shorten makes a shorter request, with at most keep messages at its end where that is said.
func (r *recovery) shorten(ctx context.Context, keep *int) (shorter bool, err error) {
	r.body, err = r.shortened(ctx, look{reason: abi.TriggerOverflow, exceeded: &r.exceeded, keep: keep})
	return r.body != nil, err
}

// send sends the shorter request. Where nobody answers, what was said before stays.
func (r *recovery) send() error {
	again := r.request.Clone(r.request.Context())
	r.setBody(again, r.body)
	resp, err := r.p.opts.Transport.RoundTrip(again)
	if err != nil {
		return err
	}
	_ = r.said.Body.Close()
	r.said = resp
	return nil
}

// shortened is the body to send after a look, nil where nothing went.
func (e *exchange) shortened(ctx context.Context, why look) (sent []byte, err error) {
	defer e.rescue(&sent)
	e.family.mu.Lock()
	defer e.family.mu.Unlock()
	was, changed := e.says, false
	err = flight{e}.between(ctx, func() (err error) {
		changed, err = e.look(ctx, why)
		return err
	})
	again := was.what == "retried"
	switch {
	case err != nil:
		e.failed(err)
		return nil, err
	case !changed && again:
		e.says = was
	case !changed:
		e.says.reason = "overflow"
	default:
		if e.says.what = "retried"; again {
			e.says.before = was.before
		}
		return e.plan.apply(e.doc), nil
	}
	return nil, nil
}
