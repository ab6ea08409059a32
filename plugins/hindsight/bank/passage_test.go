package bank_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/kagewasm/kagewasm/internal/features"
	"github.com/kagewasm/kagewasm/plugins/hindsight/bank"
)

// minutes is a long text about many things, of which the nth is a ferry.
func minutes(n int) string {
	var b strings.Builder
	for i := range 120 {
		fmt.Fprintf(&b, "District %d met about roads and schools, and put bridge%d off until spring. ", i, i)
		if i == n {
			b.WriteString("The ferry to Ramsgate leaves pier seven at noon. ")
		}
	}
	return b.String()
}

// TestPassages: of a long memory a recall returns the passage that tells of the
// query, with its place, from the newest memories and from those in segments; and
// where an earlier version stored it without the places.
func TestPassages(t *testing.T) {
	features.Proves(t, "K28")
	kv := newKV()
	var list []bank.Memory
	for i := range 20 {
		m := bank.Memory{ID: fmt.Sprint(i), Session: fmt.Sprint(i % 3), Author: "assistant", Text: minutes(-1)[i:]}
		list = append(list, m)
	}
	list[7].Text = minutes(60)
	retain(t, kv, list...)
	found := func(t *testing.T) {
		t.Helper()
		hits := recall(t, kv, bank.Query{Text: "When does the ferry to Ramsgate leave?", TextBytes: 700, Limit: 1})
		if len(hits) != 1 || hits[0].ID != "7" || !strings.Contains(hits[0].Text, "ferry to Ramsgate leaves pier seven") {
			t.Fatalf("%+v", hits)
		}
		h := hits[0]
		if len(h.Text) > 700 || h.Length != len(list[7].Text) || list[7].Text[h.Start:h.Start+len(h.Text)] != h.Text {
			t.Errorf("%d bytes from %d of %d are not where the passage stands", len(h.Text), h.Start, h.Length)
		}
	}
	t.Run("in a segment", found)
	t.Run("whole where it fits", func(t *testing.T) {
		hits := recall(t, kv, bank.Query{Text: "When does the ferry to Ramsgate leave?", Limit: 1})
		if hits[0].Text != list[7].Text || hits[0].Length != 0 {
			t.Errorf("%d bytes of %d, length %d", len(hits[0].Text), len(list[7].Text), hits[0].Length)
		}
	})
	t.Run("several of one memory", func(t *testing.T) {
		hits := recall(t, kv, bank.Query{Text: "bridge3 bridge115", TextBytes: 700, Limit: 4})
		starts := make(map[string]bool)
		for _, h := range hits {
			starts[fmt.Sprint(h.ID, " ", h.Start)] = true
		}
		if len(starts) != len(hits) || len(hits) != 4 {
			t.Errorf("%d hits at %v", len(hits), slices.Collect(maps.Keys(starts)))
		}
	})
	t.Run("without the places", func(t *testing.T) {
		dropCuts(t, kv)
		found(t)
	})
	t.Run("in the newest", func(t *testing.T) {
		kv = newKV()
		retain(t, kv, list[7])
		found(t)
	})
}

// dropCuts cuts the end off each table which an earlier version did not write: as
// much as leaves one that can be read.
func dropCuts(t *testing.T, kv *memKV) {
	t.Helper()
	for key, table := range maps.Clone(kv.m) {
		if key[strings.LastIndexByte(key, '/')+1] != 't' {
			continue
		}
		for n := len(table) - 1; ; n-- {
			if n == 0 {
				t.Fatal("no beginning of a table can be read")
			}
			kv.m[key] = table[:n]
			if b, err := bank.Open(kv, prefix); err == nil {
				if _, err = b.Recall(bank.Query{Text: "ferry"}); err == nil {
					break
				}
			}
		}
	}
}
