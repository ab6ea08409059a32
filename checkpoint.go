package kagewasm

import (
	"context"

	"github.com/kagewasm/kagewasm/abi"
)

// CheckpointReason is why a checkpoint of a compaction was made (FEATURES K29).
const CheckpointReason = "compaction_pending"

// Checkpoint is a compaction that waits for the operator's decision. It holds
// what would be applied, to the byte.
type Checkpoint struct {
	// ID is that of the compaction's record.
	ID     string `json:"id"`
	Reason string `json:"reason"`
	Time   string `json:"time"`
	// Messages is the session as it would be, Report what would be done to it.
	Messages []abi.Message `json:"messages"`
	Report   Report        `json:"report"`
	Record   *abi.Record   `json:"record"`

	base []abi.Message
	req  Request
}

// Base is the list the checkpoint was made of.
func (cp *Checkpoint) Base() []abi.Message { return cp.base }

// pending turns a compaction into one that waits.
func (p *pass) pending(result *Result) *Result {
	made := &Checkpoint{ID: result.Record.ID, Reason: CheckpointReason, Time: p.now,
		Messages: result.Messages, Report: result.Report, Record: result.Record, base: p.originals, req: *p.req}
	p.asItCame()
	out := p.unchanged(abi.ReasonPending)
	out.Checkpoint = made
	return out
}

// Approve applies a checkpoint, exactly as it was shown, to the session as it
// is now: what has arrived since stays. Its error is one of [Swap] or of the
// request's Commit; the session is as it was then, and the checkpoint can be
// approved again.
func (c *Compactor) Approve(ctx context.Context, cp *Checkpoint, now []abi.Message) (*Result, error) {
	result := &Result{Messages: cp.Messages, Report: cp.Report, Record: cp.Record}
	msgs, err := Swap(result, cp.base, now)
	if err != nil {
		return nil, err
	}
	req := cp.req
	req.Messages = now
	p, err := c.begin(ctx, &req)
	if err != nil {
		return nil, err
	}
	defer p.end()
	result.Messages = msgs
	p.report, p.facts = result.Report, result.Report.Retained
	p.after = make([]int, len(msgs))
	for i := range msgs {
		p.after[i] = c.opts.Counter.Message(&msgs[i])
	}
	if err := p.commit(ctx, result); err != nil {
		p.audited(nil, err)
		return nil, err
	}
	p.memo.sent = sent{msgs, sum(p.after)}
	p.postCompact(ctx, result)
	p.audited(result, nil)
	return result, nil
}

// Reject drops a checkpoint, and notes that it was.
func (c *Compactor) Reject(cp *Checkpoint, why string) {
	c.reject(cp, "rejected by the operator: "+why)
}

func (c *Compactor) reject(cp *Checkpoint, reason string) {
	report := cp.Report
	report.Compacted, report.ReasonCode, report.Reason = false, abi.ReasonRejected, reason
	c.emit(Event{Type: EventFailed, Time: c.nowText(), Session: cp.req.Session, Trigger: cp.req.Reason, Strategy: StrategyCheckpoint, Report: &report})
}
