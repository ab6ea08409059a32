// Package record keeps in the store what the command does to sessions, and writes
// them as files again. [Run.Keep] takes in a compaction: the file as it was read, what
// became of it, and its events. [Write] gives a session back, byte for byte where it
// is one that was read.
package record

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"sync"
	"time"

	kagewasm "github.com/kagewasm/kagewasm"
	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/hooks"
	"github.com/kagewasm/kagewasm/internal/lists"
	"github.com/kagewasm/kagewasm/internal/set"
	"github.com/kagewasm/kagewasm/internal/turns"
	"github.com/kagewasm/kagewasm/session"
	"github.com/kagewasm/kagewasm/store"
	"github.com/kagewasm/kagewasm/transcript"
)

// ID is the session's own id, or a digest of its first messages: those up to the task,
// which stay through every compaction.
func ID(s *transcript.Session) string {
	if s.ID != "" {
		return s.ID
	}
	h := sha256.New()
	for _, m := range s.Messages[:head(s.Messages)] {
		if m.Role == abi.RoleSystem || m.Role == abi.RoleUser && m.Kind == "" {
			fmt.Fprintf(h, "%s %q\n", m.Role, m.Text())
		}
	}
	return "s-" + hex.EncodeToString(h.Sum(nil)[:6])
}

// head is how many messages there are up to the task and with it.
func head(msgs []abi.Message) int {
	if i := slices.Index(abi.Persons(msgs), true); i >= 0 {
		return i + 1
	}
	return min(1, len(msgs))
}

// Reasons are those that who keeps a session may give for a compaction of it: without one of them a person asked where
// it is forced, or where it says what to keep in view.
var Reasons = []abi.TriggerReason{abi.TriggerManual, abi.TriggerAgent, abi.TriggerPlugin, abi.TriggerThreshold}

// Run is one run of compact.
type Run struct {
	// Path and Data are the file as it was read, File what it says.
	Path string
	Data []byte
	File *transcript.Session
	// Session is as the compactor was told.
	Session abi.Session
	// Result is what came of it, Events what it said on the way.
	Result *kagewasm.Result
	Events []kagewasm.Event
	// Err is why it failed, nil where it did not.
	Err error

	begun  time.Time
	reason abi.TriggerReason
	mu     sync.Mutex
	wishes []hooks.Wish // compactions that plugins asked for meanwhile
}

// Begin notes what the compactor is asked, and has the run take up what plugins ask for meanwhile: it is kept with the
// session, for the end of its turn.
func (r *Run) Begin(req *kagewasm.Request) {
	r.Session, r.reason, r.begun = req.Session, req.Reason, time.Now()
	req.Asked = func(w hooks.Wish) {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.wishes = append(r.wishes, w)
	}
}

// Asked are the compactions that plugins asked for meanwhile.
func (r *Run) Asked() []hooks.Wish {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.wishes)
}

// Kept is what became of it in the store.
type Kept struct {
	Key string
	// Deleted are older sessions that went to make room.
	Deleted []string
}

// Keep stores the run as a whole, and then deletes the oldest sessions that are over
// most bytes.
func (r *Run) Keep(ctx context.Context, s *store.Store, most int64) (kept Kept, err error) {
	err = s.Update(ctx, func(tx *store.Tx) error {
		h, named, err := r.find(ctx, tx)
		if err != nil {
			return err
		}
		kept.Key = session.Key(named)
		list, err := h.Follow(ctx, r.File.Messages)
		if err != nil {
			return err
		}
		names := make(map[string]string, len(list))
		for i := range list {
			names[r.File.Messages[i].ID] = list[i].ID
		}
		if err := tx.AddSource(ctx, kept.Key, store.Source{Seq: h.Len(), Name: r.Path, Format: string(r.File.Format),
			IDs: lists.Map(list, func(m abi.Message) string { return m.ID }), Data: r.Data}); err != nil {
			return err
		}
		if err := r.rewrite(ctx, h, names); err != nil {
			return err
		}
		about := store.About{Source: r.Path, Model: r.Session.Model, Sure: true}
		if w := r.Session.ContextWindow; w != nil {
			about.Window = *w
		}
		if err := tx.Describe(ctx, kept.Key, about, r.Result.Report.TokensAfter); err != nil {
			return err
		}
		for _, e := range r.Events {
			e.Session = named
			e.Report = renamed(e.Report, names)
			if err := tx.Log(ctx, e); err != nil {
				return err
			}
		}
		kept.Deleted, err = tx.Trim(ctx, most, kept.Key)
		return err
	})
	if err == nil {
		answers := turns.Answers(r.reason, r.Result.Report.Compacted, r.Err)
		err = turns.Looked(ctx, s, kept.Key, r.begun, answers, r.Asked())
	}
	return kept, err
}

// Earlier are the messages of the session that compactions before this run took away and
// the file does not have. They are none where it is the first.
func (r *Run) Earlier(ctx context.Context, s *store.Store) ([]session.StoredMessage, error) {
	h, named, err := r.find(ctx, s)
	if err != nil || h.Len() == 0 {
		return nil, err
	}
	all, err := s.Messages(ctx, session.Key(named), store.MessageQuery{Superseded: true})
	here := set.Of(lists.Map(r.File.Messages, func(m abi.Message) string { return m.Text() })...)
	return lists.Filter(all, func(m session.StoredMessage) bool { return m.Superseded && !here[m.Text()] }), err
}

// Key is the key of the session in the store.
func (r *Run) Key(ctx context.Context, j session.Journal) (string, error) {
	if r.File.ID != "" {
		return session.Key(r.Session), nil
	}
	_, named, err := r.find(ctx, j)
	return session.Key(named), err
}

// Held are the compactions of the session that were asked for and that nothing has answered.
func (r *Run) Held(ctx context.Context, s *store.Store) ([]hooks.Wish, error) {
	some, err := turns.AnyRequests(ctx, s)
	if err != nil || !some { // the session, which may be long, need not be looked for
		return nil, err
	}
	key, err := r.Key(ctx, s)
	if err != nil {
		return nil, err
	}
	list, err := turns.Requests(ctx, s, key)
	return lists.Map(list, func(q turns.Request) hooks.Wish { return q.Wish }), err
}

// find finds the session that the file goes on with. Where the file does not name it,
// sessions that begin alike are told apart by what follows.
func (r *Run) find(ctx context.Context, tx session.Journal) (best *session.History, named abi.Session, err error) {
	most := -1
	for n := 1; ; n++ {
		name := r.Session
		if n > 1 {
			name.ID = fmt.Sprintf("%s-%d", r.Session.ID, n)
		}
		h, err := session.OpenHistory(ctx, tx, session.Key(name), nil)
		switch {
		case err != nil:
			return nil, named, err
		case r.File.ID != "", h.Len() == 0 && best == nil:
			return h, name, nil
		case h.Len() == 0:
			return best, named, nil
		}
		shared, beginning := h.Shared(r.File.Messages), head(r.File.Messages)
		if (shared > beginning || shared == len(r.File.Messages) || len(h.All()) == shared) && shared > most {
			best, named, most = h, name, shared
		}
	}
}

// Waits is the compaction that nobody has decided about, or nil.
func (r *Run) Waits() *kagewasm.Result {
	if r.Result.Report.ReasonCode == abi.ReasonRejected {
		return nil
	}
	return r.Result.Pending
}

// rewrite puts what the run made of the session in its place.
func (r *Run) rewrite(ctx context.Context, h *session.History, names map[string]string) error {
	made, proposed := r.Result, r.Waits()
	if proposed != nil {
		made = proposed
	}
	if !made.Report.Compacted && made.Report.Pruned.Count == 0 {
		return nil
	}
	list := slices.Clone(made.Messages)
	for i := range list {
		list[i].ID = nameOf(names, list[i].ID)
	}
	var record *abi.Record
	if made.Report.Compacted && made.Record != nil {
		record = new(*made.Record)
		for _, ids := range []*[]string{&record.Superseded, &record.Inserted, &record.Edited} {
			*ids = lists.Map(*ids, func(id string) string { return nameOf(names, id) })
		}
	}
	if proposed != nil {
		return h.Propose(ctx, &kagewasm.Result{Messages: list, Record: record, Report: *renamed(&proposed.Report, names),
			Heard: proposed.Heard, Said: proposed.Said})
	}
	return h.Rewrite(ctx, list, record)
}

// nameOf is the id of a message in the store.
func nameOf(names map[string]string, id string) string {
	if name, ok := names[id]; ok {
		return name
	}
	return id
}

// renamed is a report with the ids of the store.
func renamed(r *kagewasm.Report, names map[string]string) *kagewasm.Report {
	if r == nil {
		return nil
	}
	out := *r
	for _, ids := range []*[]string{&out.Superseded, &out.Kept, &out.Inserted, &out.Pinned, &out.Edited} {
		*ids = lists.Map(*ids, func(id string) string { return nameOf(names, id) })
	}
	return &out
}

// Compaction returns a compaction of a stored session, also one that was undone. The cause of the error where there is
// none is [store.ErrUnknown].
func Compaction(ctx context.Context, s *store.Store, key, id string) (*store.Record, error) {
	list, err := s.Records(ctx, key)
	if err != nil {
		return nil, err
	}
	if i := slices.IndexFunc(list, func(r store.Record) bool { return r.ID == id }); i >= 0 {
		return &list[i], nil
	}
	return nil, &abi.Error{Code: abi.CodeUsage, Err: store.ErrUnknown,
		Message: fmt.Sprintf("session %q: it has no compaction %q", key, id), Hint: "show the session to see their ids"}
}
