package proxy

import "time"

// SetPatience says how long a request waits for another one.
func (p *Proxy) SetPatience(d time.Duration) { p.patience = d }

// Waiting is how many requests of a session wait for another one.
func (p *Proxy) Waiting(id, agent string) (n int) {
	f := p.families.of(id, agent)
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, b := range f.branches {
		if b.flights.ended != nil {
			n++
		}
	}
	return n
}
