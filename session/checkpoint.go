package session

import (
	"context"
	"slices"
	"strings"

	kagewasm "github.com/kagewasm/kagewasm"
	"github.com/kagewasm/kagewasm/abi"
)

// Checkpoint is a compaction that waits for the operator's decision, with the strategy checkpoint,
// where one is due. It holds what would be applied, byte for byte.
type Checkpoint struct {
	// ID is the id of the compaction's record.
	ID string `json:"id"`
	// Reason is always "compaction_pending".
	Reason string `json:"reason"`
	// Time is when it was made, in RFC 3339.
	Time string `json:"time"`
	// Messages is the session as it would be, Report what would be done to it.
	Messages []abi.Message   `json:"messages"`
	Report   kagewasm.Report `json:"report"`
	Record   *abi.Record     `json:"record"`
	// Heard and Said are what models and plugins answered, for the audit log.
	Heard []kagewasm.Heard `json:"-"`
	Said  []kagewasm.Heard `json:"-"`

	compactor *kagewasm.Compactor
	req       asked // the look that it came of
}

func newCheckpoint(c *kagewasm.Compactor, req asked, r *kagewasm.Result) *Checkpoint {
	return &Checkpoint{ID: r.Record.ID, Reason: "compaction_pending", Time: r.Record.Time,
		Messages: r.Messages, Report: r.Report, Record: r.Record, Heard: r.Heard, Said: r.Said,
		compactor: c, req: req}
}

// checkpointOf returns the checkpoint that an entry of the journal proposed for a list.
func checkpointOf(e *Entry, list []abi.Message) *Checkpoint {
	record := e.Proposed.Rewrite.Record
	made, _ := e.Proposed.Rewrite.apply(list) // which was tried before
	return &Checkpoint{ID: record.ID, Reason: "compaction_pending", Time: record.Time, Messages: made,
		Report: e.Proposed.Report, Record: record, Heard: e.Proposed.Heard, Said: e.Proposed.Said,
		req: asked{Request: kagewasm.Request{Messages: slices.Clip(list), Reason: record.Trigger, Force: true,
			Instructions: record.Instructions, Ongoing: true}}}
}

func (cp *Checkpoint) result() *kagewasm.Result {
	return &kagewasm.Result{Messages: cp.Messages, Report: cp.Report, Record: cp.Record, Heard: cp.Heard, Said: cp.Said}
}

// drop rejects a checkpoint that cannot be applied any more. Nil is none.
func (cp *Checkpoint) drop(ctx context.Context, s *Session, why string) {
	if cp != nil {
		_, _ = cp.reject(context.WithoutCancel(ctx), s, why) // the audit log has it whoever hears of it
	}
}

func (cp *Checkpoint) reject(ctx context.Context, s *Session, why string) (*kagewasm.Result, error) {
	req := cp.req.Request
	req.Asked = s.Request
	return cp.compactor.Reject(ctx, req, cp.result(), why)
}

// Pending returns the compaction that waits for the operator, or nil. The session is paused while there
// is one.
func (s *Session) Pending() *Checkpoint { return s.state.waiting() }

// Approve applies the compaction that waits, exactly as it was shown. Messages that arrived since stay.
// Where the session changed otherwise the error has the code conflict and the checkpoint is dropped:
// the next look makes a new one.
func (s *Session) Approve(ctx context.Context, id string) (*kagewasm.Result, error) {
	cp, err := waitingFor(s.Pending(), id)
	if err != nil {
		return nil, err
	}
	return s.apply(ctx, cp)
}

func (s *Session) apply(ctx context.Context, cp *Checkpoint) (*kagewasm.Result, error) {
	shown, req, now := cp.result(), cp.req, s.Messages()
	list, err := Swap(shown, req.Messages, now)
	if err != nil {
		return nil, err
	}
	shown.Messages, req.Messages = list, now
	req.Commit = func(ctx context.Context, r *kagewasm.Result) error { return keep(ctx, s, now, r, req.before) }
	req.Asked = s.Request
	return s.compactor.Commit(ctx, req.Request, shown)
}

// quietShare is by how much of the window a session has to grow, after a compaction was rejected,
// before another one is proposed.
const quietShare = 0.05

// Reject drops the compaction that waits, and the session goes on as it is. Plugins hear of it, and the result has what
// they answered; a plugin that fails rejects all the same. Another one is proposed when the session has grown by a
// twentieth of the window, or when messages arrived and it does not fit.
func (s *Session) Reject(ctx context.Context, id, why string) (*kagewasm.Result, error) {
	cp, err := waitingFor(s.Pending(), id)
	if err != nil {
		return nil, err
	}
	if err := s.state.reject(ctx, cp, why); err != nil {
		return nil, err
	}
	return cp.reject(ctx, s, cp.Rejected(why))
}

// Rejected is the reason that a report gives of a compaction that was rejected. Why may be empty.
func (*Checkpoint) Rejected(why string) string {
	const says = "rejected by the operator"
	if why = strings.TrimSpace(why); why == "" {
		return says
	}
	return says + ": " + why
}

// waitingFor returns the checkpoint that waits, where it has that id, else a usage error.
func waitingFor(waits *Checkpoint, id string) (*Checkpoint, error) {
	if waits != nil && waits.ID == id {
		return waits, nil
	}
	return nil, usage("checkpoint", "compaction %q: it does not wait for a decision", id)
}
