package ui

import (
	kagewasm "github.com/kagewasm/kagewasm"
	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/session"
)

// run is a stretch of messages that fared alike in a compaction.
type run struct {
	Mark string // kept, gone, new, edited
	Rows []sideRow
	More int // that are not listed
}

// sideRow is a message in one line.
type sideRow struct {
	ID, Role, Text string
	Pinned, Edited bool
	// Linked: the session has it, and a page that shows it.
	Linked bool
}

// maxRun is how many messages of a run a page lists.
const maxRun = 200

// Count is how many messages a run has.
func (r *run) Count() int { return len(r.Rows) + r.More }

// sides are the session before a compaction and behind it. made are the messages of a
// compaction that the store does not have.
func sides(r *kagewasm.Report, all []session.StoredMessage, made []abi.Message) (before, now []run) {
	state := make(map[string]string, len(all))
	for mark, ids := range map[string][]string{"kept": r.Kept, "gone": r.Superseded, "new": r.Inserted} {
		for _, id := range ids {
			state[id] = mark
		}
	}
	is := func(ids []string) map[string]bool {
		set := make(map[string]bool, len(ids))
		for _, id := range ids {
			set[id] = true
		}
		return set
	}
	pinned, edited := is(r.Pinned), is(append(append([]string{}, r.Edited...), r.Pruned.IDs...))
	stored, proposed := make(map[string]bool, len(all)), make(map[string]*abi.Message, len(made))
	for i := range made {
		proposed[made[i].ID] = &made[i]
	}
	row := func(m *abi.Message, linked bool) sideRow {
		return sideRow{ID: m.ID, Role: string(m.Role), Text: excerpt(m), Pinned: pinned[m.ID], Edited: edited[m.ID],
			Linked: linked}
	}
	for i := range all {
		m := &all[i].Message
		stored[m.ID] = true
		mark := state[m.ID]
		if mark == "kept" || mark == "gone" {
			before = extend(before, mark, row(m, true))
		}
		if mark == "kept" || mark == "new" {
			now = extend(now, mark, row(m, true))
		}
	}
	if made == nil {
		return before, now
	}
	now = nil
	for i := range made {
		mark := "kept"
		if !stored[made[i].ID] {
			mark = "new"
		}
		now = extend(now, mark, row(&made[i], stored[made[i].ID]))
	}
	return before, now
}

func extend(runs []run, mark string, row sideRow) []run {
	if len(runs) == 0 || runs[len(runs)-1].Mark != mark {
		runs = append(runs, run{Mark: mark})
	}
	last := &runs[len(runs)-1]
	if len(last.Rows) == maxRun {
		last.More++
	} else {
		last.Rows = append(last.Rows, row)
	}
	return runs
}
