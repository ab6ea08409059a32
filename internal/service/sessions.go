package service

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"net/url"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/turns"
	"github.com/kagewasm/kagewasm/session"
	"github.com/kagewasm/kagewasm/store"
)

// NewSession is a session to begin.
type NewSession struct {
	// ID names it. Default one that nobody has.
	ID string `json:"id,omitempty" maxLength:"200" doc:"the session's name; one is made where there is none"`
	// Agent is the agent's path in the configuration.
	Agent string `json:"agent,omitempty" maxLength:"200" doc:"the agent's path in the configuration, such as main/reviewer"`
	Model string `json:"model,omitempty" maxLength:"200" doc:"the model's name or alias, for its window and tokenizer"`
	// Window is the model's in tokens. Default the configuration's, else the catalog's.
	Window int    `json:"context_window,omitempty" minimum:"0" doc:"the model's window in tokens, where it is another than configured"`
	Source string `json:"source,omitempty" maxLength:"500" doc:"where the session comes from: a program, a file"`
}

// Create begins a session that has no messages yet.
func (s *sessions) Create(ctx context.Context, n NewSession) (*store.Session, error) {
	if n.ID == "" {
		n.ID = "s-" + strings.ToLower(rand.Text()[:16])
	}
	for _, name := range []string{n.ID, n.Agent} {
		if err := checkName(name); err != nil {
			return nil, err
		}
	}
	if _, err := s.host.Agent(ctx, n.Agent, n.Model); err != nil {
		return nil, err
	}
	key := session.Key(abi.Session{ID: n.ID, AgentPath: n.Agent})
	err := s.store.Update(ctx, func(tx *store.Tx) error {
		return tx.Create(ctx, key, store.About{Source: n.Source, Model: n.Model, Window: n.Window})
	})
	if err != nil {
		return nil, err
	}
	row, err := s.store.Session(ctx, key)
	if err == nil {
		s.hub.publish(Event{Type: EventCreated, Time: row.Created, Session: key})
	}
	return row, err
}

// checkName refuses ids and paths that cannot be told apart in a key or on a screen.
func checkName(name string) error {
	bad := func(r rune) bool { return r == '#' || !unicode.IsGraphic(r) || unicode.Is(unicode.Cf, r) }
	if !utf8.ValidString(name) || strings.ContainsFunc(name, bad) || name == "." || name == ".." {
		return usage("sessions", "an id or an agent's path has no control characters and no #")
	}
	return nil
}

// pathOf is a key as it stands in an address.
func pathOf(key string) string { return url.PathEscape(key) }

// Sessions are the sessions, the one that changed last first. after is what the page
// before returned as next.
func (s *sessions) Sessions(ctx context.Context, after string, limit int) ([]store.Session, string, error) {
	list, next, err := s.store.Sessions(ctx, after, limit)
	for i := range list {
		s.counted(&list[i])
	}
	return list, next, err
}

// Session is the one of a key.
func (s *sessions) Session(ctx context.Context, key string) (*store.Session, error) {
	row, err := s.store.Session(ctx, key)
	if err == nil {
		s.counted(row)
	}
	return row, err
}

// counted puts the count of tokens in that is newer than the stored one.
func (s *core) counted(row *store.Session) {
	s.mu.Lock()
	l := s.open[row.Key]
	s.mu.Unlock()
	if l == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.tokens > 0 {
		row.Tokens = l.tokens
	}
}

// Delete deletes a session with all that was said in it.
func (s *sessions) Delete(ctx context.Context, key string) error {
	err := s.store.Update(ctx, func(tx *store.Tx) error { return tx.Delete(ctx, key) })
	if err == nil {
		s.forget(key)
		s.hub.publish(Event{Type: EventDeleted, Session: key})
	}
	return err
}

// Terms are what a client demands of a change.
type Terms struct {
	// Version is the one that the session has to be at. Nil is any.
	Version *int
	// Request is the client's key of a request that may come twice: the second time
	// nothing is done, and the answer is that of the first. Empty is none.
	Request string
}

// Appended says under which ids messages were added.
type Appended struct {
	IDs     []string `json:"ids"`
	Version int      `json:"version"`
	// Replayed: the request had come before, and nothing was added.
	Replayed bool `json:"replayed,omitempty"`
}

// Append adds messages that arrived. A message without an id gets one.
func (s *sessions) Append(ctx context.Context, key string, msgs []abi.Message, t Terms) (out *Appended, err error) {
	if len(msgs) == 0 {
		return nil, usage("append", "no messages: give at least one")
	}
	on := newTerms(t.Version)
	if t.Request != "" {
		on.request = &store.Request{Key: t.Request, Digest: digestOf(msgs)}
		if out, err := s.replayed(ctx, key, on.request); out != nil || err != nil {
			return out, err
		}
	}
	err = s.append(withTerms(ctx, on), key, msgs)
	if on.request != nil && abi.CodeOf(err) == abi.CodeConflict && !errors.Is(err, ErrVersion) {
		if out, again := s.replayed(ctx, key, on.request); out != nil || again != nil {
			return out, again // it came twice at the same time
		}
	}
	if err != nil {
		return nil, err
	}
	return &Appended{IDs: on.ids, Version: on.seq}, nil
}

// append adds messages. With them the agent of the session is here.
func (s *sessions) append(ctx context.Context, key string, msgs []abi.Message) error {
	if err := s.added(ctx, key, msgs); err != nil {
		return err
	}
	if err := turns.GoOn(context.WithoutCancel(ctx), s.store, key); err != nil { // the messages are stored
		s.opts.Log.Error("a turn that goes on here is not stored", "session", key, "error", err)
	}
	return nil
}

// added adds messages; a session that is not open need not be read for it.
func (s *sessions) added(ctx context.Context, key string, msgs []abi.Message) error {
	l, release := s.take(key)
	done, err := s.appendClosed(ctx, l, msgs)
	release()
	if done && abi.CodeOf(err) != abi.CodeConflict {
		return err
	}
	return s.with(ctx, key, func(_ *live, open *session.Session) error { return open.Append(ctx, msgs...) })
}

// replayed is the answer to a request that has come before, nil where it has not.
func (s *core) replayed(ctx context.Context, key string, r *store.Request) (*Appended, error) {
	before, ids, err := s.store.Answered(ctx, key, r.Key)
	if err != nil || before == nil {
		return nil, err
	}
	if before.Digest != r.Digest {
		return nil, &abi.Error{Code: abi.CodeUsage, Op: "append", Message: "the idempotency key " + r.Key +
			" was used for other messages", Hint: "use a key of its own for each request"}
	}
	return &Appended{IDs: ids, Version: before.Seq, Replayed: true}, nil
}

func digestOf(v any) string {
	text, _ := json.Marshal(v) // messages came as JSON
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

// Messages are those of a session, as they came, with what became of them.
func (s *sessions) Messages(ctx context.Context, key string, q store.MessageQuery) ([]session.StoredMessage, error) {
	if _, err := s.store.Session(ctx, key); err != nil {
		return nil, err
	}
	return s.store.Messages(ctx, key, q)
}

// Pending are the sessions in which a compaction waits for a decision.
func (s *sessions) Pending(ctx context.Context) ([]store.Session, error) { return s.store.Pending(ctx) }

// Outline has a line for each message of a session, in the order in which they came.
func (s *sessions) Outline(ctx context.Context, key string) ([]store.Line, error) {
	return s.store.Outline(ctx, key)
}

// Named are the messages of a session that have some ids, in no order.
func (s *sessions) Named(ctx context.Context, key string, ids []string) ([]session.StoredMessage, error) {
	return s.store.Named(ctx, key, ids)
}
