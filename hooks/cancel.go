package hooks

import (
	"fmt"

	"github.com/kagewasm/kagewasm/abi"
)

// listens reports whether the cancels among the outcomes have an effect. They have none after maxInARow
// cancelled compactions of a session in a row, whichever plugins cancelled them, nor where the session
// would not fit its model.
func (d *Dispatcher) listens(pre *Pre, in *abi.Input) bool {
	key := streakKey(&in.Session, "")
	var cancels []*Outcome
	for i := range pre.Outcomes {
		if pre.Outcomes[i].Outcome == OutcomeCancelled {
			cancels = append(cancels, &pre.Outcomes[i])
		}
	}
	why := d.overrules(in, key)
	if len(cancels) > 0 && why == "" {
		if !in.Trigger.DryRun {
			d.cancels.add(key)
		}
		return true
	}
	if !in.Trigger.DryRun {
		d.cancels.end(key)
	}
	for _, o := range cancels {
		o.Outcome = outcomeOverruled
		o.warn("its cancel is not listened to: %s", why)
	}
	return false
}

// CancelledBefore sets how many compactions of a session in a row plugins cancelled last, where another
// dispatcher called them.
func (d *Dispatcher) CancelledBefore(s *abi.Session, n int) {
	d.cancels.resume(streakKey(s, ""), n)
}

// overrules returns why a cancel would have no effect now, or "" where it has one.
func (d *Dispatcher) overrules(in *abi.Input, key string) string {
	switch {
	case in.Trigger.Reason == abi.TriggerOverflow || in.Trigger.Fraction > 1:
		return "the session does not fit the window of its model"
	case d.cancels.full(key):
		return fmt.Sprintf("the session's last %d compactions were cancelled", maxInARow)
	}
	return ""
}
