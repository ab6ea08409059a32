package egress

import (
	"maps"
	"net/http"
	"slices"
	"strings"
)

const (
	maxHeaders     = 64
	maxHeaderBytes = 16 << 10
	// maxResponseHeader is what the client reads before it gives up.
	maxResponseHeader = 64 << 10
	userAgent         = "kagewasm"
)

// connection are the headers that belong to a connection or to who is behind
// it. A guest neither sends nor gets them. Those that end in "-" are prefixes.
var connection = []string{
	"accept-encoding", "alt-svc", "connection", "content-length", "expect", "forwarded", "host", "keep-alive",
	"proxy-", "te", "trailer", "transfer-encoding", "upgrade", "via", "x-forwarded-", "x-real-ip",
}

// carried are the headers a redirect takes along to another origin, where no
// secret is in them: all others may be credentials.
var carried = []string{"Accept", "Accept-Language", "Content-Type"}

func ofConnection(name string) bool {
	name = strings.ToLower(name)
	return slices.ContainsFunc(connection, func(c string) bool {
		return name == c || strings.HasSuffix(c, "-") && strings.HasPrefix(name, c)
	})
}

// ownHeader is what the client says for itself.
func ownHeader() http.Header {
	return http.Header{"User-Agent": {userAgent}, "Accept-Encoding": {"identity"}}
}

// requestHeader checks what a guest wants to send and writes the secrets into
// it. away is what of it a redirect takes along to another origin.
func (c *Client) requestHeader(fields map[string]string) (h, away http.Header, err error) {
	if len(fields) > maxHeaders {
		return nil, nil, quotaf("%d headers, %d allowed", len(fields), maxHeaders)
	}
	h, away = ownHeader(), ownHeader()
	size := 0
	seen := make(map[string]bool, len(fields))
	for name, asked := range fields {
		key := http.CanonicalHeaderKey(name)
		size += len(name) + len(": \r\n")
		value, err := c.expand(name, asked, maxHeaderBytes-size)
		switch size += len(value); {
		case err != nil:
			return nil, nil, err
		case !isToken(name):
			return nil, nil, usagef("header %q: not a name", cut(name))
		case ofConnection(name):
			return nil, nil, usagef("header %q: it is the host's to set", cut(name))
		case seen[key]:
			return nil, nil, usagef("header %q: given twice", cut(name))
		case strings.ContainsFunc(value, isControl):
			return nil, nil, usagef("header %q: control characters in its value", cut(name))
		}
		seen[key] = true
		h.Set(key, value)
		if value == asked && slices.Contains(carried, key) {
			away.Set(key, value)
		}
	}
	return h, away, nil
}

func headersTooLong() error { return quotaf("headers of more than %d bytes", maxHeaderBytes) }

// isToken reports whether s can name a header.
func isToken(s string) bool {
	return s != "" && !strings.ContainsFunc(s, func(r rune) bool {
		letter := r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9'
		return !letter && !strings.ContainsRune("!#$%&'*+-.^_`|~", r)
	})
}

func isControl(r rune) bool { return r < ' ' && r != '\t' || r == 0x7f }

// responseHeader is what a guest gets to see.
func responseHeader(h http.Header) map[string]string {
	out := make(map[string]string)
	size := 0
	for _, key := range slices.Sorted(maps.Keys(h)) {
		if ofConnection(key) && key != "Content-Length" || key == "Set-Cookie" || key == "Set-Cookie2" {
			continue
		}
		value := strings.ToValidUTF8(strings.Join(h[key], ", "), "�")
		if size += len(key) + len(value); size > maxHeaderBytes || len(out) == maxHeaders {
			break
		}
		out[strings.ToLower(key)] = value
	}
	return out
}
