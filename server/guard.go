package server

import (
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/time/rate"

	"github.com/kagewasm/kagewasm/server/internal/api"
)

// guard lets requests through that are addressed to this server, by somebody who has the
// token, from no other origin, and not too often.
type guard struct {
	opts   *Options
	token  [32]byte // its digest: comparing those tells nothing of its length
	cookie string
	origin *http.CrossOriginProtection
	limits limits
}

// cookieName names the cookie of browsers. It is no host-bound name, as loopback is
// spoken to without TLS.
const cookieName = "kagewasm"

func newGuard(o *Options) *guard {
	g := &guard{opts: o, token: sha256.Sum256([]byte(o.Token)), origin: http.NewCrossOriginProtection(),
		limits: limits{rate: rate.Limit(o.Rate), of: make(map[string]*limit)}}
	sum := sha256.Sum256([]byte("a browser's cookie for " + o.Token)) // a cookie gives the token away to nobody
	g.cookie = hex.EncodeToString(sum[:])
	return g
}

func (g *guard) openPath() string { return "/open?" + url.Values{"token": {g.opts.Token}}.Encode() }

// around is next behind all checks.
func (g *guard) around(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		protect(w.Header())
		if p := g.check(r); p != nil {
			if p.Status == http.StatusUnauthorized {
				w.Header().Set("WWW-Authenticate", `Bearer realm="kagewasm"`)
			}
			if p.Status == http.StatusTooManyRequests {
				w.Header().Set("Retry-After", "1")
			}
			refuse(w, r, p)
			return
		}
		r.Body = http.MaxBytesReader(w, r.Body, g.opts.MaxBody+1) // the API tells of what is too long by itself
		next.ServeHTTP(w, r)
	})
}

// protect sets what a browser has to keep to: nothing of another origin is loaded, run,
// framed or told.
func protect(h http.Header) {
	h.Set("Content-Security-Policy", "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "+
		"font-src 'self'; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "same-origin") // none at all would have forms say that they come from nowhere
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cache-Control", "no-store")
}

// check is what is wrong with a request, nil where nothing is.
func (g *guard) check(r *http.Request) *api.Problem {
	trusted, _ := r.Context().Value(trustedKey{}).(bool)
	if !trusted && !g.knows(r.Host) {
		return &api.Problem{Status: http.StatusMisdirectedRequest, Code: "host", Detail: "this server has no such name",
			Hint: "use localhost or the address in figures, or start it with --host NAME"}
	}
	if r.URL.Path == "/healthz" {
		return nil
	}
	client, known := clientOf(r), trusted || g.authorized(r)
	if !g.limits.allow(client, known && (trusted || isLoopback(client)), time.Now()) {
		return &api.Problem{Status: http.StatusTooManyRequests, Code: "rate_limited",
			Detail: "too many requests from this address",
			Hint:   "wait a second"}
	}
	if err := g.origin.Check(r); err != nil {
		return &api.Problem{Status: http.StatusForbidden, Code: "origin",
			Detail: "the request comes from a page of another origin",
			Hint:   "only pages of this server may change anything"}
	}
	if known || r.URL.Path == "/open" {
		return nil
	}
	g.limits.failed(client, time.Now())
	return &api.Problem{Status: http.StatusUnauthorized, Code: "unauthorized", Detail: "the token is missing or wrong",
		Hint: "send Authorization: Bearer TOKEN, with the token of the file that kagewasm serve names"}
}

// knows reports whether a request is addressed to this server. Another site's name may be
// made to point here; an address in figures is no name.
func (g *guard) knows(host string) bool {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	host = strings.TrimSuffix(strings.ToLower(strings.Trim(host, "[]")), ".")
	if host == "localhost" || slices.Contains(g.opts.Hosts, host) {
		return true
	}
	_, err := netip.ParseAddr(host)
	return err == nil
}

// authorized reports whether a request shows the token, or the cookie of it.
func (g *guard) authorized(r *http.Request) bool {
	if shown, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer "); ok {
		return g.isToken(shown)
	}
	return slices.ContainsFunc(r.CookiesNamed(cookieName), func(c *http.Cookie) bool {
		return subtle.ConstantTimeCompare([]byte(c.Value), []byte(g.cookie)) == 1
	})
}

func (g *guard) isToken(shown string) bool {
	sum := sha256.Sum256([]byte(shown))
	return subtle.ConstantTimeCompare(sum[:], g.token[:]) == 1
}

// open makes a browser known that was sent here with the token.
func (g *guard) open(w http.ResponseWriter, r *http.Request) {
	if !g.isToken(r.URL.Query().Get("token")) {
		g.limits.failed(clientOf(r), time.Now())
		refuse(w, r, &api.Problem{Status: http.StatusUnauthorized, Code: "unauthorized",
			Detail: "the link is not one of this server", Hint: "open the link that kagewasm serve prints"})
		return
	}
	http.SetCookie(w, &http.Cookie{Name: cookieName, Value: g.cookie, Path: "/", HttpOnly: true,
		SameSite: http.SameSiteStrictMode, Secure: r.TLS != nil})
	http.Redirect(w, r, "/", http.StatusSeeOther)
}

func clientOf(r *http.Request) string {
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		return "socket"
	}
	return host
}

// isLoopback reports whether a client is on this machine.
func isLoopback(client string) bool {
	addr, err := netip.ParseAddr(client)
	return err == nil && addr.Unmap().IsLoopback()
}

// limits bound how often each client asks.
type limits struct {
	rate rate.Limit
	mu   sync.Mutex
	of   map[string]*limit
}

type limit struct {
	all  *rate.Limiter
	bad  *rate.Limiter // requests without the token
	last time.Time
}

// A client may show a wrong token so often at once, and once a second from then on.
const maxWrong = 20

// maxClients bounds the memory of limits.
const maxClients = 10_000

func (l *limits) client(name string, now time.Time) *limit {
	l.mu.Lock()
	defer l.mu.Unlock()
	one := l.of[name]
	if one == nil {
		if len(l.of) >= maxClients {
			for name, c := range l.of {
				if now.Sub(c.last) > time.Minute {
					delete(l.of, name)
				}
			}
		}
		if len(l.of) >= maxClients {
			clear(l.of)
		}
		one = &limit{all: rate.NewLimiter(l.rate, int(2*l.rate)), bad: rate.NewLimiter(1, maxWrong)}
		l.of[name] = one
	}
	one.last = now
	return one
}

// allow reports whether a client may ask now. One of this machine's own that shows the token may as often as it likes:
// a program that asks one thing after the other can be faster than any rate that protects the server from others.
func (l *limits) allow(name string, own bool, now time.Time) bool {
	c := l.client(name, now)
	return c.bad.TokensAt(now) >= 1 && (own || l.rate < 0 || c.all.AllowN(now, 1))
}

// failed counts a request that did not show the token.
func (l *limits) failed(name string, now time.Time) { l.client(name, now).bad.AllowN(now, 1) }
