package hooks

import (
	"maps"
	"strings"
	"time"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/lists"
)

// Circuit is what a breaker knows of one plugin.
type Circuit struct {
	Digest    string     `json:"digest"`
	Plugin    string     `json:"plugin,omitempty"` // its name
	State     string     `json:"state"`            // closed, open, or half_open where a trial decides
	Failures  int        `json:"failures"`         // in a row, of the hook that has most
	LastError *abi.Error `json:"last_error,omitempty"`
	OpenUntil *time.Time `json:"open_until,omitempty"`
	// ByHook are the failures in a row of each hook. Hook is the hook that opened the circuit, for the
	// Trips-th time since it last worked.
	ByHook map[abi.Hook]int `json:"by_hook,omitempty"`
	Hook   abi.Hook         `json:"hook,omitempty"`
	Trips  int              `json:"trips,omitempty"`
}

// Circuits returns the state of every plugin that was ever called, sorted by digest.
func (b *Breaker) Circuits() []Circuit {
	b.mu.Lock()
	defer b.mu.Unlock()
	var list []Circuit
	for digest, c := range b.circuits {
		shown := Circuit{Digest: digest, Plugin: c.plugin, State: "closed", LastError: c.last, Hook: c.hook, Trips: c.trips,
			ByHook: maps.Clone(c.failures)}
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
	lists.SortStable(list, func(x, y Circuit) int { return strings.Compare(x.Digest, y.Digest) })
	return list
}

// Restore takes over what another breaker knew, as its Circuits returned it. Plugins that this breaker
// has called already keep their own state. A trial that was under way is made again.
func (b *Breaker) Restore(list []Circuit) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for i := range list {
		k := &list[i]
		if _, known := b.circuits[k.Digest]; known {
			continue
		}
		c := &circuit{plugin: k.Plugin, failures: maps.Clone(k.ByHook), last: k.LastError, hook: k.Hook, trips: k.Trips}
		if c.failures == nil {
			c.failures = make(map[abi.Hook]int)
		}
		if k.OpenUntil != nil {
			c.until = *k.OpenUntil
		}
		b.circuits[k.Digest] = c
	}
}

// Reset forgets the failures of a plugin, by its digest, so that it is called again. It reports whether
// there was something to forget.
func (b *Breaker) Reset(digest string) bool {
	b.mu.Lock()
	c := b.circuits[digest]
	is := c != nil && (len(c.failures) > 0 || !c.until.IsZero())
	if is {
		c.failures, c.last, c.until = make(map[abi.Hook]int), nil, time.Time{}
		c.hook, c.trips, c.trial = "", 0, nil
	}
	b.mu.Unlock()
	if is {
		b.changed()
	}
	return is
}

// changed calls the host's Changed: there is something new to keep.
func (b *Breaker) changed() {
	if b.opts.Changed != nil {
		b.opts.Changed()
	}
}
