package service

import (
	"maps"
	"sync"

	kagewasm "github.com/kagewasm/kagewasm"
)

// Totals count what was done since the service began.
type Totals struct {
	// Open is how many sessions are kept open.
	Open int
	// Compactions by the type of the event with which they ended.
	Compactions map[string]int
	// TokensFreed is how many tokens compactions took away.
	TokensFreed int
}

type totals struct {
	mu    sync.Mutex
	ended map[string]int
	freed int
}

func (t *totals) add(e kagewasm.Event) {
	if e.Type == kagewasm.EventTriggered || e.Type == kagewasm.EventObserved {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.ended == nil {
		t.ended = make(map[string]int)
	}
	t.ended[string(e.Type)]++
	if e.Type == kagewasm.EventCompleted && e.Report != nil {
		t.freed += max(0, e.Report.TokensBefore-e.Report.TokensAfter)
	}
}

// Totals are the counts as they are now.
func (s *core) Totals() Totals {
	s.mu.Lock()
	open := len(s.open)
	s.mu.Unlock()
	s.totals.mu.Lock()
	defer s.totals.mu.Unlock()
	return Totals{Open: open, Compactions: maps.Clone(s.totals.ended), TokensFreed: s.totals.freed}
}
