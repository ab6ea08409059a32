package egress

import (
	"net/netip"
	"net/url"
	"strings"
)

// reach is which addresses an origin may lead to.
type reach int

const (
	reachPublic   reach = iota + 1 // a name: the internet
	reachPrivate                   // a name: private networks too
	reachLoopback                  // localhost
	reachItself                    // an address
)

// grants are the granted origins. There is nothing else.
type grants map[origin]reach

const privateMark = "private+"

// add reads one grant; see the package comment.
func (g grants) add(s string) error {
	rest, marked := strings.CutPrefix(s, privateMark)
	u, bare, err := grantURL(rest)
	if err != nil {
		return usagef("http grant %q: use HOST, HOST:PORT or http://HOST:PORT, without a path", cut(s))
	}
	o, err := originOf(u)
	if err != nil {
		return usagef("http grant %q: %v", cut(s), err)
	}
	r := reachPublic
	a, isAddress := o.address()
	switch {
	case isAddress && (a.IsUnspecified() || a.IsMulticast()):
		return usagef("http grant %q: nobody has this address", cut(s))
	case isAddress:
		r = reachItself
	case o.host == localhost:
		r = reachLoopback
	case marked:
		r = reachPrivate
	}
	g[o] = max(g[o], r)
	// Nobody listens in between a machine and itself, so http needs no saying.
	if bare && (r == reachLoopback || a.IsLoopback()) {
		o.scheme = "http"
		if u.Port() == "" {
			o.port = defaultPort(o.scheme)
		}
		g[o] = max(g[o], r)
	}
	return nil
}

// grantURL reads a grant as a URL; bare says that it names no scheme.
func grantURL(s string) (u *url.URL, bare bool, err error) {
	if bare = !strings.Contains(s, "://"); bare {
		if a, err := netip.ParseAddr(s); err == nil && a.Is6() {
			s = "[" + s + "]"
		}
		s = "https://" + s
	}
	if u, err = url.Parse(s); err != nil {
		return nil, false, err
	}
	if (u.Path != "" && u.Path != "/") || u.RawQuery != "" || u.Fragment != "" {
		return nil, false, usagef("more than an origin")
	}
	return u, bare, nil
}

// allows reports whether a connection for an origin may go to an address.
func (g grants) allows(o origin, a netip.Addr) bool {
	a = a.Unmap()
	switch g[o] {
	case reachPublic:
		return isPublic(a)
	case reachPrivate:
		return isPublic(a) || isPrivate(a)
	case reachLoopback:
		return a.IsLoopback()
	case reachItself:
		own, ok := o.address()
		return ok && a == own
	}
	return false
}
