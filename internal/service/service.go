package service

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	kagewasm "github.com/kagewasm/kagewasm"
	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/turns"
	"github.com/kagewasm/kagewasm/session"
	"github.com/kagewasm/kagewasm/store"
)

// Options of a Service. The zero value of each field but the first two is the default
// written beside it.
type Options struct {
	// Store keeps the sessions. Required; who made it closes it, behind the Service.
	Store *store.Store
	// Open makes the Host. Its compactors say what they do to audit. Required.
	Open func(audit func(kagewasm.Event)) (Host, error)
	// Log hears what goes wrong beside a request. Default nothing is said.
	Log *slog.Logger
	// Recall lets agents search what was superseded. Default off: it shows the model
	// what a compaction took away.
	Recall bool
	// MaxOpen is how many sessions are kept open that nobody uses, MaxBytes how long their
	// messages are together, as stored. Defaults 200, and 64 MiB.
	MaxOpen  int
	MaxBytes int64
	// CallTime is how long a call of the model may be in flight until it counts as
	// abandoned. Default ten minutes.
	CallTime time.Duration
	// TurnTime is how long who ends a turn waits for plugins that hear of it. Default one second.
	TurnTime time.Duration
	// Alone says that nobody else compacts sessions of the store: a compaction whose end is
	// not in the audit log was under way when a server was killed, and its end is noted. So is that
	// of calls in flight.
	Alone bool
	// Keep is how many bytes of sessions the store holds at most behind a compaction that
	// is recorded; the oldest go first. Default no limit.
	Keep int64
}

// Service keeps the sessions of agents. It is safe for concurrent use. Close it.
type Service struct {
	*core
	sessions    // that there are, and their messages
	loop        // of an agent: context, calls, turns
	compactions // that people ask for, and what was done
	history     // undo, and what went
	operator    // plugins, figures, the audit log
}

// core is what all parts of a Service share.
type core struct {
	opts   Options
	store  *store.Store
	host   Host
	hub    hub
	totals totals

	mu   sync.Mutex
	open map[string]*live
	runs sync.WaitGroup // calls of models in flight
}

type (
	sessions    struct{ *core }
	loop        struct{ *core }
	compactions struct{ *core }
	history     struct{ *core }
	operator    struct{ *core }
)

// New makes a Service.
func New(opts Options) (*Service, error) {
	if opts.Store == nil || opts.Open == nil {
		return nil, usage("open", "a service needs a store and a host")
	}
	opts.Log = cmp.Or(opts.Log, slog.New(slog.DiscardHandler))
	opts.MaxOpen = cmp.Or(opts.MaxOpen, 200)
	opts.MaxBytes = cmp.Or(opts.MaxBytes, 64<<20)
	opts.CallTime = cmp.Or(opts.CallTime, 10*time.Minute)
	opts.TurnTime = cmp.Or(opts.TurnTime, time.Second)
	c := &core{opts: opts, store: opts.Store, open: make(map[string]*live)}
	var err error
	if opts.Alone {
		err = errors.Join(c.noteEnds(context.Background()), turns.EndCalls(context.Background(), opts.Store))
	}
	if err == nil {
		err = turns.TakeOver(context.Background(), opts.Store)
	}
	if err == nil {
		c.host, err = opts.Open(c.audit)
	}
	return &Service{c, sessions{c}, loop{c}, compactions{c}, history{c}, operator{c}}, err
}

// Drain ends what nobody will: who watches is told that this was all, and calls in flight
// are abandoned. It is called when no request is taken any more.
func (s *core) Drain() {
	s.hub.close()
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, l := range s.open {
		l.abandon()
	}
}

// Close waits for what goes on beside requests, which have to have ended before.
func (s *core) Close(ctx context.Context) error {
	s.Drain()
	s.runs.Wait()
	return s.host.Close(ctx)
}

// Host is where the service has its agents from.
func (s *core) Host() Host { return s.host }

// auditTime bounds how long the database may take to note an event.
const auditTime = 30 * time.Second

// audit notes an event of a compaction. The compaction is done then, so what goes wrong
// is logged.
func (s *core) audit(e kagewasm.Event) {
	ctx, cancel := context.WithTimeout(context.Background(), auditTime)
	defer cancel()
	err := s.store.Update(ctx, func(tx *store.Tx) error { return tx.Log(ctx, e) })
	if err != nil {
		s.opts.Log.Error("an event is not in the audit log", "event", e.Type, "session", e.Session.ID, "error", err)
	}
	s.totals.add(e)
	s.hub.publish(eventOf(e))
}

// ErrUnknown is the cause of errors about a session, a compaction, a call or a plugin
// that is not there.
var ErrUnknown = store.ErrUnknown

// ErrVersion is the cause of the error where a session is not at the version that the
// caller expects.
var ErrVersion = errors.New("the session has changed")

func usage(op, message string) error {
	return &abi.Error{Code: abi.CodeUsage, Op: op, Message: message}
}

// unknown is the error of what is not there. It says of what, so no operation stands before it.
func unknown(message string) error {
	return &abi.Error{Code: abi.CodeUsage, Message: message, Err: ErrUnknown}
}

// sessionOf is a session of the store as a compactor is told of it.
func sessionOf(row *store.Session, a *Agent) abi.Session {
	s := abi.Session{ID: row.ID, AgentPath: row.Agent, Model: row.Model, ContextWindow: a.Window}
	if row.Window > 0 {
		s.ContextWindow = &row.Window
	}
	return s
}

var _ session.Journal = (*journal)(nil)
