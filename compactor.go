package kagewasm

import (
	"cmp"
	"context"
	"slices"
	"sync"
	"time"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/hooks"
	"github.com/kagewasm/kagewasm/internal/learned"
	"github.com/kagewasm/kagewasm/strategies"
	"github.com/kagewasm/kagewasm/tokens"
)

// Options of a Compactor. The zero value of each field is the default written
// beside it.
type Options struct {
	// Counter counts tokens as the model does. Required.
	Counter abi.Counter
	// Policy says when and how to compact.
	Policy Policy
	// Live, where set, is asked for the policy before each decision, so that a
	// change takes effect at the next one; Policy is not looked
	// at then. It has to be fast and safe for concurrent use.
	Live func(abi.Session) Policy
	// Strategies are the host's own, by the name with which a policy chooses
	// one. The firewall judges their plans like any other.
	Strategies map[string]strategies.Strategy
	// Model writes summaries. A request names it by an alias, or by the name of
	// the session's own model. Without one summaries are read off the session.
	Model abi.Model
	// Lookup returns what is known of a model by its name: its prices, and its window where it writes
	// summaries. Default tokens.Default().Resolve.
	Lookup func(model string) tokens.Model
	// Learned, where set, is called with the window, in tokens, that a provider named when it refused a
	// request. The Compactor uses that window at once. A program may store it, for its Lookup to return
	// the next time.
	Learned func(model string, window int)
	// Plugins take part in compactions; at most one is a compactor.
	Plugins []hooks.Plugin
	// HookTimeout is how long the observers' calls of a hook may take together, since they run side by
	// side, and how long the call of who makes a plan may take. Default five minutes, or the time that the policy gives
	// a summary, where that is more.
	HookTimeout time.Duration
	// Breaker keeps plugins that fail again and again from being called, for a
	// while. Compactors may share one, so that what one session learns of a
	// plugin holds for all. Default one of its own with the defaults.
	Breaker *hooks.Breaker
	// Cancels keeps how many compactions of a session in a row plugins have cancelled, where another
	// Compactor or process goes on with it: see [hooks.Options]. Default: the Compactor counts its own.
	Cancels interface {
		Cancelled(s *abi.Session) (int, error)
		SetCancelled(s *abi.Session, n int) error
	}
	// Memory stores what plugins retain. Without one that is only reported. It has to be safe for
	// concurrent use, since observers may go on after the compaction that called them: see
	// [Compactor.Wait].
	Memory Memory
	// Audit, where set, is called for every compaction, in order for each session. It is called again
	// when observers end that the compaction did not wait for. It must not block for long, and has to
	// be safe for concurrent use.
	Audit func(Event)
	// Spans, where set, is called with each span of a compaction in the terms of OpenTelemetry: the
	// calls in it first, then the compaction itself. A host passes them on to its own exporter. It is
	// called when the compaction has ended, with the context of the call to Compact. It must not block
	// for long, and has to be safe for concurrent use.
	Spans func(context.Context, Span)
	// Now is the clock. Default time.Now.
	Now func() time.Time
}

// Compactor compacts sessions; [New] makes one. It is safe for concurrent use. For the sessions that it
// saw last it remembers token counts, and what was of no use: a model that failed, a target that tool
// definitions alone exceed.
type Compactor struct {
	opts  Options
	hooks *hooks.Dispatcher
	known memos
	late  sync.WaitGroup // plugins that compactions did not wait for
	// windows holds the windows that providers named in refusals, in tokens, by model. They hold for
	// all sessions.
	windows learned.Windows
	scales  learned.Scales
}

// New checks the options and makes a Compactor. The error is a usage error: there is no counter, a
// strategy's name is empty or one that ships, the policy makes no sense, or the plugins cannot be
// called together ([hooks.New]).
func New(opts Options) (*Compactor, error) {
	if opts.Counter == nil {
		return nil, usage("no token counter: set Options.Counter, for instance to what tokens.New returns")
	}
	for name := range opts.Strategies {
		if name == "" || slices.Contains(Strategies(), name) {
			return nil, usage("strategy %q of Options.Strategies: give it a name of its own", name)
		}
	}
	if _, err := opts.Policy.resolved("", opts.Strategies); err != nil {
		return nil, err
	}
	if opts.Lookup == nil {
		opts.Lookup = func(name string) tokens.Model { return tokens.Default().Resolve(name) }
	}
	if opts.Now == nil {
		opts.Now = time.Now
	}
	if opts.Breaker == nil {
		opts.Breaker = hooks.NewBreaker(hooks.BreakerOptions{Now: opts.Now})
	}
	// One limit holds for whoever makes a plan: where the policy gives it more, the hook does not end it before.
	limit := cmp.Or(opts.HookTimeout, max(abi.PlanTime, time.Duration(opts.Policy.Summarize.TimeoutMS)*time.Millisecond))
	d, err := hooks.New(listened(opts.Plugins), hooks.Options{Timeout: limit, Breaker: opts.Breaker,
		Cancels: opts.Cancels})
	if err != nil {
		return nil, err
	}
	return &Compactor{opts: opts, hooks: d}, nil
}

// Options returns the Compactor's options with the defaults filled in, its clock for instance.
func (c *Compactor) Options() Options { return c.opts }

// Policy returns the policy that holds for a session, with its defaults filled in.
func (c *Compactor) Policy(s abi.Session) (Policy, error) { return c.policy(&Request{Session: s}) }

// policy returns the policy that holds for a request, with its defaults filled in.
func (c *Compactor) policy(req *Request) (Policy, error) {
	p := c.opts.Policy
	if c.opts.Live != nil {
		p = c.opts.Live(req.Session)
	}
	return req.Overrides.apply(p).resolved(req.Session.Model, c.opts.Strategies)
}
