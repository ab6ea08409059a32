package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/kagewasm/kagewasm/store/internal/rows"
)

// AuditReport says whether the audit log is as it was written.
type AuditReport struct {
	// Entries is how many there are, Head the hash of the last one: who notes it
	// elsewhere can tell later that nothing was rewritten.
	Entries int    `json:"entries"`
	Head    string `json:"head"`
	// Withheld is how many have no content any more, as their session was deleted.
	Withheld int            `json:"withheld"`
	Problems []AuditProblem `json:"problems"`
}

// AuditProblem is an entry that is not as it was written.
type AuditProblem struct {
	// Seq is its number, 0 for the log as a whole.
	Seq  int    `json:"seq"`
	What string `json:"what"`
}

// verifier walks along the chain.
type verifier struct {
	AuditReport
	last int    // the number of the entry before
	prev string // its hash
	odd  bool   // it is not where it was
	// gone are entries without their content, by session.
	gone map[string][]int
}

// VerifyAudit looks at the whole log and names the entries that were changed, removed,
// moved or cut off. It cannot tell of a log that somebody rewrote as a whole: for
// that, compare Head with one noted before.
func (s *Store) VerifyAudit(ctx context.Context) (*AuditReport, error) {
	v := verifier{AuditReport: AuditReport{Problems: []AuditProblem{}}, gone: make(map[string][]int)}
	var seq int
	var hash string
	err := s.db.QueryRowContext(ctx, "SELECT seq, hash FROM audit_head").Scan(&seq, &hash)
	headless := errors.Is(err, sql.ErrNoRows)
	if err != nil && !headless {
		return nil, fault("verify", err)
	}
	err = rows.Each(ctx, s.db, func(r *sql.Rows) error {
		var seq int
		var a Audited
		var entry, content string
		if err := r.Scan(&seq, &entry, &a.Hash, &content); err != nil {
			return err
		}
		v.entry(seq, entry, a.Hash, content)
		return nil
	}, "SELECT seq, entry, hash, content FROM audit ORDER BY seq")
	if err != nil {
		return nil, fault("verify", err)
	}
	switch {
	case !headless:
		v.end(seq, hash)
	case v.Entries == 0:
		v.found(0, "removed as a whole, with the number of its last entry")
	default:
		v.end(v.last, v.prev)
		v.found(v.last, "the last that is left: the number of the last entry was removed, and with it there may be others")
	}
	return &v.AuditReport, nil
}

func (v *verifier) found(seq int, format string, args ...any) {
	v.Problems = append(v.Problems, AuditProblem{Seq: seq, What: fmt.Sprintf(format, args...)})
}

// entry looks at the next one.
func (v *verifier) entry(seq int, line, hash, content string) {
	follows := seq == v.last+1 && !v.odd
	for missing := v.last + 1; missing < seq; missing++ {
		v.found(missing, "removed")
	}
	var a AuditEntry
	moved := false
	err := json.Unmarshal([]byte(line), &a)
	switch {
	case err != nil || digest(line) != hash:
		v.found(seq, "changed")
	case a.Seq != seq:
		moved = true
		v.found(seq, "moved: what stands there was entry %d", a.Seq)
	case follows && a.Prev != v.prev:
		v.found(v.last, "changed, and its hash with it")
	}
	switch {
	case content != "" && digest(content) != a.Content:
		v.found(seq, "what was said with it was changed")
	case content == "" && a.Content != "":
		v.gone[a.Session] = append(v.gone[a.Session], seq)
	}
	if a.Type == EventDeleted {
		v.Withheld += len(v.gone[a.Session])
		delete(v.gone, a.Session)
	}
	v.Entries++
	v.last, v.prev, v.odd, v.Head = seq, hash, moved, hash
}

// end compares the end of the chain with the one that was noted.
func (v *verifier) end(seq int, hash string) {
	switch {
	case seq > v.last:
		for cut := v.last + 1; cut <= seq; cut++ {
			v.found(cut, "cut off from the end")
		}
	case seq < v.last || hash != v.prev:
		v.found(v.last, "changed, and its hash with it")
	}
	for session, list := range v.gone {
		for _, n := range list {
			v.found(n, "what was said with it was removed, and session %q was not deleted", session)
		}
	}
}
