package session_test

import (
	"fmt"
	"runtime"
	"testing"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/features"
	"github.com/kagewasm/kagewasm/session"
)

// compactedOften is the journal of a session that was compacted again and again: each time all but the note goes.
func compactedOften(t *testing.T, times int) *session.MemoryJournal {
	t.Helper()
	j := new(session.MemoryJournal)
	h, err := session.OpenHistory(t.Context(), j, "s", nil)
	for k := range times {
		var arrived []abi.Message
		for i := range 40 {
			arrived = append(arrived, abi.Message{ID: fmt.Sprintf("m%d.%d", k, i), Role: abi.RoleUser,
				Content: abi.Text("Go on.")})
		}
		if err == nil {
			err = h.Append(t.Context(), arrived...)
		}
		note := abi.Message{ID: fmt.Sprintf("kw-%d", k), Role: abi.RoleUser, Kind: abi.KindSummary,
			Content: abi.Text("What went.")}
		record := &abi.Record{ID: fmt.Sprintf("c%d", k), Inserted: []string{note.ID}}
		for _, m := range h.Messages() {
			record.Superseded = append(record.Superseded, m.ID)
		}
		if err == nil {
			err = h.Rewrite(t.Context(), []abi.Message{note}, record)
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	return j
}

// TestOftenCompacted: to open a session that was compacted twice as often takes twice as much, and not four times.
func TestOftenCompacted(t *testing.T) {
	features.Proves(t, "N5")
	allocated := func(times int) uint64 {
		j := compactedOften(t, times)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		h, err := session.OpenHistory(t.Context(), j, "s", nil)
		runtime.ReadMemStats(&after)
		if err != nil {
			t.Fatal(err)
		}
		if n := len(h.All()); n != 41*times {
			t.Fatalf("%d messages, not %d", n, 41*times)
		}
		return after.TotalAlloc - before.TotalAlloc
	}
	once, twice := allocated(400), allocated(800)
	if ratio := float64(twice) / float64(once); ratio > 2.6 {
		t.Errorf("%.1f times as much for twice as many compactions: %d and %d bytes", ratio, once, twice)
	}
}
