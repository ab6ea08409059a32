package ui

import (
	"slices"

	kagewasm "github.com/kagewasm/kagewasm"
	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/set"
	"github.com/kagewasm/kagewasm/session"
	"github.com/kagewasm/kagewasm/store"
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

// maxSide is how many messages of a side a page lists.
const maxSide = 800

// sides are the session before a compaction and behind it. all are its messages in their
// order. made are the messages of a compaction that the store does not have.
func sides(r *kagewasm.Report, all []store.Line, made []abi.Message) (before, now []run) {
	state, stored := make(map[string]string, len(all)), make(map[string]bool, len(all))
	for mark, ids := range map[string][]string{"kept": r.Kept, "gone": r.Superseded, "new": r.Inserted} {
		for _, id := range ids {
			state[id] = mark
		}
	}
	b, n := side{}, side{}
	for i := range all {
		id := all[i].ID
		stored[id] = true
		mark := state[id]
		if mark == "kept" || mark == "gone" {
			b.add(mark, sideRow{ID: id, Linked: true})
		}
		if made == nil && (mark == "kept" || mark == "new") {
			n.add(mark, sideRow{ID: id, Linked: true})
		}
	}
	for i := range made {
		mark := "kept"
		if !stored[made[i].ID] {
			mark = "new"
		}
		n.add(mark, rowIn(&made[i], stored[made[i].ID]))
	}
	pinned, edited := set.Of(r.Pinned...), set.Of(slices.Concat(r.Edited, r.Pruned.IDs)...)
	for _, row := range slices.Concat(b.rows(), n.rows()) {
		row.Pinned, row.Edited = pinned[row.ID], edited[row.ID]
	}
	return b.runs, n.runs
}

func rowIn(m *abi.Message, linked bool) sideRow {
	return sideRow{ID: m.ID, Role: string(m.Role), Text: excerpt(m), Linked: linked}
}

// side is one of them as it is made.
type side struct {
	runs   []run
	listed int
}

func (s *side) add(mark string, row sideRow) {
	if len(s.runs) == 0 || s.runs[len(s.runs)-1].Mark != mark {
		s.runs = append(s.runs, run{Mark: mark})
	}
	last := &s.runs[len(s.runs)-1]
	if len(last.Rows) == maxRun || s.listed == maxSide {
		last.More++
		return
	}
	last.Rows = append(last.Rows, row)
	s.listed++
}

// rows are those that are listed.
func (s *side) rows() []*sideRow { return listed(s.runs) }

func listed(runs []run) (rows []*sideRow) {
	for i := range runs {
		for j := range runs[i].Rows {
			rows = append(rows, &runs[i].Rows[j])
		}
	}
	return rows
}

// unread are the ids of messages that are listed and were not read yet.
func unread(rows []*sideRow) (ids []string) {
	for _, row := range rows {
		if row.Role == "" {
			ids = append(ids, row.ID)
		}
	}
	slices.Sort(ids)
	return slices.Compact(ids)
}

// tell says what the messages say that are listed.
func tell(rows []*sideRow, msgs []session.StoredMessage) {
	by := make(map[string]*abi.Message, len(msgs))
	for i := range msgs {
		by[msgs[i].ID] = &msgs[i].Message
	}
	for _, row := range rows {
		if m := by[row.ID]; m != nil && row.Role == "" {
			row.Role, row.Text = string(m.Role), excerpt(m)
		}
	}
}
