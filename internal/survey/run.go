package survey

import (
	"cmp"
	"context"
	goruntime "runtime"
	"slices"
	"sync"
	"time"

	kagewasm "github.com/kagewasm/kagewasm"
	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/hooks"
	"github.com/kagewasm/kagewasm/tokens"
)

// DefaultShare is the window where none is given, as a share of what a session
// costs: little enough that a compaction follows whatever shortening old tool
// output frees, and so much that the result has room for what is pinned.
const DefaultShare = 0.75

// Options of a survey.
type Options struct {
	// Counter counts tokens, for all sessions alike, so that their figures can
	// be compared. It remembers what it has counted: a second survey with the
	// same counter takes a fraction of the time. Required.
	Counter *tokens.Counter
	// Window is the context window in tokens. 0: Share of each session.
	Window int
	// Share is the window of a session as a share of what it costs. Default
	// [DefaultShare].
	Share float64
}

// epoch is the time that plugins are told: with the same time a plugin does the
// same again.
var epoch = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

// Survey holds what a plugin did to each session.
type Survey struct {
	Sessions []Outcome `json:"sessions"` // in the order they were given
	Totals   Totals    `json:"totals"`
}

// Faster takes the time of each session from an earlier survey of the same
// plugin and sessions, where that was faster: of a machine that does other
// things too, or is cold, the best time says most.
func (s *Survey) Faster(earlier *Survey) {
	for i := range s.Sessions {
		use := &s.Sessions[i].Use
		use.MS = min(use.MS, earlier.Sessions[i].Use.MS)
	}
	s.Totals = totals(s.Sessions)
}

// Run looks at each session as at the end of a turn, with the plugin taking
// part, as observer or compactor, and without any other plugin or model. Nothing
// is left of it: what the plugin stores goes with the session ([KV]). The error
// is of code canceled where ctx ended, or of code usage for options that make no
// sense.
func Run(ctx context.Context, plugin hooks.Plugin, sessions []*Session, o Options) (*Survey, error) {
	o.Share = cmp.Or(o.Share, DefaultShare)
	if err := o.check(plugin); err != nil {
		return nil, err
	}
	s := &Survey{Sessions: make([]Outcome, len(sessions))}
	next := make(chan int)
	var wg sync.WaitGroup
	for range min(goruntime.GOMAXPROCS(0), len(sessions)) {
		wg.Go(func() {
			for i := range next {
				s.Sessions[i] = o.one(ctx, plugin, sessions[i])
			}
		})
	}
	for i := range sessions {
		next <- i
	}
	close(next)
	wg.Wait()
	if err := ctx.Err(); err != nil {
		return nil, &abi.Error{Code: abi.CodeCanceled, Op: "survey", Message: err.Error(), Err: err}
	}
	s.Totals = totals(s.Sessions)
	return s, nil
}

// check finds what makes no sense for any session, before the first one.
func (o *Options) check(plugin hooks.Plugin) error {
	if o.Window < 0 || o.Share < 0 {
		return &abi.Error{Code: abi.CodeUsage, Op: "survey", Message: "window and share cannot be negative"}
	}
	_, err := o.compactor(plugin)
	return err
}

// compactor is one of its own for each session: a plugin that failed in others
// is not in quarantine here.
func (o *Options) compactor(plugin hooks.Plugin) (*kagewasm.Compactor, error) {
	opts := kagewasm.Options{Plugins: []hooks.Plugin{plugin}, Memory: memories{}, Now: func() time.Time { return epoch },
		Policy: kagewasm.Policy{ObserverWaitMS: int(abi.PlanTime.Milliseconds())}} // the plugin is what is looked at
	// It is called where there is a compaction: pruning would spare some.
	opts.Policy.Prune.Off = true
	if o.Counter != nil { // a nil pointer in the interface would not be missed
		opts.Counter = o.Counter
	}
	return kagewasm.New(opts)
}

// one surveys one session. A context that has ended leaves an error, and costs
// nothing.
func (o *Options) one(ctx context.Context, plugin hooks.Plugin, s *Session) Outcome {
	out := Outcome{Session: s.Name, Injected: []string{}}
	req, err := o.request(ctx, s)
	if err != nil {
		out.Error = abi.AsError(err)
		return out
	}
	c, err := o.compactor(plugin)
	if err != nil {
		out.Error = abi.AsError(err)
		return out
	}
	ctx = withMemory(ctx)
	start := time.Now()
	turn, err := turnEnd(ctx, c, plugin, &req)
	if err != nil {
		out.Error = abi.AsError(err)
		return out
	}
	result, err := c.Compact(ctx, req)
	out.Error = abi.AsError(err)
	if result == nil {
		return out
	}
	out.Report = result.Report
	out.Report.Hooks = append(turn.Hooks, out.Report.Hooks...)
	out.Report.Retained = append(turn.Retained, out.Report.Retained...)
	out.Report.Failures = append(turn.Failures, out.Report.Failures...)
	out.Report.Metrics.MS = float64(time.Since(start).Microseconds()) / 1000 // the pipeline's clock stands still
	for i := range result.Messages {
		m := &result.Messages[i]
		if m.Kind == abi.KindInjected && slices.Contains(out.Report.Inserted, m.ID) {
			text, _ := abi.Unfence(m.Text())
			out.Injected = append(out.Injected, text)
		}
	}
	out.Use = useOf(out.Report.Hooks)
	return out
}

// turnEnd tells a plugin that wants to know it that the last turn has ended, as
// a host does before it compacts. A compaction it asks for becomes the request.
func turnEnd(
	ctx context.Context, c *kagewasm.Compactor, plugin hooks.Plugin, req *kagewasm.Request,
) (*kagewasm.Turn, error) {
	if !slices.Contains(plugin.Hooks(), abi.HookTurnEnd) {
		return &kagewasm.Turn{}, nil
	}
	turn, err := c.TurnEnd(ctx, *req)
	if err == nil && turn.Wanted != nil {
		*req = *turn.Wanted
	}
	return turn, err
}

func (o *Options) request(ctx context.Context, s *Session) (kagewasm.Request, error) {
	tools, err := o.Counter.Tools(ctx, s.Tools)
	if err != nil {
		return kagewasm.Request{}, err
	}
	window := o.Window
	if window == 0 {
		total := tools.Tokens
		for i := range s.Messages {
			if err := ctx.Err(); err != nil {
				return kagewasm.Request{}, err
			}
			total += o.Counter.Message(&s.Messages[i])
		}
		window = max(1, int(float64(total)*o.Share))
	}
	return kagewasm.Request{
		Session:  abi.Session{ID: s.Name, Model: s.Model, ContextWindow: &window},
		Messages: s.Messages, Overhead: tools.Tokens,
		Force: o.Window == 0, // a plugin is asked also where a giant that is cut would do
	}, nil
}
