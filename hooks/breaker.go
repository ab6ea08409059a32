package hooks

import (
	"cmp"
	"sync"
	"time"

	"github.com/kagewasm/kagewasm/abi"
)

// Defaults of a breaker.
const (
	defaultFailures    = 3
	defaultCooldown    = 5 * time.Minute
	defaultMaxCooldown = time.Hour
)

// BreakerOptions tune a breaker.
type BreakerOptions struct {
	// Failures is how many failures of one hook in a row put a plugin in quarantine. Default 3. With a
	// negative number no plugin gets there.
	Failures int
	// Cooldown is how long a plugin is left alone at first. Each trial that fails doubles it, up to
	// MaxCooldown. Defaults: five minutes and an hour.
	Cooldown, MaxCooldown time.Duration
	// Changed is called whenever there is something new to keep for the next process: see
	// [Breaker.Circuits] and [Breaker.Restore]. Calls of plugins wait for it. Default: nothing is
	// called.
	Changed func()
	// Now is the clock. Default time.Now.
	Now func() time.Time
}

// Breaker keeps plugins that fail again and again from being called; [NewBreaker] makes one. It is a
// circuit breaker for each digest of a plugin, over all sessions and dispatchers that share it. It is
// safe for concurrent use.
//
// A call that fails and a proposal that is refused are failures. What the caller ends, by a cancel or
// by a deadline of its own, is neither failure nor success. Each hook is counted by itself, so that a
// post_compact that works does not excuse a pre_compact that never does. An open circuit is open for
// all hooks. Where a trial of another hook closed it, one more failure of the hook that had opened it
// opens it again.
type Breaker struct {
	opts BreakerOptions

	mu       sync.Mutex
	circuits map[string]*circuit // one for each plugin ever called
}

// NewBreaker returns a breaker with all circuits closed.
func NewBreaker(opts BreakerOptions) *Breaker {
	opts.Failures = cmp.Or(opts.Failures, defaultFailures)
	if opts.Cooldown <= 0 {
		opts.Cooldown = defaultCooldown
	}
	if opts.MaxCooldown <= 0 {
		opts.MaxCooldown = defaultMaxCooldown
	}
	opts.MaxCooldown = max(opts.MaxCooldown, opts.Cooldown)
	if opts.Now == nil {
		opts.Now = time.Now
	}
	return &Breaker{opts: opts, circuits: make(map[string]*circuit)}
}

// circuit returns the plugin's circuit, and makes it where there is none.
func (b *Breaker) circuit(p Plugin) *circuit {
	digest := cmp.Or(p.Digest(), p.Manifest().Name)
	b.mu.Lock()
	defer b.mu.Unlock()
	c, ok := b.circuits[digest]
	if !ok {
		c = &circuit{failures: make(map[abi.Hook]int)}
		b.circuits[digest] = c
	}
	c.plugin = p.Manifest().Name
	return c
}

// update changes circuits under the breaker's lock. change is given the time.
func (b *Breaker) update(change func(now time.Time)) {
	b.mu.Lock()
	defer b.mu.Unlock()
	change(b.opts.Now())
}
