package egress

import (
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"strconv"
	"strings"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/clip"
)

// origin is where a request goes, in one spelling: what is granted and what
// is asked for are compared by it.
type origin struct {
	scheme string // http or https
	host   string // a name in lower case, or an address
	port   uint16
}

const localhost = "localhost"

func (o origin) String() string { return o.scheme + "://" + o.authority() }

// authority is host and port, as a URL has them.
func (o origin) authority() string {
	if o.port == defaultPort(o.scheme) {
		if strings.Contains(o.host, ":") {
			return "[" + o.host + "]"
		}
		return o.host
	}
	return net.JoinHostPort(o.host, strconv.Itoa(int(o.port)))
}

// address is the host where it is no name.
func (o origin) address() (netip.Addr, bool) {
	a, err := netip.ParseAddr(o.host)
	return a, err == nil
}

// originOf reads the origin of an absolute URL.
func originOf(u *url.URL) (origin, error) {
	scheme := strings.ToLower(u.Scheme)
	switch {
	case scheme != "http" && scheme != "https":
		return origin{}, usagef("url: scheme %q: use https or http", cut(u.Scheme))
	case u.User != nil:
		return origin{}, usagef("url: a user or a password in it: use a header")
	case u.Opaque != "" || u.Host == "":
		return origin{}, usagef("url: it names no host")
	}
	host, err := normalHost(u.Hostname())
	if err != nil {
		return origin{}, err
	}
	port, err := normalPort(u.Port(), scheme)
	return origin{scheme, host, port}, err
}

func defaultPort(scheme string) uint16 {
	if scheme == "http" {
		return 80
	}
	return 443
}

func normalPort(s, scheme string) (uint16, error) {
	if s == "" {
		return defaultPort(scheme), nil
	}
	n, err := strconv.ParseUint(s, 10, 16)
	if err != nil || n == 0 {
		return 0, usagef("port %q: give a number from 1 to 65535", cut(s))
	}
	return uint16(n), nil
}

// maxHost is how long a name may be.
const maxHost = 253

// normalHost returns the one spelling of a host. Addresses have to be in their
// usual form: what is read as an address by some and as a name by others
// (127.1, 0x7f000001, 2130706433, 0177.0.0.1) is refused, as is everything
// that is not ASCII.
func normalHost(s string) (string, error) {
	if a, err := netip.ParseAddr(s); err == nil {
		if a.Zone() != "" {
			return "", usagef("host %q: an address with a zone", cut(s))
		}
		return a.Unmap().String(), nil
	}
	name := strings.ToLower(strings.TrimSuffix(s, "."))
	if name == "" || len(name) > maxHost {
		return "", usagef("host %q: a name has 1 to %d letters", cut(s), maxHost)
	}
	labels := strings.Split(name, ".")
	for _, l := range labels {
		if l == "" || len(l) > 63 || strings.ContainsFunc(l, notInLabel) {
			return "", usagef("host %q: use letters, digits, - and _ of ASCII, and xn-- for what has others", cut(s))
		}
	}
	if last := labels[len(labels)-1]; isNumber(last) {
		if a, err := netip.ParseAddr(name); err == nil { // with a dot at its end
			return a.String(), nil
		}
		return "", usagef("host %q: write an address as four numbers, or as IPv6 in brackets", cut(s))
	}
	return name, nil
}

func notInLabel(r rune) bool {
	return !(r >= 'a' && r <= 'z' || r >= '0' && r <= '9' || r == '-' || r == '_')
}

// isNumber reports whether some parser takes a host that ends in this label
// for an IPv4 address.
func isNumber(label string) bool {
	if hex, ok := strings.CutPrefix(label, "0x"); ok {
		return strings.Trim(hex, "0123456789abcdef") == ""
	}
	return strings.Trim(label, "0123456789") == ""
}

func usagef(format string, args ...any) *abi.Error {
	return &abi.Error{Code: abi.CodeUsage, Message: fmt.Sprintf(format, args...)}
}

// cut keeps foreign text short in messages.
func cut(s string) string { return clip.Head(s, 100) }
