package kagewasm

import (
	"fmt"
	"time"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/hooks"
	"github.com/kagewasm/kagewasm/strategies"
)

// Default thresholds, as fractions of the context window (FEATURES K2).
const (
	DefaultUpper = 0.85
	DefaultLower = 0.60
)

// Options of a Compactor. The zero value of each field is the default written
// beside it.
type Options struct {
	// Counter counts tokens as the model does. Required.
	Counter abi.Counter
	// Strategy is the strategy where no compactor plugin proposes a plan.
	// Default "drop".
	Strategy string
	// Upper is the fraction of the window over which a compaction starts, Lower
	// the one it gets down to. Defaults 0.85 and 0.60.
	Upper, Lower float64
	// LedgerTokens is what the host says in a note beside a model's or a
	// plugin's summary: what failed, todos, files, exact names; without a
	// summary, all of it. At most half of the target. 0 is 7% of what goes, up
	// to 10,000 and to nine tenths of the target, and not under a twelfth of
	// the target up to 4,000; negative switches it off.
	LedgerTokens int
	// InjectTokens is what a plugin's injected text may cost. Default 2,000,
	// and never more than an eighth of the target.
	InjectTokens int
	// Prune tunes the pass that shortens old tool output first. On by default.
	Prune strategies.PruneConfig
	// AlwaysKeep are the operator's predicates: messages for which one reports
	// true are never touched (FEATURES K10).
	AlwaysKeep []func(*abi.Message) bool
	// Plugins take part in compactions; at most one is a compactor.
	Plugins []hooks.Plugin
	// HookTimeout bounds all calls of one hook together. Default five minutes.
	HookTimeout time.Duration
	// Breaker keeps plugins that fail again and again from being called, for a
	// while. Compactors may share one, so that what one session learns of a
	// plugin holds for all. Default one of its own with the defaults.
	Breaker *hooks.Breaker
	// Memory stores what plugins retain. Without one it is only reported.
	Memory Memory
	// Now is the clock. Default time.Now.
	Now func() time.Time
}

// Compactor compacts sessions. It holds no session and is safe for concurrent
// use.
type Compactor struct {
	opts  Options
	hooks *hooks.Dispatcher
}

// New checks the options and makes a Compactor.
func New(opts Options) (*Compactor, error) {
	if opts.Counter == nil {
		return nil, usage("no token counter: set Options.Counter, for instance tokens.ForModel")
	}
	if opts.Strategy == "" {
		opts.Strategy = strategies.NameDrop
	}
	if opts.Strategy != strategies.NameDrop {
		return nil, usage("strategy %q: known is %s", opts.Strategy, strategies.NameDrop)
	}
	if opts.Upper == 0 {
		opts.Upper = DefaultUpper
	}
	if opts.Lower == 0 {
		opts.Lower = min(DefaultLower, opts.Upper*DefaultLower/DefaultUpper)
	}
	if !(opts.Lower > 0 && opts.Lower < opts.Upper && opts.Upper <= 1) {
		return nil, usage("thresholds upper %v and lower %v: 0 < lower < upper <= 1 has to hold", opts.Upper, opts.Lower)
	}
	if opts.InjectTokens == 0 {
		opts.InjectTokens = 2000
	}
	if opts.Now == nil {
		opts.Now = time.Now
	}
	if opts.Breaker == nil {
		opts.Breaker = hooks.NewBreaker(hooks.BreakerOptions{Now: opts.Now})
	}
	d, err := hooks.New(opts.Plugins, hooks.Options{Timeout: opts.HookTimeout, Breaker: opts.Breaker})
	if err != nil {
		return nil, err
	}
	return &Compactor{opts: opts, hooks: d}, nil
}

// Breaker shows which plugins are in quarantine, and lets them out of it.
func (c *Compactor) Breaker() *hooks.Breaker { return c.opts.Breaker }

func usage(format string, args ...any) *abi.Error {
	return &abi.Error{Code: abi.CodeUsage, Op: "compact", Message: fmt.Sprintf(format, args...)}
}
