package ui

import (
	"encoding/json"
	"net/http"
	"strconv"

	"github.com/kagewasm/kagewasm/store"
)

type auditData struct {
	Session string
	Entries []auditRow
	Next    int
	// Report is what a check of the whole chain found, nil where none was asked for.
	Report *store.AuditReport
}

type auditRow struct {
	store.AuditEntry
	Hash string
}

func (p operatorPages) audit(r *http.Request) (*view, error) {
	q := r.URL.Query()
	d := &auditData{Session: q.Get("session")}
	behind, _ := strconv.Atoi(q.Get("after")) // the beginning where it is no number
	list, next, err := p.s.Audit(r.Context(), d.Session, max(0, behind), 100)
	if err != nil {
		return nil, err
	}
	d.Next = next
	for _, a := range list {
		row := auditRow{Hash: a.Hash}
		if err := json.Unmarshal(a.Entry, &row.AuditEntry); err != nil {
			return nil, err
		}
		d.Entries = append(d.Entries, row)
	}
	if q.Has("verify") {
		if d.Report, err = p.s.VerifyAudit(r.Context()); err != nil {
			return nil, err
		}
	}
	return &view{template: "audit.html", title: "Audit log", data: d}, nil
}
