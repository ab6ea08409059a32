package session

import (
	kagewasm "github.com/kagewasm/kagewasm"
	"github.com/kagewasm/kagewasm/abi"
)

// Checkpoint is a compaction that waits for the operator's decision. It holds
// what would be applied, to the byte.
type Checkpoint struct {
	// ID is that of the compaction's record.
	ID string `json:"id"`
	// Reason is always "compaction_pending".
	Reason string `json:"reason"`
	Time   string `json:"time"`
	// Messages is the session as it would be, Report what would be done to it.
	Messages []abi.Message   `json:"messages"`
	Report   kagewasm.Report `json:"report"`
	Record   *abi.Record     `json:"record"`

	req kagewasm.Request // for which it was made, of req.Messages
}

func newCheckpoint(req kagewasm.Request, r *kagewasm.Result) *Checkpoint {
	return &Checkpoint{ID: r.Record.ID, Reason: "compaction_pending", Time: r.Record.Time,
		Messages: r.Messages, Report: r.Report, Record: r.Record, req: req}
}
