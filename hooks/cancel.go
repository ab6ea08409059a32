package hooks

import (
	"fmt"

	"github.com/kagewasm/kagewasm/abi"
)

// listens reports whether the cancels among the outcomes have an effect. They have none after maxInARow
// cancelled compactions of a session in a row, whichever plugins cancelled them, nor where the session
// would not fit its model.
func (d *Dispatcher) listens(pre *Pre, in *abi.Input) bool {
	var cancels []*Outcome
	for i := range pre.Outcomes {
		if pre.Outcomes[i].Outcome == OutcomeCancelled {
			cancels = append(cancels, &pre.Outcomes[i])
		}
	}
	before := d.cancelled(in)
	why := overrules(in, before)
	if len(cancels) > 0 && why == "" {
		if err := d.setCancelled(in, before+1); err != nil {
			cancels[0].warn("that it cancelled is not kept, so another process does not count it: %v", err)
		}
		return true
	}
	if before > 0 {
		_ = d.setCancelled(in, 0) // a row that is kept too long cancels less
	}
	for _, o := range cancels {
		o.Outcome = outcomeOverruled
		o.warn("its cancel is not listened to: %s", why)
	}
	return false
}

// cancelled is how many compactions of the session in a row were cancelled. Where nobody says the dispatcher goes by
// what it has seen.
func (d *Dispatcher) cancelled(in *abi.Input) int {
	if d.opts.Cancels != nil {
		if n, err := d.opts.Cancels.Cancelled(&in.Session); err == nil {
			return n
		}
	}
	return d.cancels.count(streakKey(&in.Session, ""))
}

// setCancelled keeps how many those are now. A dry run is none of them.
func (d *Dispatcher) setCancelled(in *abi.Input, n int) error {
	if in.Trigger.DryRun {
		return nil
	}
	d.cancels.set(streakKey(&in.Session, ""), n)
	if d.opts.Cancels == nil {
		return nil
	}
	return d.opts.Cancels.SetCancelled(&in.Session, n)
}

// overrules returns why a cancel would have no effect now, or "" where it has one. before is how many compactions
// of the session in a row were cancelled.
func overrules(in *abi.Input, before int) string {
	switch {
	case in.Trigger.Reason == abi.TriggerOverflow || in.Trigger.Fraction > 1:
		return "the session does not fit the window of its model"
	case before >= maxInARow:
		return fmt.Sprintf("the session's last %d compactions were cancelled", maxInARow)
	}
	return ""
}
