package service

import (
	"context"
	"encoding/json"
	"time"

	kagewasm "github.com/kagewasm/kagewasm"
	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/store"
)

// unfinished is how many entries of the audit log are looked at for compactions whose end
// nobody noted: those were under way when a server was killed.
const unfinished = 2000

// noteEnds notes how compactions ended that were under way when a server was killed: the
// session has the compaction, or it is as it was.
func (s *core) noteEnds(ctx context.Context) error {
	head, err := s.store.AuditHead(ctx)
	if err != nil {
		return err
	}
	open := make(map[string]store.AuditEntry) // what began last, by session
	ended := make(map[string]bool)            // compactions
	err = s.store.Audit(ctx, "", max(0, head-unfinished), func(a store.Audited) error {
		var e store.AuditEntry
		if err := json.Unmarshal(a.Entry, &e); err != nil {
			return nil // verifying tells of it
		}
		switch e.Type {
		case kagewasm.EventTriggered:
			open[e.Session] = e
		case kagewasm.EventCompleted, kagewasm.EventFailed, kagewasm.EventNoop:
			delete(open, e.Session)
			ended[e.Compaction] = true
		case store.EventDeleted:
			delete(open, e.Session)
		}
		return nil
	})
	for key, e := range open {
		if err == nil {
			err = s.ended(ctx, key, e, ended)
		}
	}
	return err
}

// ended notes how a compaction ended that was triggered.
func (s *core) ended(ctx context.Context, key string, triggered store.AuditEntry, noted map[string]bool) error {
	row, err := s.store.Session(ctx, key)
	if err != nil || row.Pending != "" { // one that waits has not ended
		return err
	}
	records, err := s.store.Records(ctx, key)
	if err != nil {
		return err
	}
	e := kagewasm.Event{Type: kagewasm.EventFailed, Time: time.Now().UTC().Format(time.RFC3339),
		Session: abi.Session{ID: row.ID, AgentPath: row.Agent, Model: row.Model}, Trigger: triggered.Trigger,
		Strategy: triggered.Strategy, Error: &abi.Error{Code: abi.CodeCanceled, Op: "compact",
			Message: "the server ended meanwhile; the session is as it was"}}
	if n := len(records); n > 0 && !noted[records[n-1].ID] && records[n-1].Time >= triggered.Time {
		r := records[n-1].Record
		e.Type, e.Error, e.Compaction = kagewasm.EventCompleted, nil, r.ID
		e.Report = &kagewasm.Report{Compacted: true, ReasonCode: r.ReasonCode, Strategy: r.Strategy, Source: &r.Source,
			Failures: r.Failures, TokensBefore: r.TokensBefore, TokensAfter: r.TokensAfter, MessagesBefore: r.MessagesBefore,
			MessagesAfter: r.MessagesAfter, Superseded: r.Superseded, Inserted: r.Inserted, FirstKept: r.FirstKept,
			Summary: r.Summary, Receipt: r.Receipt, Reason: "the server ended before it was noted"}
	}
	return s.store.Update(ctx, func(tx *store.Tx) error { return tx.Log(ctx, e) })
}
