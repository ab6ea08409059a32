package ui

import (
	"errors"
	"net/http"

	"github.com/kagewasm/kagewasm/store"
)

// checkpoint is the page of a compaction that waits for a decision.
func (p compactionPages) checkpoint(r *http.Request) (*view, error) {
	key := r.PathValue("key")
	row, err := p.s.Session(r.Context(), key)
	if err != nil {
		return nil, err
	}
	cp, err := p.s.Checkpoint(r.Context(), key)
	if err != nil {
		return nil, err
	}
	d := &compactionData{Row: row, Report: &cp.Report, Whole: true, Pending: cp.ID, Time: cp.Time}
	if cp.Record != nil {
		d.Record = &store.Record{Record: *cp.Record}
	}
	return &view{template: "compaction.html", title: "Decide on " + nameOf(row), data: d}, p.fill(r.Context(), d,
		cp.Messages, "")
}

// decide approves a compaction that waits, or rejects it.
func (p compactionPages) decide(r *http.Request) (*view, error) {
	key, cid := r.PathValue("key"), r.PathValue("cid")
	switch r.PostFormValue("decision") {
	case "approve":
		_, err := p.s.Approve(r.Context(), key, cid)
		return after(to(key, "c", cid), "approved"), err
	case "reject":
		return after(to(key), "rejected"), p.s.Reject(r.Context(), key, cid, r.PostFormValue("notes"))
	}
	return nil, bad("decision", errors.New("approve or reject"))
}
