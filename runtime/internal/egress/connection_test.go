package egress_test

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/runtime/internal/egress"
)

// TestConnectionsBelongToSessions: one session uses a connection again, and no
// other gets it.
func TestConnectionsBelongToSessions(t *testing.T) {
	var from []string
	closed := make(chan struct{}, 2)
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		from = append(from, r.RemoteAddr)
	}))
	s.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateClosed {
			closed <- struct{}{}
		}
	}
	s.Start()
	t.Cleanup(s.Close)
	c := client(t, egress.Options{Grants: []string{s.URL}})
	for range 2 {
		session := c.Session(limits)
		for range 2 {
			if _, err := session.Do(t.Context(), egress.Request{URL: s.URL}); err != nil {
				t.Fatal(err)
			}
		}
		session.Close()
		<-closed
	}
	if from[0] != from[1] || from[2] != from[3] || from[1] == from[2] {
		t.Errorf("requests came from %v", from)
	}
}

// TestTLS: servers are verified, and what a client says about itself is
// HTTP/2 where the server has it.
func TestTLS(t *testing.T) {
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprint(w, r.ProtoMajor)
	}))
	s.EnableHTTP2 = true
	s.StartTLS()
	t.Cleanup(s.Close)
	roots := x509.NewCertPool()
	roots.AddCert(s.Certificate())
	here := strings.TrimPrefix(s.URL, "https://")
	resp, err := do(t, client(t, egress.Options{Grants: []string{here}, RootCAs: roots}), egress.Request{URL: s.URL})
	if err != nil || string(resp.Body) != "2" {
		t.Errorf("%+v, %v", resp, err)
	}
	_, err = do(t, client(t, egress.Options{Grants: []string{here}}), egress.Request{URL: s.URL})
	if abi.CodeOf(err) != abi.CodeNetwork || !strings.Contains(err.Error(), "certificate") {
		t.Errorf("a certificate nobody knows: %v", err)
	}
}

// TestNoEnvironment: proxies of the environment are not used.
func TestNoEnvironment(t *testing.T) {
	used := false
	proxy := serve(t, func(http.ResponseWriter, *http.Request) { used = true })
	for _, name := range []string{"HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "ALL_PROXY"} {
		t.Setenv(name, "http://"+proxy)
	}
	_, err := do(t, client(t, egress.Options{Grants: []string{"http://api.test"}, Lookup: at("10.0.0.1")}),
		egress.Request{URL: "http://api.test"})
	if abi.CodeOf(err) != abi.CodeDenied || used {
		t.Errorf("%v, the proxy was asked: %v", err, used)
	}
}

func TestNetworkErrorsTellTheHostAlone(t *testing.T) {
	fail := errors.New("lookup api.test on 10.1.2.3:53: server misbehaving")
	lookup := func(context.Context, string) ([]netip.Addr, error) { return nil, fail }
	_, err := do(t, client(t, egress.Options{Grants: []string{"api.test"}, Lookup: lookup}),
		egress.Request{URL: "https://api.test"})
	if abi.CodeOf(err) != abi.CodeNetwork || strings.Contains(err.Error(), "10.1.2.3") || !errors.Is(err, fail) {
		t.Errorf("%v", err)
	}
}
