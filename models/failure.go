package models

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"time"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/refusal"
)

// failure makes an [abi.Error] of err, with which the call ended. ctx is the
// caller's, within has the timeout.
func (x *exchange) failure(ctx, within context.Context, err error) error {
	m := x.m
	switch {
	case ctx.Err() != nil:
		return m.interrupted(ctx, x.before())
	case within.Err() != nil:
		return m.error(abi.CodeDeadline, fmt.Sprintf("no answer within %s%s", m.config.Timeout, x.before()),
			"give the model a longer timeout", within.Err())
	case errors.Is(err, errTooLarge):
		return m.error(abi.CodeModel, err.Error(), "is that the address of a model?", err)
	case x.last.err != nil:
		if neverSent(err) {
			err = unsent{err}
		}
		return m.error(abi.CodeNetwork, err.Error(), "look at the base URL, the network and whether the server runs", err)
	case !x.last.ok():
		return x.refused()
	}
	return m.error(abi.CodeModel, "an answer that is not in the form of the provider's interface: "+err.Error(),
		"look at the provider and the base URL", err)
}

// unsent is the error of a request that nobody was sent.
type unsent struct{ error }

func (u unsent) Unwrap() error { return u.error }

// Final says that a shorter request would fare no better.
func (unsent) Final() bool { return true }

// neverSent reports whether there was nobody to send a request to.
func neverSent(err error) bool {
	var certificate *tls.CertificateVerificationError
	e, ok := errors.AsType[*net.OpError](err)
	return ok && e.Op == "dial" || errors.As(err, &certificate)
}

// interrupted is the error of a caller that gave up.
func (m *model) interrupted(ctx context.Context, before string) error {
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return m.error(abi.CodeDeadline, "no answer in the time the caller had"+before, "give it more time", ctx.Err())
	}
	return m.error(abi.CodeCanceled, "the caller gave up"+before, "", ctx.Err())
}

// before is what the provider had to say before the time was up.
func (x *exchange) before() string {
	if x.refusal == nil {
		return ""
	}
	return fmt.Sprintf("; before that status %d: %s", x.refusal.status, messageOf(x.refusal.body))
}

// refused is the error of a provider that answered with one.
func (x *exchange) refused() error {
	r := x.last
	r.away = x.asked > x.m.config.MaxWait
	code, hint := classify(r.status, r.body)
	if x.asked > 0 && (code == abi.CodeRateLimited || code == abi.CodeOverloaded) {
		hint = fmt.Sprintf("try again after %s, as the provider asks", x.asked.Round(time.Second))
	}
	return x.m.error(code, fmt.Sprintf("status %d: %s", r.status, messageOf(r.body)), hint, r)
}

// classify says what an error response is about, and what to do.
func classify(status int, body []byte) (abi.Code, string) {
	if _, ok := exceeds(status, string(body)); ok {
		return abi.CodeContextLength, "compact the session, or use a model with a larger window"
	}
	switch {
	case status == http.StatusPaymentRequired, outOfCredit(status, body):
		return abi.CodeModel, "look at plan and billing of the account"
	case status == http.StatusUnauthorized, status == http.StatusForbidden:
		return abi.CodeUnauthorized, "look at the key and what it may be used for"
	case status == http.StatusTooManyRequests, refusal.RateLimited(string(body)):
		return abi.CodeRateLimited, "send less at a time, or allow fewer requests at once (concurrency)"
	case status == http.StatusBadGateway, status == http.StatusServiceUnavailable,
		status == http.StatusGatewayTimeout, status == statusOverloaded:
		return abi.CodeOverloaded, "try again later"
	case status == http.StatusNotFound:
		return abi.CodeModel, "look at the model's name and the base URL"
	case status >= 300 && status < 400:
		return abi.CodeModel, "redirects are not followed: make the base URL the address it leads to"
	}
	return abi.CodeModel, ""
}

func (m *model) error(code abi.Code, message, hint string, err error) error {
	name := string(m.config.Provider) + "/" + m.config.Model
	return &abi.Error{
		Code: code, Op: "complete", Message: name + ": " + clean(m.redact(message), maxMessage), Hint: hint, Err: err,
	}
}
