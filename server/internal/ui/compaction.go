package ui

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"net/http"
	"slices"

	kagewasm "github.com/kagewasm/kagewasm"
	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/set"
	"github.com/kagewasm/kagewasm/session"
	"github.com/kagewasm/kagewasm/store"
)

// compactionData is the page of a compaction: one that was made, one that waits, or one
// that would be made.
type compactionData struct {
	Row    *store.Session
	Record *store.Record // nil where there is none
	Report *kagewasm.Report
	// Whole: the report is as it was made; else it is what the record says.
	Whole bool
	Time  string
	Gauge *gauge
	After *gauge

	Before, Now []run
	Note        *noteView

	// Pending: it waits for a decision. Form is that of which it is a preview.
	Pending string
	Form    *manualForm
}

// meant are the session and the compaction that a page is about.
func (p compactionPages) meant(r *http.Request) (key string, row *store.Session, record *store.Record, err error) {
	key = r.PathValue("key")
	if row, err = p.s.Session(r.Context(), key); err == nil {
		record, err = p.s.Compaction(r.Context(), key, r.PathValue("cid"))
	}
	return key, row, record, err
}

func (p compactionPages) compaction(r *http.Request) (*view, error) {
	ctx := r.Context()
	key, row, record, err := p.meant(r)
	if err != nil {
		return nil, err
	}
	d := &compactionData{Row: row, Record: record, Time: record.Time}
	if d.Report, err = p.reportOf(ctx, key, record.ID); err != nil {
		return nil, err
	}
	d.Whole = d.Report != nil
	d.Report = cmp.Or(d.Report, fromRecord(&record.Record))
	if err := p.fill(ctx, d, nil, to(key, "c", record.ID, "note")); err != nil {
		return nil, err
	}
	return &view{template: "compaction.html", title: "Compaction of " + nameOf(row), data: d}, nil
}

// note is the note of a compaction with its links, for who could not wait.
func (p compactionPages) note(r *http.Request) (*view, error) {
	ctx := r.Context()
	key, row, record, err := p.meant(r)
	if err != nil {
		return nil, err
	}
	d := &compactionData{Row: row, Record: record, Report: fromRecord(&record.Record)}
	gone, err := p.gone(ctx, key, record.Superseded)
	if err != nil {
		return nil, err
	}
	d.Note = linked(record.Summary, gone)
	return &view{template: "note.html", block: part(r, "note"), title: "The note", data: d}, nil
}

// gone are the messages that a compaction took away, in the order of the session.
func (p compactionPages) gone(ctx context.Context, key string, ids []string) ([]session.StoredMessage, error) {
	all, err := p.s.Messages(ctx, key, store.MessageQuery{Superseded: true})
	if err != nil {
		return nil, err
	}
	is := set.Of(ids...)
	return slices.DeleteFunc(all, func(m session.StoredMessage) bool { return !is[m.ID] }), nil
}

// lostData is what a compaction took from the model's view. A page of its own has it: to
// weigh what was said takes seconds in a session of thousands of messages.
type lostData struct {
	Key, Compaction string
	Lost            []session.Loss
	More            int // that are not listed
}

// maxLost is how many losses a page lists.
const maxLost = 60

func (p compactionPages) lost(r *http.Request) (*view, error) {
	d := &lostData{Key: r.PathValue("key"), Compaction: r.PathValue("cid")}
	losses, err := p.s.Lost(r.Context(), d.Key, "", d.Compaction)
	if err != nil {
		return nil, err
	}
	d.Lost = losses[:min(len(losses), maxLost)]
	d.More = len(losses) - len(d.Lost)
	return &view{template: "lost.html", block: part(r, "losses"), title: "What was lost", data: d}, nil
}

// maxLinked is how much text is searched for the statements of a note while a reader waits,
// in bytes.
const maxLinked = 1 << 20

// fill makes what the page shows of a report. made are the messages that a preview has in
// place of the session's, later the address of the note with its links, where there is one.
func (p compactionPages) fill(ctx context.Context, d *compactionData, made []abi.Message, later string) error {
	r, key := d.Report, d.Row.Key
	d.Gauge = &gauge{Tokens: r.TokensBefore, Window: r.Window}
	d.Gauge.Upper, d.Gauge.Lower = int(r.Upper*float64(r.Window)), int(r.Lower*float64(r.Window))
	after := *d.Gauge
	after.Tokens = r.TokensAfter
	d.After = &after
	all, err := p.s.Outline(ctx, key)
	if err != nil {
		return err
	}
	slices.SortFunc(all, func(a, b store.Line) int { return a.Pos - b.Pos })
	d.Before, d.Now = sides(r, all, made)
	rows := slices.Concat(listed(d.Before), listed(d.Now))
	msgs, err := p.s.Named(ctx, key, unread(rows))
	if err != nil {
		return err
	}
	tell(rows, msgs)
	size, is := 0, set.Of(r.Superseded...)
	for i := range all {
		if is[all[i].ID] {
			size += all[i].Bytes
		}
	}
	var gone []session.StoredMessage
	if size > maxLinked && later != "" {
		if d.Note = linked(r.Summary, nil); d.Note != nil {
			d.Note.Later = later
		}
		return nil
	}
	if r.Summary != "" {
		gone, err = p.gone(ctx, key, r.Superseded)
	}
	d.Note = linked(r.Summary, gone)
	return err
}

// reportOf is the report of a compaction as the audit log has it, nil where that keeps no
// content.
func (p compactionPages) reportOf(ctx context.Context, key, id string) (report *kagewasm.Report, err error) {
	for after := 0; ; {
		entries, next, err := p.s.Audit(ctx, key, after, 1000)
		if err != nil {
			return nil, err
		}
		for _, a := range entries {
			var e kagewasm.Event
			if !bytes.Contains(a.Entry, []byte(`"compaction":"`+id)) || len(a.Content) == 0 ||
				json.Unmarshal(a.Content, &e) != nil || e.Compaction != id || e.Report == nil {
				continue
			}
			if e.Type == kagewasm.EventObserved && report != nil { // what late observers said joins it
				report.Hooks = append(report.Hooks, e.Report.Hooks...)
				report.Retained = append(report.Retained, e.Report.Retained...)
				report.Failures = append(report.Failures, e.Report.Failures...)
			} else if e.Type != kagewasm.EventObserved {
				report = e.Report
			}
		}
		if after = next; next == 0 {
			return report, nil
		}
	}
}

// fromRecord is as much of a report as a record keeps.
func fromRecord(r *abi.Record) *kagewasm.Report {
	return &kagewasm.Report{Compacted: true, ReasonCode: r.ReasonCode, Reason: string(r.ReasonCode), Strategy: r.Strategy,
		Source: &r.Source, Failures: r.Failures, TokensBefore: r.TokensBefore, TokensAfter: r.TokensAfter,
		MessagesBefore: r.MessagesBefore, MessagesAfter: r.MessagesAfter, Superseded: r.Superseded, Inserted: r.Inserted,
		FirstKept: r.FirstKept, Edited: r.Edited, Summary: r.Summary, AuditSummary: r.AuditSummary, Files: r.Files,
		Receipt: r.Receipt, Window: max(1, r.TokensBefore)}
}

func (p compactionPages) judge(r *http.Request) (*view, error) {
	key, cid := r.PathValue("key"), r.PathValue("cid")
	flag, notes := r.PostFormValue("flag"), r.PostFormValue("notes")
	_, err := p.s.Flag(r.Context(), key, cid, &flag, &notes)
	return after(to(key, "c", cid), "judged"), err
}
