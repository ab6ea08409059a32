package replay

import (
	"cmp"
	"context"
	"fmt"

	kagewasm "github.com/kagewasm/kagewasm"
	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/session"
	"github.com/kagewasm/kagewasm/tokens"
)

// Options of a replay. Compactor, Counter, Session.ID and Messages are
// required.
type Options struct {
	// Compactor compacts; its options are what is being tried.
	Compactor *kagewasm.Compactor
	// Counter counts what is sent. It should be the compactor's own.
	Counter abi.Counter
	// Session names the session, its model and window. Replays that share a
	// compactor and run at the same time need ids of their own.
	Session abi.Session
	// Messages is the log, oldest first, each message with an id.
	Messages []abi.Message
	// Overhead is what each request costs beyond its messages, in tokens, tool
	// definitions for instance. It counts as a prefix that never changes.
	Overhead int
	// Journal keeps the replayed session. Default one in memory.
	Journal session.Journal
	// Reject leaves compactions that wait for the operator undone. By default
	// each is approved at once.
	Reject bool
	// Prices are the agent's model's. Default what the catalog knows of
	// Session.Model.
	Prices *tokens.Prices
	// TokenScale is how many tokens of the model stand for one that is counted: see [tokens.Model]. Costs
	// alone are in tokens of the model. Default 1.
	TokenScale float64
	// Missing names the sections that a summary should have and does not. Nil
	// measures no completeness.
	Missing func(summary string) []string
	// Observe, where set, is told of each step. It must not change anything.
	Observe func(Step)
}

// Step is one look at the session, with what came of it.
type Step struct {
	// Call counts the model calls so far, this one included. A compaction at
	// the end of a turn has the number of the call before it.
	Call int
	// At is how many messages of the log had arrived.
	At int
	// Before is the list as it was, After as it is now: what the call was sent.
	Before, After []abi.Message
	// Results are the looks, in order. A compaction that waited for the
	// operator has two: the first holds its checkpoint.
	Results []*kagewasm.Result
	// Sent is whether the model was called with After: not at the end of a turn,
	// and not where Err is set.
	Sent bool
	// Err is why the model was not called: the code exceeds_window, or busy
	// with Options.Reject. The log's answer was taken all the same.
	Err error
	// Session is being replayed.
	Session *session.Session
}

// Run replays a log. Its error wraps an *abi.Error, the first that is no outcome
// of a compaction: a usage error, a canceled context, a journal that failed.
// The figures are those up to there.
func Run(ctx context.Context, opts Options) (Result, error) {
	if opts.Compactor == nil || opts.Counter == nil {
		return Result{}, &abi.Error{Code: abi.CodeUsage, Op: "replay",
			Message: "a compactor and a token counter are needed"}
	}
	s, err := session.Open(ctx, opts.Compactor, session.Options{Session: opts.Session, Overhead: opts.Overhead,
		Journal: opts.Journal})
	if err != nil {
		return Result{}, err
	}
	if opts.Prices == nil {
		opts.Prices = tokens.Default().Resolve(opts.Session.Model).Prices
	}
	r := &run{Options: opts, session: s, log: newLog(ctx, opts.Messages)}
	r.cache.counter, r.cache.overhead = opts.Counter, opts.Overhead
	err = r.all(ctx)
	return r.figures(), err
}

// run is a replay on its way.
type run struct {
	Options
	session *session.Session
	log     *log
	cache   cache
	stats   Stats
	points  []*Compaction
	watch   []watch // compactions whose next calls are being looked at
	at      int     // messages of the log that arrived
	called  bool    // since the turn began
}

func (r *run) all(ctx context.Context) error {
	for i := range r.Messages {
		m := &r.Messages[i]
		if m.IsPerson() {
			if err := r.endTurn(ctx); err != nil {
				return err
			}
		}
		arrive := r.append
		if m.Role == abi.RoleAssistant {
			arrive = r.call
		}
		if err := arrive(ctx, m); err != nil {
			return fmt.Errorf("message %q: %w", m.ID, err)
		}
		r.at++
	}
	return r.endTurn(ctx)
}

func (r *run) append(ctx context.Context, m *abi.Message) error { return r.session.Append(ctx, *m) }

// call is one call of the model, answered with a message of the log.
func (r *run) call(ctx context.Context, answer *abi.Message) error {
	r.stats.Calls++
	r.called = true
	step := r.step()
	err := r.dispatch(ctx, &step, *answer)
	switch abi.CodeOf(err) {
	case "":
	case abi.CodeExceedsWindow, abi.CodeBusy:
		step.Err, step.After = err, r.session.Messages()
		r.stats.Unsent++
		if err := r.session.Append(ctx, *answer); err != nil {
			return err
		}
	default:
		return err
	}
	r.looked(&step)
	r.follow(answer, &step)
	return nil
}

// dispatch calls the model, once more where a compaction had to be approved.
func (r *run) dispatch(ctx context.Context, step *Step, answer abi.Message) error {
	call := func(_ context.Context, msgs []abi.Message) ([]abi.Message, error) {
		step.After, step.Sent = msgs, true
		r.stats.sent(r.cache.sent(msgs), r.Counter.Message(&answer), r.Prices, cmp.Or(r.TokenScale, 1))
		return []abi.Message{answer}, nil
	}
	for {
		d, err := r.session.Dispatch(ctx, call)
		if d != nil {
			step.Results = append(step.Results, d.Results...)
		}
		if abi.CodeOf(err) != abi.CodeBusy || r.Reject {
			return err
		}
		if err := r.approve(ctx, step); err != nil {
			return err
		}
	}
}

// approve is the operator, who always agrees.
func (r *run) approve(ctx context.Context, step *Step) error {
	cp := r.session.Pending()
	if cp == nil {
		return &abi.Error{Code: abi.CodeInternal, Op: "replay", Message: "the session is busy, and nothing waits"}
	}
	result, err := r.session.Approve(ctx, cp.ID)
	if result != nil {
		step.Results = append(step.Results, result)
	}
	return err
}

// endTurn ends the turn, if one has begun.
func (r *run) endTurn(ctx context.Context) error {
	if !r.called {
		return nil
	}
	r.called = false
	step := r.step()
	_, result, err := r.session.EndOfTurn(ctx)
	if result != nil {
		step.Results = append(step.Results, result)
	}
	if err == nil && r.session.Pending() != nil && !r.Reject {
		err = r.approve(ctx, &step)
	}
	if code := abi.CodeOf(err); code != "" && code != abi.CodeExceedsWindow && code != abi.CodeBusy {
		return err
	}
	step.Err, step.After = err, r.session.Messages()
	if len(step.Results) > 0 {
		r.looked(&step)
	}
	return nil
}

func (r *run) step() Step {
	return Step{Call: r.stats.Calls, At: r.at, Before: r.session.Messages(), Session: r.session}
}

// looked takes in what came of the looks.
func (r *run) looked(step *Step) {
	compacted := false
	for _, result := range step.Results {
		compacted = compacted || result.Report.Compacted
		r.stats.took(&result.Report)
		if result.Report.Compacted && r.Missing != nil {
			r.stats.Summaries.add(len(r.Missing(result.Report.Summary)) == 0)
		}
	}
	if step.Sent {
		last := &step.Results[len(step.Results)-1].Report
		if r.stats.Calls > 1 {
			r.stats.ReportedTokens += last.Metrics.Cache.PrefixTokens
		}
		if last.TokensAfter > last.Window {
			r.stats.OverWindow++
		}
	}
	if compacted {
		r.compacted(step)
	}
	if r.Observe != nil {
		r.Observe(*step)
	}
}
