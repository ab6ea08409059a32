package hooks

import (
	"cmp"
	"slices"
	"sync"
	"time"

	"github.com/kagewasm/kagewasm/abi"
)

// Defaults of a breaker.
const (
	DefaultFailures    = 3
	DefaultCooldown    = 5 * time.Minute
	DefaultMaxCooldown = time.Hour
)

// BreakerOptions tune a breaker.
type BreakerOptions struct {
	// Failures of one hook in a row open the circuit of a plugin. Default
	// DefaultFailures; negative never opens one.
	Failures int
	// Cooldown is how long a plugin is left alone at first, and MaxCooldown at
	// most: each trial that fails doubles it. Defaults DefaultCooldown and
	// DefaultMaxCooldown.
	Cooldown, MaxCooldown time.Duration
	// OnChange, if set, hears of every change of a state. It is called in the
	// goroutine of the call that caused it, several at a time where sessions
	// run at once, and may use the breaker.
	OnChange func(Circuit)
	// Now is the clock. Default time.Now.
	Now func() time.Time
}

// Breaker keeps plugins that fail again and again from being called: a circuit
// breaker for each digest, over all sessions and dispatchers that share it. It
// is safe for concurrent use.
//
// A call that fails and a proposal that is refused are failures; what the
// caller ends, by a cancel or by a deadline of its own, is neither failure nor
// success. Hooks are counted apart, so that a post_compact that works does not
// excuse a pre_compact that never does: an open circuit is open for all hooks,
// and where the trial was another hook's, one failure more of the hook that
// opened it opens it again.
type Breaker struct {
	opts BreakerOptions

	mu       sync.Mutex
	circuits map[string]*circuit // one for each plugin ever called
}

// State of a circuit.
type State string

const (
	// StateClosed: the plugin is called.
	StateClosed State = "closed"
	// StateOpen: the plugin is in quarantine, and not called.
	StateOpen State = "open"
	// StateHalfOpen: the cool-down is over. One call is tried, and decides.
	StateHalfOpen State = "half_open"
)

// Circuit is the state of one plugin, for display.
type Circuit struct {
	// Digest of the plugin's code; of a plugin that is no module, its name.
	Digest string `json:"digest"`
	Plugin string `json:"plugin"`
	State  State  `json:"state"`
	// Failures in a row, of the hook that has most.
	Failures int `json:"failures"`
	// LastError is kept when the plugin works again.
	LastError *abi.Error `json:"last_error,omitempty"`
	// OpenUntil is the end of the cool-down; nil where the circuit is closed.
	OpenUntil *time.Time `json:"open_until,omitempty"`
}

// NewBreaker makes a breaker with all circuits closed.
func NewBreaker(opts BreakerOptions) *Breaker {
	opts.Failures = cmp.Or(opts.Failures, DefaultFailures)
	if opts.Cooldown <= 0 {
		opts.Cooldown = DefaultCooldown
	}
	if opts.MaxCooldown <= 0 {
		opts.MaxCooldown = DefaultMaxCooldown
	}
	opts.MaxCooldown = max(opts.MaxCooldown, opts.Cooldown)
	if opts.Now == nil {
		opts.Now = time.Now
	}
	return &Breaker{opts: opts, circuits: make(map[string]*circuit)}
}

// Circuits returns the state of every plugin that was ever called, by plugin
// and digest.
func (b *Breaker) Circuits() []Circuit {
	b.mu.Lock()
	defer b.mu.Unlock()
	now := b.opts.Now()
	list := make([]Circuit, 0, len(b.circuits))
	for _, c := range b.circuits {
		list = append(list, c.show(now))
	}
	slices.SortFunc(list, func(x, y Circuit) int {
		return cmp.Or(cmp.Compare(x.Plugin, y.Plugin), cmp.Compare(x.Digest, y.Digest))
	})
	return list
}

// Reset closes the circuit of a digest and forgets what it counted. It reports
// whether the digest is known.
func (b *Breaker) Reset(digest string) bool {
	b.mu.Lock()
	c, ok := b.circuits[digest]
	b.mu.Unlock()
	if ok {
		b.update(c, func(time.Time) { c.close() })
	}
	return ok
}

// circuit returns the plugin's, made where there is none.
func (b *Breaker) circuit(p Plugin) *circuit {
	digest := cmp.Or(p.Digest(), p.Manifest().Name)
	b.mu.Lock()
	defer b.mu.Unlock()
	c, ok := b.circuits[digest]
	if !ok {
		c = &circuit{digest: digest, plugin: p.Manifest().Name, failures: make(map[abi.Hook]int)}
		b.circuits[digest] = c
	}
	return c
}

// update changes a circuit, and tells who wants to know if its state changed.
func (b *Breaker) update(c *circuit, change func(now time.Time)) {
	b.mu.Lock()
	now := b.opts.Now()
	was, until := c.phase(), c.until
	change(now)
	changed, shown := c.phase() != was || !c.until.Equal(until), c.show(now)
	b.mu.Unlock()
	if changed && b.opts.OnChange != nil {
		b.opts.OnChange(shown)
	}
}
