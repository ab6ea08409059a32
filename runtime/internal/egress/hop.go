package egress

import (
	"cmp"
	"net/http"
	"net/url"
	"slices"
	"strings"
)

// hop is one request on its way, checked and in normal form.
type hop struct {
	method string
	origin origin
	url    *url.URL // of that origin
	header http.Header
	away   http.Header // what of it may leave the origin
	body   []byte
}

const maxURL = 8 << 10

var methods = []string{
	http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete,
}

// first is the hop that a guest asks for.
func (c *Client) first(r Request) (*hop, error) {
	h := &hop{method: strings.ToUpper(r.Method), body: r.Body}
	h.method = cmp.Or(h.method, http.MethodGet)
	if !slices.Contains(methods, h.method) {
		return nil, usagef("method %q: use %s", cut(r.Method), strings.Join(methods, ", "))
	}
	u, err := parseURL(r.URL)
	if err != nil {
		return nil, err
	}
	if err := c.aim(h, u); err != nil {
		return nil, err
	}
	h.header, h.away, err = c.requestHeader(r.Headers)
	return h, err
}

// next is the hop that a response asks for, nil where it is the last.
func (c *Client) next(h *hop, resp *http.Response) (*hop, error) {
	location := resp.Header.Get("Location")
	n := *h
	switch resp.StatusCode {
	case http.StatusMovedPermanently, http.StatusFound, http.StatusSeeOther:
		if h.method != http.MethodHead {
			n.method = http.MethodGet
		}
		n.body = nil
	case http.StatusTemporaryRedirect, http.StatusPermanentRedirect:
	default:
		return nil, nil
	}
	if location == "" {
		return nil, nil
	}
	u, err := parseURL(location)
	if err != nil {
		return nil, err
	}
	if err := c.aim(&n, h.url.ResolveReference(u)); err != nil {
		return nil, err
	}
	if n.origin != h.origin {
		n.header = h.away
	}
	if len(n.body) == 0 {
		n.header = n.header.Clone()
		n.header.Del("Content-Type")
	}
	return &n, nil
}

func parseURL(s string) (*url.URL, error) {
	if len(s) > maxURL {
		return nil, quotaf("a url of %d bytes, %d allowed", len(s), maxURL)
	}
	u, err := url.Parse(s)
	if err != nil {
		return nil, usagef("url: %q is none", cut(s))
	}
	return u, nil
}

// aim sets where a hop goes, if that is granted. The URL is put together again:
// what is sent is what was checked.
func (c *Client) aim(h *hop, u *url.URL) error {
	o, err := originOf(u)
	if err != nil {
		return err
	}
	if _, ok := c.grants[o]; !ok {
		return c.refused(o)
	}
	h.origin = o
	h.url = &url.URL{Scheme: o.scheme, Host: o.authority(), Path: u.Path, RawPath: u.RawPath, ForceQuery: u.ForceQuery}
	h.url.RawQuery = strings.ReplaceAll(u.RawQuery, " ", "%20") // nothing else escapes it
	return nil
}
