package store_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/session"
	"github.com/kagewasm/kagewasm/store"
)

// TestLongSession: sessions that are longer than what is read as one value come back whole
// and in order, whatever entries brought the messages; one is as long as that, to the
// message.
func TestLongSession(t *testing.T) {
	onAll(t, func(t *testing.T, open func(store.Options) *store.Store) {
		s := open(store.Options{})
		for _, sizes := range [][]int{{2500}, {1, 998, 1}, {999, 1001}, {1000, 1000, 7}} {
			key, n := fmt.Sprint(sizes), 0
			for i, size := range sizes {
				e := session.Entry{Seq: i + 1}
				for range size {
					e.Append = append(e.Append, said(fmt.Sprintf("m%d", n)))
					n++
				}
				if err := s.Append(t.Context(), key, e); err != nil {
					t.Fatal(err)
				}
			}
			entries, err := s.Load(t.Context(), key)
			if err != nil || len(entries) != len(sizes) {
				t.Fatalf("%s: %d entries, %v", key, len(entries), err)
			}
			n = 0
			for i, e := range entries {
				if len(e.Append) != sizes[i] {
					t.Errorf("%s: entry %d has %d messages", key, i, len(e.Append))
				}
				for j := range e.Append {
					if want := said(fmt.Sprintf("m%d", n)); !e.Append[j].Same(&want) {
						t.Fatalf("%s: message %d is %+v", key, n, e.Append[j])
					}
					n++
				}
			}
		}
	})
}

// TestOddMessages: what was stored comes back as it was, also what the host's own reader
// refuses: data nested without end, and fields in other cases.
func TestOddMessages(t *testing.T) {
	onAll(t, func(t *testing.T, open func(store.Options) *store.Store) {
		s := open(store.Options{})
		deep := json.RawMessage(strings.Repeat("[", 5000) + strings.Repeat("]", 5000))
		list := []abi.Message{{ID: "a", Role: abi.RoleUser, Content: abi.Text("<b> & \u2028 \x00 \xff"), Raw: deep},
			{ID: "b", Role: abi.RoleAssistant,
				Content: abi.Parts(abi.RawPart("image", json.RawMessage(`{"type":"image","TYPE":1}`))), Meta: abi.Meta{"x": json.RawMessage(`{"n":1e400}`)}}}
		if err := s.Append(t.Context(), "s", session.Entry{Seq: 1, Append: list}); err != nil {
			t.Fatal(err)
		}
		entries, err := s.Load(t.Context(), "s")
		if err != nil {
			t.Fatal(err)
		}
		stored, err := s.Messages(t.Context(), "s", store.MessageQuery{})
		if err != nil {
			t.Fatal(err)
		}
		list[0].Content = abi.Text("<b> & \u2028 \x00 \ufffd") // which is all that JSON can say
		for i := range list {
			if !entries[0].Append[i].Same(&list[i]) || !stored[i].Same(&list[i]) {
				t.Errorf("%+v", entries[0].Append[i])
			}
		}
	})
}
