package kagewasm

import (
	"context"

	"github.com/kagewasm/kagewasm/abi"
)

// pending is the session as it was, with a compaction of it that waits.
func (p *pass) pending(made *Result) *Result {
	p.asItCame()
	out := p.unchanged(abi.ReasonPending)
	out.Pending = made
	return out
}

// Commit applies a pending compaction exactly as it was shown: it stores the
// messages with req.Commit, tells plugins, and notes the outcome for the audit.
// Nothing is planned anew. req is the request that the compaction was made for,
// with the Messages of today. Where others arrived since, they stand at the end
// of both req.Messages and pending.Messages.
//
// The error is one of req.Commit or of the request. The session is then as it
// was, and the compaction can be committed again.
func (c *Compactor) Commit(ctx context.Context, req Request, pending *Result) (*Result, error) {
	p, err := c.begin(ctx, &req)
	if p != nil {
		defer p.end()
	}
	if err != nil {
		return nil, err
	}
	result := *pending
	p.report, p.facts = result.Report, result.Report.Retained
	p.after = make([]int, len(result.Messages))
	for i := range result.Messages {
		p.after[i] = c.opts.Counter.Message(&result.Messages[i])
	}
	if err := p.commit(ctx, &result); err != nil {
		p.audited(nil, err)
		return nil, err
	}
	p.memo.sent = Sent{result.Messages, sum(p.after)}
	p.postCompact(ctx, &result)
	p.audited(&result, nil)
	return &result, nil
}

// Reject notes for the audit that a pending compaction of a session was not
// wanted, and why. Nothing else is needed to drop it.
func (c *Compactor) Reject(s abi.Session, pending *Result, why string) {
	report := pending.Report
	report.Compacted, report.ReasonCode, report.Reason = false, abi.ReasonRejected, why
	c.emit(Event{Type: EventFailed, Time: c.nowText(), Session: s, Trigger: pending.Record.Trigger,
		Strategy: StrategyCheckpoint, Report: &report})
}
