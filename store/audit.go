package store

import (
	"cmp"
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"encoding/json"
	"errors"

	kagewasm "github.com/kagewasm/kagewasm"
	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/lists"
	"github.com/kagewasm/kagewasm/session"
	"github.com/kagewasm/kagewasm/store/internal/rows"
)

// What the store itself notes in the audit log, beside the events of compactions.
const (
	EventRolledBack kagewasm.EventType = "session.rolled_back"
	EventDeleted    kagewasm.EventType = "session.deleted"
)

// AuditEntry is one line of the audit log: ids, digests and figures. What was said
// stands beside it as content.
type AuditEntry struct {
	Seq  int                `json:"seq"`
	Time string             `json:"time"`
	Type kagewasm.EventType `json:"type"`
	// Session is the key of the session, Compaction the id of the record.
	Session    string            `json:"session"`
	Compaction string            `json:"compaction,omitempty"`
	Trigger    abi.TriggerReason `json:"trigger,omitempty"`
	Strategy   string            `json:"strategy,omitempty"`
	Source     *abi.Source       `json:"source,omitempty"`
	ReasonCode abi.ReasonCode    `json:"reason_code,omitempty"`
	Model      string            `json:"model,omitempty"`

	TokensBefore   int `json:"tokens_before,omitempty"`
	TokensAfter    int `json:"tokens_after,omitempty"`
	MessagesBefore int `json:"messages_before,omitempty"`
	MessagesAfter  int `json:"messages_after,omitempty"`
	// Before the compaction the session had what was kept and superseded, after it
	// what was kept and inserted.
	Kept       []string       `json:"kept,omitempty"`
	Superseded []string       `json:"superseded,omitempty"`
	Inserted   []string       `json:"inserted,omitempty"`
	Hooks      []AuditHook    `json:"hooks,omitempty"`
	Failures   []AuditFailure `json:"failures,omitempty"`
	Cost       float64        `json:"cost,omitempty"`
	// Fallback: somebody else's plan was to be used. SummaryBytes is how long the
	// summary is, MS what the whole took.
	Fallback     bool    `json:"fallback,omitempty"`
	SummaryBytes int     `json:"summary_bytes,omitempty"`
	MS           float64 `json:"ms,omitempty"`

	// Flag is the operator's judgement, To the entry of the journal that a session
	// was rolled back to.
	Flag string `json:"flag,omitempty"`
	To   *int   `json:"to,omitempty"`
	// Redo: the rollback took another one back.
	Redo bool `json:"redo,omitempty"`
	// TakenBack are the compactions of a deleted session that were not in force then.
	TakenBack []string `json:"taken_back,omitempty"`

	// Content is the SHA-256 of what was said, Prev that of the entry before.
	Content string `json:"content,omitempty"`
	Prev    string `json:"prev"`
}

// AuditHook is a call of a plugin.
type AuditHook struct {
	Plugin  string   `json:"plugin"`
	Hook    abi.Hook `json:"hook"`
	Outcome string   `json:"outcome"`
	MS      float64  `json:"ms"`
}

// AuditFailure is a failure on the way.
type AuditFailure struct {
	Code   abi.Code  `json:"code"`
	Plugin string    `json:"plugin,omitempty"`
	Hook   abi.Hook  `json:"hook,omitempty"`
	Phase  abi.Phase `json:"phase,omitempty"`
}

// Audited is an entry as it is stored.
type Audited struct {
	// Entry is the line as it was written; Hash is its SHA-256.
	Entry json.RawMessage `json:"entry"`
	Hash  string          `json:"hash"`
	// Content is what was said, as JSON. It is empty where there was nothing, where
	// it is not kept, and where the session was deleted.
	Content json.RawMessage `json:"content,omitempty"`
}

// Log notes an event of a compaction in the audit log, and what it cost the session.
func (tx *Tx) Log(ctx context.Context, e kagewasm.Event) error {
	key := session.Key(e.Session)
	a := AuditEntry{Time: e.Time, Type: e.Type, Session: key, Compaction: e.Compaction, Trigger: e.Trigger,
		Strategy: e.Strategy, Model: e.Session.Model}
	if e.Error != nil {
		a.Failures = append(a.Failures, failureOf(e.Error))
	}
	if r := e.Report; r != nil {
		a.of(r)
		for _, c := range costsOf(r) {
			if err := tx.Spend(ctx, key, c); err != nil {
				return err
			}
		}
	}
	return fault("audit", tx.log(ctx, &a, e))
}

// of takes over what a report says in ids and figures.
func (a *AuditEntry) of(r *kagewasm.Report) {
	a.Strategy, a.Source, a.ReasonCode = cmp.Or(r.Strategy, a.Strategy), r.Source, r.ReasonCode
	a.TokensBefore, a.TokensAfter = r.TokensBefore, r.TokensAfter
	a.MessagesBefore, a.MessagesAfter = r.MessagesBefore, r.MessagesAfter
	a.Kept, a.Superseded, a.Inserted, a.Cost = r.Kept, r.Superseded, r.Inserted, r.Cost.Compactor
	a.Fallback, a.SummaryBytes, a.MS = r.Fallback, len(r.Summary), r.Metrics.MS
	for i := range r.Hooks {
		h := &r.Hooks[i]
		a.Hooks = append(a.Hooks, AuditHook{Plugin: h.Plugin, Hook: h.Hook, Outcome: h.Outcome, MS: h.MS})
	}
	a.Failures = append(a.Failures, lists.Map(r.Failures, failureOf)...)
}

func failureOf(e *abi.Error) AuditFailure {
	return AuditFailure{Code: e.Code, Plugin: e.Plugin, Hook: e.Hook, Phase: e.Phase}
}

// log adds an entry to the chain. Whoever takes the next number holds the end of the
// chain until the transaction ends, so numbers have no gaps.
func (tx *Tx) log(ctx context.Context, a *AuditEntry, content any) error {
	const next = "UPDATE audit_head SET seq = seq + 1 WHERE one = 1 RETURNING seq, hash"
	switch err := tx.tx.QueryRowContext(ctx, next).Scan(&a.Seq, &a.Prev); {
	case errors.Is(err, sql.ErrNoRows):
		return &abi.Error{Code: abi.CodeState, Op: "audit log", Err: err,
			Message: "the number of its last entry was removed, so nothing can be added to it",
			Hint:    "verify the log to see what is left of it, or go on with another state folder"}
	case err != nil:
		return err
	}
	if a.Time == "" {
		a.Time = tx.store.stamp()
	}
	said := ""
	if content != nil && !tx.store.opts.NoContent {
		text, err := json.Marshal(content)
		if err != nil {
			return err
		}
		said, a.Content = string(text), digest(string(text))
	}
	line, err := json.Marshal(a)
	if err != nil {
		return err
	}
	hash := digest(string(line))
	if _, err := exec(ctx, tx.tx, `INSERT INTO audit (seq, session, type, entry, hash, content)
		VALUES ($1, $2, $3, $4, $5, $6)`, a.Seq, a.Session, string(a.Type), string(line), hash, said); err != nil {
		return err
	}
	_, err = exec(ctx, tx.tx, "UPDATE audit_head SET hash = $1 WHERE one = 1", hash)
	return err
}

func digest(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

// AuditHead returns the number of the last entry of the log, 0 where there is none.
func (s *Store) AuditHead(ctx context.Context) (seq int, err error) {
	err = s.db.QueryRowContext(ctx, "SELECT seq FROM audit_head WHERE one = 1").Scan(&seq)
	return seq, fault("audit", err)
}

// Audit calls do for the entries of the log after a number, oldest first: those of a
// session, or all where key is empty. An error of do ends it.
func (s *Store) Audit(ctx context.Context, key string, after int, do func(Audited) error) error {
	err := rows.Each(ctx, s.db, func(r *sql.Rows) error {
		var entry, hash, content string
		if err := r.Scan(&entry, &hash, &content); err != nil {
			return err
		}
		return do(Audited{Entry: json.RawMessage(entry), Hash: hash, Content: json.RawMessage(content)})
	}, "SELECT entry, hash, content FROM audit WHERE seq > $1 AND ($2 = '' OR session = $2) ORDER BY seq", after, key)
	return fault("audit", err)
}
