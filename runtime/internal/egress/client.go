package egress

import (
	"context"
	"crypto/x509"
	"net"
	"net/netip"
)

// Options of a [Client]. The zero value reaches nothing.
type Options struct {
	// Grants are the origins that can be reached; see the package comment.
	Grants []string
	// Asked are the hosts that the manifest names, as grants are written. They
	// grant nothing: they tell who can fix a refusal.
	Asked []string
	// Secrets by name. {{secret:NAME}} in the value of a request's header
	// stands for one; it is sent to the origin asked for and to no other.
	Secrets map[string]string
	// Lookup finds the addresses of a name. Default: the system's resolver.
	Lookup func(ctx context.Context, host string) ([]netip.Addr, error)
	// RootCAs verify servers. Default: the system's.
	RootCAs *x509.CertPool
}

// Client holds what one plugin may reach. It never changes, and is safe for
// concurrent use.
type Client struct {
	grants  grants
	asked   grants
	secrets map[string]string
	lookup  func(ctx context.Context, host string) ([]netip.Addr, error)
	roots   *x509.CertPool
}

// New reads the grants. The error is of code usage.
func New(o Options) (*Client, error) {
	c := &Client{grants: make(grants), asked: make(grants), secrets: o.Secrets, lookup: o.Lookup, roots: o.RootCAs}
	if c.lookup == nil {
		c.lookup = func(ctx context.Context, host string) ([]netip.Addr, error) {
			return net.DefaultResolver.LookupNetIP(ctx, "ip", host)
		}
	}
	for _, s := range o.Grants {
		if err := c.grants.add(s); err != nil {
			return nil, err
		}
	}
	for _, s := range o.Asked {
		_ = c.asked.add(s) // what is no host is none that anybody asks for
	}
	return c, nil
}

// refused says who can have a request to an origin answered: the author, where the
// manifest does not name it, and the operator.
func (c *Client) refused(o origin) error {
	if _, ok := c.asked[o]; !ok && len(c.asked) > 0 {
		return denied("the manifest does not name "+o.authority()+", and it is not granted",
			"the author names it under hosts of the capability http in plugin.yaml; then an operator can grant it, or does "+
				"so at once: --grant http="+o.String())
	}
	return denied(o.String()+" is not granted", "the operator grants it: --grant http="+o.String())
}
