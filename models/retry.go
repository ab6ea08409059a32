package models

import (
	"context"
	"crypto/tls"
	"errors"
	"math/rand/v2"
	"net/http"
	"strconv"
	"time"
)

const (
	firstBackoff = 500 * time.Millisecond
	maxBackoff   = 8 * time.Second
)

// again says whether to try once more after the last reply, and when.
func (x *exchange) again(ctx context.Context, try int) (time.Duration, bool) {
	if ctx.Err() != nil || !x.last.temporary() {
		return 0, false
	}
	now := x.m.config.Now()
	after := x.last.retryAfter(now)
	wait := max(after, backoff(try))
	deadline, ok := ctx.Deadline()
	late := ok && !now.Add(wait).Before(deadline)
	if try >= x.m.config.Retries || x.waited+wait > x.m.config.MaxWait || late {
		x.asked = after
		return 0, false
	}
	return wait, true
}

// temporary reports whether the same request may well succeed a little later.
func (r *reply) temporary() bool {
	if r.err != nil {
		var certificate *tls.CertificateVerificationError
		return !errors.Is(r.err, errTooLarge) && !errors.As(r.err, &certificate)
	}
	if r.header.Get("x-should-retry") == "false" {
		return false
	}
	switch r.status {
	case http.StatusTooManyRequests, http.StatusInternalServerError, http.StatusBadGateway,
		http.StatusServiceUnavailable, http.StatusGatewayTimeout, statusOverloaded:
		_, tooLong := exceeds(r.status, string(r.body))
		return !tooLong && !outOfCredit(r.status, r.body)
	}
	return false
}

// backoff is half a second, doubled with each try, less up to half by chance.
func backoff(try int) time.Duration {
	d := maxBackoff
	if try < 4 {
		d = min(d, firstBackoff<<try)
	}
	return d - rand.N(d/2)
}

// retryAfter is how long the provider wants to be left alone, 0 where it does
// not say.
func (r *reply) retryAfter(now time.Time) time.Duration {
	if d, ok := decimal(r.header.Get("retry-after-ms"), time.Millisecond); ok {
		return d
	}
	after := r.header.Get("Retry-After")
	if d, ok := decimal(after, time.Second); ok {
		return d
	}
	if t, err := http.ParseTime(after); err == nil {
		return max(0, t.Sub(now))
	}
	return 0
}

// decimal is a number of units that may have a fraction. Whatever is more than
// a day is a day.
func decimal(s string, unit time.Duration) (time.Duration, bool) {
	const day = 24 * time.Hour
	f, err := strconv.ParseFloat(s, 64)
	if !(f >= 0) || err != nil && !errors.Is(err, strconv.ErrRange) {
		return 0, false // !(f >= 0) is true of NaN too
	}
	if f > float64(day/unit) {
		return day, s != ""
	}
	return time.Duration(f * float64(unit)), s != ""
}
