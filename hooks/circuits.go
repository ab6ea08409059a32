package hooks

import (
	"slices"
	"strings"
	"time"

	"github.com/kagewasm/kagewasm/abi"
)

// Circuit is what a breaker knows of one plugin.
type Circuit struct {
	Digest    string
	State     string // closed, open, or half_open where a trial decides
	Failures  int    // in a row, of the hook that has most
	LastError *abi.Error
	OpenUntil *time.Time
}

// Circuits shows the state of every plugin that was ever called, by digest.
func (b *Breaker) Circuits() []Circuit {
	b.mu.Lock()
	defer b.mu.Unlock()
	var list []Circuit
	for digest, c := range b.circuits {
		shown := Circuit{Digest: digest, State: "closed", LastError: c.last}
		for _, n := range c.failures {
			shown.Failures = max(shown.Failures, n)
		}
		if !c.until.IsZero() {
			shown.State, shown.OpenUntil = "open", new(c.until.UTC())
			if c.trial != nil || !b.opts.Now().Before(c.until) {
				shown.State = "half_open"
			}
		}
		list = append(list, shown)
	}
	slices.SortFunc(list, func(x, y Circuit) int { return strings.Compare(x.Digest, y.Digest) })
	return list
}
