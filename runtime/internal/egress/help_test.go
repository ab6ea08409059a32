package egress_test

import (
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"

	"github.com/kagewasm/kagewasm/runtime/internal/egress"
)

// limits of the tests, as a call has them.
var limits = egress.Limits{Requests: 16, BodyBytes: 1 << 20}

// serve starts a server on loopback and returns it as host:port.
func serve(t *testing.T, h http.HandlerFunc) string {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	return strings.TrimPrefix(s.URL, "http://")
}

func client(t *testing.T, o egress.Options) *egress.Client {
	t.Helper()
	if o.Lookup == nil {
		o.Lookup = func(_ context.Context, host string) ([]netip.Addr, error) {
			return nil, &net.DNSError{Err: "no such host", Name: host, IsNotFound: true}
		}
	}
	c, err := egress.New(o)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func do(t *testing.T, c *egress.Client, r egress.Request) (*egress.Response, error) {
	t.Helper()
	s := c.Session(limits)
	defer s.Close()
	return s.Do(t.Context(), r)
}

// at is a lookup that leads every name to the same addresses.
func at(addresses ...string) func(context.Context, string) ([]netip.Addr, error) {
	return func(context.Context, string) ([]netip.Addr, error) {
		var out []netip.Addr
		for _, a := range addresses {
			out = append(out, netip.MustParseAddr(a))
		}
		return out, nil
	}
}

func hello(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "hello") }
