package ui_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/servetest"
	"github.com/kagewasm/kagewasm/session"
	"github.com/kagewasm/kagewasm/store"
)

// message is one of some 600 bytes, as sessions of coding agents have them.
func message(i int) abi.Message {
	m := abi.Message{ID: fmt.Sprintf("m%05d", i), Role: abi.RoleAssistant}
	if i%2 == 0 {
		m.Role = abi.RoleUser
	}
	text := ""
	for j := range 12 {
		text += fmt.Sprintf("line %d of message %d reads file%d.go, and says why\n", j, i, i*7)
	}
	m.Content = abi.Text(text)
	return m
}

func fill(tb testing.TB, s *store.Store, key string, messages int) {
	tb.Helper()
	h, err := session.OpenHistory(tb.Context(), s, key, nil)
	if err != nil {
		tb.Fatal(err)
	}
	list := make([]abi.Message, messages)
	for i := range list {
		list[i] = message(i)
	}
	if err := h.Append(tb.Context(), list...); err != nil {
		tb.Fatal(err)
	}
}

// BenchmarkPages is how long pages take: the list of 1,000 sessions, and a session of 10,000
// messages that was compacted ten times.
func BenchmarkPages(b *testing.B) {
	s := serve(b, &servetest.Host{})
	for i := range 1000 {
		fill(b, s.Store, fmt.Sprintf("s%04d", i), 20)
	}
	for i := range 400 {
		s.Must(200, "POST", fmt.Sprintf("/sessions/s%04d/compact", i), map[string]any{"target_tokens": 500}, nil)
	}
	fill(b, s.Store, "long", 10_000)
	for i := range 10 {
		s.Must(200, "POST", "/sessions/long/compact", map[string]any{"target_tokens": 100_000 - 9000*i}, nil)
	}
	var list struct{ Compactions []abi.Record }
	s.Must(200, "GET", "/sessions/long/compactions", nil, &list)
	for _, c := range []struct{ name, path string }{{"sessions", "/"}, {"session", "/s/long"}, {"overview",
		"/s/long/overview"},
		{"messages", "/s/long/messages?after=m05000"}, {"compaction", "/s/long/c/" + list.Compactions[0].ID}} {
		b.Run(c.name, func(b *testing.B) {
			most := time.Duration(0)
			for b.Loop() {
				begun := time.Now()
				if status, body := get(b, s, c.path); status != 200 {
					b.Fatalf("%d %.300s", status, body)
				}
				most = max(most, time.Since(begun))
			}
			b.ReportMetric(float64(most.Microseconds())/1000, "ms-most")
		})
	}
}
