package egress_test

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/kagewasm/kagewasm/runtime/internal/egress"
)

// BenchmarkDo is a request over loopback: on a connection that is there, and
// in a session of its own, as the first one of a call.
func BenchmarkDo(b *testing.B) {
	s := httptest.NewServer(http.HandlerFunc(hello))
	defer s.Close()
	c, err := egress.New(egress.Options{Grants: []string{s.URL}})
	if err != nil {
		b.Fatal(err)
	}
	limits := egress.Limits{Requests: 1 << 30, BodyBytes: 1 << 20}
	b.Run("next", func(b *testing.B) {
		session := c.Session(limits)
		defer session.Close()
		for b.Loop() {
			if _, err := session.Do(b.Context(), egress.Request{URL: s.URL}); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("first", func(b *testing.B) {
		for b.Loop() {
			session := c.Session(limits)
			if _, err := session.Do(b.Context(), egress.Request{URL: s.URL}); err != nil {
				b.Fatal(err)
			}
			session.Close()
		}
	})
}
