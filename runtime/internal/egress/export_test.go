package egress

import "net/url"

// Reaches reports whether the socket of a request to a URL may connect to an
// address, without making one.
func (c *Client) Reaches(rawURL, address string) (bool, error) {
	u, err := url.Parse(rawURL)
	if err != nil {
		return false, err
	}
	o, err := originOf(u)
	if err != nil {
		return false, err
	}
	return c.check(o, address) == nil, nil
}

// Aim returns the URL that a request to rawURL would be sent to.
func (c *Client) Aim(rawURL string) (string, error) {
	h, err := c.first(Request{URL: rawURL})
	if err != nil {
		return "", err
	}
	return h.url.String(), nil
}

// NormalHost is seen by the fuzz target alone.
var NormalHost = normalHost
