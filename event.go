package kagewasm

import (
	"github.com/kagewasm/kagewasm/abi"
)

// EventType names an audit event.
type EventType string

const (
	EventTriggered EventType = "compaction.triggered"
	EventCompleted EventType = "compaction.completed"
	EventFailed    EventType = "compaction.failed"
	EventNoop      EventType = "compaction.noop"
)

// Event is one entry for the audit log. A compaction that ran has a triggered
// event and one that says how it ended, with the whole chain of failures in
// its report; a look that found nothing to do has none.
type Event struct {
	Type    EventType         `json:"type"`
	Time    string            `json:"time"`
	Session abi.Session       `json:"session"`
	Trigger abi.TriggerReason `json:"trigger"`
	// Strategy is the configured one in a triggered event.
	Strategy string `json:"strategy"`
	// Report is how it ended; nil in a triggered event.
	Report *Report `json:"report,omitempty"`
	// Error is what Compact returned, nil where it returned none.
	Error *abi.Error `json:"error,omitempty"`
}

func (c *Compactor) emit(e Event) {
	if c.opts.Audit != nil {
		c.opts.Audit(e)
	}
}

func audit(l *look, t EventType, report *Report, err error) {
	e := Event{Type: t, Time: l.now, Session: l.req.Session, Trigger: l.req.Reason, Strategy: l.policy.Strategy, Report: report}
	if err != nil {
		e.Error = abi.AsError(err)
	}
	l.emit(e)
}

// audited notes how a compaction ended. One that waits for the operator has not
// ended yet.
func audited(l *look, result *Result, err error) {
	switch {
	case result == nil:
		audit(l, EventFailed, nil, err)
	case result.Pending != nil:
	case result.Report.Compacted:
		audit(l, EventCompleted, &result.Report, err)
	case err != nil:
		audit(l, EventFailed, &result.Report, err)
	default:
		audit(l, EventNoop, &result.Report, nil)
	}
}
