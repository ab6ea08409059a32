package egress

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"syscall"
	"time"

	"github.com/kagewasm/kagewasm/abi"
)

const (
	// maxAddresses is how many addresses of a name are tried.
	maxAddresses = 4
	// dialTimeout bounds one attempt; less where there are others to try.
	dialTimeout      = 10 * time.Second
	dialTimeoutFirst = 3 * time.Second
)

// originKey is the context's key of the origin a connection is for.
type originKey struct{}

// dial connects for the origin in the context. The check sits on the socket,
// where the address is the one that is connected to: what a name led to a
// moment ago does not matter.
func (c *Client) dial(ctx context.Context, network, _ string) (net.Conn, error) {
	o, ok := ctx.Value(originKey{}).(origin)
	if !ok {
		return nil, denied("a connection for no request", "")
	}
	addresses, err := c.resolve(ctx, o)
	if err != nil {
		return nil, err
	}
	dialer := net.Dialer{ControlContext: func(_ context.Context, _, address string, _ syscall.RawConn) error {
		return c.check(o, address)
	}}
	var failed error
	for i, a := range addresses {
		if dialer.Timeout = dialTimeout; i < len(addresses)-1 {
			dialer.Timeout = dialTimeoutFirst
		}
		conn, err := dialer.DialContext(ctx, network, netip.AddrPortFrom(a, o.port).String())
		if err == nil {
			return conn, nil
		}
		// That nobody answered says more than that a second address is
		// refused.
		if failed == nil || abi.CodeOf(failed) == abi.CodeDenied {
			failed = err
		}
	}
	return nil, failed
}

// resolve returns the addresses to try, at least one.
func (c *Client) resolve(ctx context.Context, o origin) ([]netip.Addr, error) {
	if a, ok := o.address(); ok {
		return []netip.Addr{a}, nil
	}
	if o.host == localhost {
		return []netip.Addr{netip.AddrFrom4([4]byte{127, 0, 0, 1}), netip.IPv6Loopback()}, nil
	}
	addresses, err := c.lookup(ctx, o.host)
	if err != nil {
		return nil, err
	}
	if len(addresses) == 0 {
		return nil, &net.DNSError{Err: "no address", Name: o.host, IsNotFound: true}
	}
	addresses = addresses[:min(len(addresses), maxAddresses)]
	for i, a := range addresses {
		addresses[i] = a.Unmap()
	}
	return addresses, nil
}

// check refuses an address that the grant of the origin does not reach.
func (c *Client) check(o origin, address string) error {
	to, err := netip.ParseAddrPort(address)
	if err == nil && to.Port() == o.port && c.grants.allows(o, to.Addr()) {
		return nil
	}
	e := denied(fmt.Sprintf("%s leads to an address that its grant does not reach", o),
		"an address in a private network is granted as private+"+o.String()+", or by itself")
	e.Err = fmt.Errorf("address %s", address)
	return e
}

func denied(message, hint string) *abi.Error {
	return &abi.Error{Code: abi.CodeDenied, Message: message, Hint: hint}
}
