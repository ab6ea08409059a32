package session_test

import (
	"fmt"
	"testing"
	"time"

	kagewasm "github.com/kagewasm/kagewasm"
	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/features"
	"github.com/kagewasm/kagewasm/session"
)

// keepingHost is a host of its own that keeps its index.
type keepingHost struct {
	session.RecallIndex
	toolHost
}

// askBoth asks a session, a host of its own that keeps its index, and one that has
// just all its messages, which have to be told the same.
func askBoth(t *testing.T, s *session.Session, host *keepingHost, query string) {
	t.Helper()
	host.stored = s.All()
	opts, arguments := session.Tools{Recall: true}, fmt.Sprintf(`{"query":%q,"limit":null}`, query)
	want, _, err := opts.Answer(&toolHost{stored: s.All()}, "recall", arguments)
	if err != nil {
		t.Fatal(err)
	}
	for who, h := range map[string]session.ToolHost{"the session": s, "the host": host} {
		if got, _, err := opts.Answer(h, "recall", arguments); err != nil || got != want {
			t.Errorf("%q: %s answers\n%s\nand its messages\n%s\n%v", query, who, got, want, err)
		}
	}
}

// TestKeptIndex: a session that is asked again and again, and grows, is compacted and
// rolled back between, answers as one that is asked for the first time.
func TestKeptIndex(t *testing.T) {
	features.Proves(t, "N9")
	s := open(t, newCompactor(t, kagewasm.Options{}), 400, nil)
	host := new(keepingHost)
	for round := range 6 {
		var msgs []abi.Message
		for i, m := range chat(30) {
			m.ID = fmt.Sprintf("r%d-%s", round, m.ID)
			if i%4 == 1 {
				m.Content = abi.Text(fmt.Sprintf("The lamp of lighthouse%d has been red since %d.", i, round))
			}
			msgs = append(msgs, m)
		}
		if err := s.Append(t.Context(), msgs...); err != nil {
			t.Fatal(err)
		}
		askBoth(t, s, host, fmt.Sprintf("lighthouse5 red since %d", round))
		if _, err := s.Dispatch(t.Context(), said(fmt.Sprint("x", round), nil)); err != nil {
			t.Fatal(err)
		}
		askBoth(t, s, host, fmt.Sprintf("lighthouse5 red since %d", round))
		if round == 3 {
			if err := s.Rollback(t.Context(), "r2-"+msgs[9].ID[3:]); err != nil {
				t.Fatal(err)
			}
			askBoth(t, s, host, "lighthouse5 red since 1")
		}
	}
}

// TestKeptIndexIsFaster: what was indexed for one recall is not indexed for the next.
func TestKeptIndexIsFaster(t *testing.T) {
	features.Proves(t, "N9")
	s := open(t, newCompactor(t, kagewasm.Options{}), 2000, nil)
	var msgs []abi.Message
	for i := range 2000 {
		msgs = append(msgs, abi.Message{ID: fmt.Sprint("m", i), Role: abi.RoleAssistant,
			Content: abi.Text(minutes(i))})
	}
	msgs = append(msgs, abi.Message{ID: "last", Role: abi.RoleUser, Content: abi.Text("Go on.")})
	if err := s.Append(t.Context(), msgs...); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Dispatch(t.Context(), said("x", nil)); err != nil {
		t.Fatal(err)
	}
	ask := func(host session.ToolHost) time.Duration {
		start := time.Now()
		_, _, err := session.Tools{Recall: true}.Answer(host, "recall", `{"query":"bridge17 in district 4"}`)
		if err != nil {
			t.Fatal(err)
		}
		return time.Since(start)
	}
	for who, host := range map[string]session.ToolHost{
		"a session": s, "a host of its own": &keepingHost{toolHost: toolHost{stored: s.All()}},
	} {
		t.Run(who, func(t *testing.T) {
			ask(host)
			kept, fresh := time.Hour, time.Hour
			for range 3 {
				kept, fresh = min(kept, ask(host)), min(fresh, ask(&toolHost{stored: s.All()}))
			}
			t.Logf("again %v, for the first time %v", kept, fresh)
			if kept > fresh/3 {
				t.Errorf("a recall takes %v, and %v with the indexing", kept, fresh)
			}
		})
	}
}

// minutes are some sentences about many things.
func minutes(n int) (text string) {
	for i := range 8 {
		text += fmt.Sprintf("District %d met about roads and put the matter of bridge%d off until spring. ", (n*i)%61, n)
	}
	return text
}
