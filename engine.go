package kagewasm

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/strategies"
)

// A session goes through these stages. Each takes values and returns one; what it learns
// for the next look is kept in memo.
//
//	look          count the messages, work out the limits             look.go
//	prune         shorten old tool output                             prune.go
//	decide        is a compaction due?                                decide.go
//	shorten       cut down what has to stay and is too long by itself prune.go
//	gate          is there enough to gain, and is it worth its price? decide.go, receipt.go
//	pre_compact   plugins see the session, pin and propose            plugins.go
//	plan          the strategies are asked, in order                  plan.go
//	check, apply  the note is written, the firewall checks the plan   attempt.go, package firewall
//	report        the result is made of what the stages came to       outcome.go
//	commit        the result is stored                                engine.go
//	post_compact  plugins hear of it, and what they say is reported   plugins.go

// Compact looks at a session before a model call and makes it smaller where it has to. Send the
// Messages of its result. It always completes. The error, an *abi.Error, is non-nil for
//
//   - a request or a policy that makes no sense (usage): there is no result;
//   - a canceled context (canceled) or a commit that failed (commit): the result
//     holds the session as it was, and the report what happened;
//   - a session that is larger than the window even though everything went that may
//     go (exceeds_window): the result is the best that can be, and committed;
//   - a request the provider refused as too long where the floor is switched off
//     and nobody else can compact (no_compactor).
func (c *Compactor) Compact(ctx context.Context, req Request) (*Result, error) {
	l, err := c.look(ctx, req)
	if l == nil {
		return nil, err
	}
	result, err := compact(ctx, l, err)
	c.close(l, result)
	return result, err
}

// Prepare returns what a model's summary of the session would be made of if it were compacted now: the
// previous summary, where the cut falls, what is summarized, which files it names; see
// [strategies.Preparation]. It asks no model and no plugin, stores and audits nothing, and the next look
// at the session is what it would have been. It is told below the threshold too, and says whether the session is
// (Due). Used and Exceeded of the request are not looked at.
//
// Where nothing can be summarized the cause of the error is [strategies.ErrNothing]: the session is within
// its target, the last entry is a compaction, or no cut is valid. Other errors are those of a request
// that makes no sense (usage) and of a canceled context (canceled).
func (c *Compactor) Prepare(ctx context.Context, req Request) (*strategies.Preparation, error) {
	req.Used, req.Exceeded, req.DryRun = nil, nil, true
	l, err := c.look(ctx, req)
	if l == nil {
		return nil, err
	}
	defer c.close(l, nil)
	if err != nil {
		return nil, err
	}
	pruned := prune(l)
	v, _, _ := shortenFixed(l, pruned)
	made, err := l.summarize(floorOf(l)).Prepare(v, l.planner(v).budget(ctx, summarizerOf(l)))
	if gaveUp := canceled(ctx); gaveUp != nil {
		return nil, gaveUp
	}
	if err != nil && v.Total < l.came.Total {
		e := abi.AsError(err)
		e.Message += fmt.Sprintf(": its %d tokens are %d once old output is shortened", l.came.Total, v.Total)
		err = e
	}
	if made != nil {
		made.TokensBefore, made.TokensPruned = l.came.Total, pruned.Total
		made.TargetOf, made.Due = l.limits.targetOf, due(l, pruned.List)
	}
	return made, err
}

// compact runs the stages after look. gaveUp is set where the caller cancelled
// during look.
func compact(ctx context.Context, l *look, gaveUp error) (*Result, error) {
	if gaveUp != nil {
		return untouched(l, gaveUp)
	}
	p := prune(l)
	if err := canceled(ctx); err != nil {
		return untouched(l, err)
	}
	o := outcome{List: p.List, pruned: p.Pruned}
	if !due(l, p.List) {
		o.code, o.warning = notDue(l, p.List)
		return resultOf(l, o), nil
	}
	if nobodyCompacts(l) {
		o.code = abi.ReasonPruneOnly
		why := leftAlone(l)
		if why != nil {
			o.planned.failures = append(o.planned.failures, why)
		}
		return resultOf(l, o), noCompactor(l, why)
	}
	v, p, cut := shortenFixed(l, p)
	o = outcome{List: p.List, pruned: p.Pruned}
	o.code, o.warning, o.receipt = gate(l, v, cut)
	if err := begin(ctx, l, o); err != nil {
		return untouched(l, err)
	}
	audit(l, EventTriggered, nil, nil)
	result, err := replace(ctx, l, v, o)
	audited(l, result, err)
	traced(ctx, l, result, err)
	return result, err
}

// untouched returns the session as it came, with the error: the caller gave up.
func untouched(l *look, err error) (*Result, error) {
	return resultOf(l, outcome{List: l.came, code: abi.ReasonCancelled}), err
}

// begin asks the caller whether a compaction that the gate lets pass may begin.
func begin(ctx context.Context, l *look, o outcome) error {
	if l.req.Begin == nil || l.req.DryRun || o.code != "" || ctx.Err() != nil {
		return nil
	}
	return l.req.Begin(ctx)
}

// replace runs the stages after the gate: it puts a note in the place of messages, where that is
// worth it.
func replace(ctx context.Context, l *look, v *strategies.View, o outcome) (*Result, error) {
	if err := canceled(ctx); err != nil {
		return untouched(l, err)
	}
	if o.code != "" {
		return notTried(ctx, l, v, o)
	}
	planner := l.planner(v)
	o.pre = preCompact(ctx, l, v, planner.heldBeside(ctx))
	v = v.WithPins(o.pre.pinned)
	o.List = v.List
	planner.hear(v, o.pre)
	o.planned = plan(ctx, planner, o.pre)
	if err := canceled(ctx); err != nil {
		o.taken, o.code = nil, abi.ReasonCancelled
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), lastWords)
		defer cancel()
		return postCompact(ctx, l, v, o.List, resultOf(l, o)), err
	}
	o.code = reasonCode(l, v, o)
	if l.strategy().waits {
		return checkpoint(ctx, l, v, o)
	}
	return put(ctx, l, v, o)
}

// notTried returns the session that the gate left as it was. Where that does not fit the window the
// compaction has failed, and plugins hear of it. They are not asked for a plan, since nothing may go.
func notTried(ctx context.Context, l *look, v *strategies.View, o outcome) (*Result, error) {
	o, err := exceeds(l, o)
	result := resultOf(l, o)
	if err != nil {
		result = failed(ctx, l, v, o.List, result, err)
	}
	return result, err
}

// failed tells plugins why a compaction failed that is not recorded, and returns the result with what
// they answer.
func failed(ctx context.Context, l *look, v *strategies.View, after strategies.List, made *Result, err error) *Result {
	told := *made
	told.Record = record(l, &made.Report)
	told.Record.Receipt = nil
	told.Record.Failures = append(slices.Clip(told.Record.Failures), abi.AsError(err))
	result := *postCompact(ctx, l, v, after, &told)
	result.Record = made.Record
	return &result
}

// checkpoint returns the session as it was, with the compaction as its Pending, which waits for the
// operator. Where there is no compaction, or the run is dry, nothing waits: the outcome is put.
func checkpoint(ctx context.Context, l *look, v *strategies.View, o outcome) (*Result, error) {
	if o.taken == nil || l.req.DryRun {
		return put(ctx, l, v, o)
	}
	made := resultOf(l, o)
	made.Heard, made.Said = l.hearing.heard(), l.said.heard()
	result := resultOf(l, undone(l, o, made, abi.ReasonPending))
	result.Pending = made
	return result, nil
}

// put stores the compaction that the stages made, tells plugins, and returns the result.
func put(ctx context.Context, l *look, v *strategies.View, o outcome) (*Result, error) {
	if _, over := l.overhead(); over && o.taken != nil {
		o.warning = l.overloaded(v, l.freedLittle(o.taken.Tokens))
	}
	o, err := exceeds(l, o)
	result := resultOf(l, o)
	if o.taken != nil {
		if err := commit(context.WithoutCancel(ctx), l, result); err != nil { // the plan is made and paid for
			return notStored(ctx, l, o, result, err), err
		}
	} else if err != nil {
		return failed(ctx, l, v, o.List, result, err), err
	}
	return postCompact(ctx, l, v, o.after(), result), err
}

// lastWords is how long plugins may take to hear that the caller gave up: the caller waits for that.
const lastWords = 50 * time.Millisecond

// commit stores the result with the request's Commit, except in a dry run.
func commit(ctx context.Context, l *look, result *Result) error {
	if l.req.Commit == nil || l.req.DryRun {
		return nil
	}
	if err := l.req.Commit(ctx, result); err != nil {
		e := *abi.AsError(err)
		if e.Code == abi.CodeInternal {
			e.Code = abi.CodeCommit
		}
		e.Op, e.Phase = "commit", abi.PhaseCommit
		e.Hint = cmp.Or(e.Hint, "look at where it is stored; the session is as it was, and can be compacted again")
		return &e
	}
	return nil
}

// notStored returns the session as it was, after a compaction that could not be stored. Plugins hear of
// it.
func notStored(ctx context.Context, l *look, o outcome, made *Result, err error) *Result {
	o = undone(l, o, made, abi.ReasonCommitFailed)
	o.failures = append(slices.Clip(o.failures), abi.AsError(err))
	result := resultOf(l, o)
	result.Record = unmade(l, &result.Report, made.Record)
	return postCompact(ctx, l, l.view(o.List), o.List, result)
}

// Commit applies a pending compaction exactly as it was shown: it stores the messages with req.Commit,
// tells plugins, and notes the outcome for the audit. Nothing is planned again. req is the request that
// the compaction was made for, with the Messages of today. Messages that arrived since have to stand at
// the end of both req.Messages and pending.Messages.
//
// The error is one of req.Commit or of the request. The session is then as it was, and the compaction
// can be committed again.
func (c *Compactor) Commit(ctx context.Context, req Request, pending *Result) (*Result, error) {
	if pending == nil {
		return nil, usage("no pending compaction to commit")
	}
	l, err := c.look(ctx, req)
	if l == nil {
		return nil, err
	}
	var stored *Result
	defer func() { c.close(l, stored) }()
	if err != nil {
		return nil, err
	}
	if err := commit(ctx, l, pending); err != nil {
		audited(l, nil, err)
		traced(ctx, l, nil, err)
		return nil, err
	}
	stored = postCompact(ctx, l, l.view(l.came), l.count(pending.Messages), pending)
	stored.Heard, stored.Said = pending.Heard, pending.Said
	audited(l, stored, nil)
	traced(ctx, l, stored, nil)
	return stored, nil
}

// Reject drops a pending compaction that the operator did not want: it tells plugins, with a record of a session that
// is as it was, and notes for the audit why. req is the request that the compaction was made for. The result has its
// Messages; the report says what would have been done, and what plugins answered.
//
// The error is one of the request, where plugins were to hear. The rejection is noted all the same.
func (c *Compactor) Reject(ctx context.Context, req Request, pending *Result, why string) (*Result, error) {
	if pending == nil || pending.Record == nil {
		return nil, usage("no pending compaction to reject")
	}
	made := &Result{Messages: req.Messages, Report: pending.Report, Record: pending.Record, observing: pending.observing}
	r := &made.Report
	r.Compacted, r.ReasonCode, r.Reason, r.Receipt = false, abi.ReasonRejected, why, notLost(r.Receipt)
	told, err := c.tellRejected(ctx, req, made)
	told.Record = nil
	emit(&c.opts, Event{Type: EventFailed, Time: c.opts.Now().UTC().Format(time.RFC3339), Session: req.Session,
		Compaction: pending.Record.ID, Trigger: pending.Record.Trigger, Strategy: StrategyCheckpoint, Report: &told.Report})
	return told, err
}

// tellRejected tells plugins that a compaction was rejected, where any hears of compactions.
func (c *Compactor) tellRejected(ctx context.Context, req Request, made *Result) (*Result, error) {
	if c.hooks.Empty(abi.HookPostCompact) {
		return made, nil
	}
	l, err := c.look(ctx, req)
	if l != nil {
		defer c.close(l, nil)
	}
	if err != nil {
		return made, err
	}
	asItWas := resultOf(l, outcome{List: l.came, code: made.Report.ReasonCode})
	rejected := *made
	rejected.Record = unmade(l, &asItWas.Report, made.Record)
	rejected.Record.Failures = made.Record.Failures
	return postCompact(ctx, l, l.view(l.came), l.came, &rejected), nil
}

// unmade is the record of a compaction that was made and is not put in place: nothing went, and nothing came. r is of
// the session as it was.
func unmade(l *look, r *Report, made *abi.Record) *abi.Record {
	rec := record(l, r)
	rec.ID, rec.Strategy, rec.Source, rec.Model, rec.Receipt = made.ID, made.Strategy, made.Source, made.Model, nil
	return rec
}
