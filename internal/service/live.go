package service

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/turns"
	"github.com/kagewasm/kagewasm/session"
	"github.com/kagewasm/kagewasm/store"
)

// live is a session that is kept open.
type live struct {
	key string

	// writing is held while an entry is stored, so that version is never behind what
	// this process has written.
	writing sync.Mutex
	version int

	mu      sync.Mutex
	row     store.Session
	session *session.Session
	agent   *Agent
	open    []turns.Open      // turns and calls that the store had when it was asked last
	turns   map[string]func() // those of open that are no call of this process, by id: how to end it
	wishes  []turns.Request   // compactions that were asked for, and that the store keeps
	call    *call             // the one in flight
	task    *task             // the last one
	tokens  int               // as counted last; 0 where that is stored

	// bytes is how long its messages are, 0 where it is not read.
	bytes atomic.Int64

	users int       // under core.mu
	last  time.Time // under core.mu
}

// idle reports whether nothing is lost when the session is closed.
func (l *live) idle() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	busy := false
	if l.session != nil {
		if job := l.session.Background(); job != nil {
			_, done, _ := job.Poll()
			busy = !done
		}
		busy = busy || len(l.session.Requested()) > 0 // a plugin may have asked since the store was told
	}
	return !busy && l.call == nil && len(l.wishes) == 0 // turns are in the store
}

// running is the oldest turn or call that goes on, at whichever process, as was known when the store was asked last;
// nil where none does.
func (l *live) running() *turns.Open {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.open) == 0 {
		return nil
	}
	return &l.open[0]
}

// abandon gives up what goes on beside requests.
func (l *live) abandon() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.task != nil {
		l.task.job.Cancel()
	}
	if l.call != nil {
		l.call.cancel()
	}
}

// stored is the version that this process knows.
func (l *live) stored() int {
	l.writing.Lock()
	defer l.writing.Unlock()
	return l.version
}

// take returns the session of a key, open or not yet, and a function to call when it is
// not needed any more.
func (s *core) take(key string) (l *live, release func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if l = s.open[key]; l == nil {
		l = &live{key: key, turns: make(map[string]func())}
		s.open[key] = l
	}
	l.users++
	return l, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		l.users--
		l.last = time.Now()
		for s.crowded() && s.evict() {
		}
	}
}

// crowded reports whether more is kept open than should be.
func (s *core) crowded() bool {
	var bytes int64
	for _, l := range s.open {
		bytes += l.bytes.Load()
	}
	return len(s.open) > s.opts.MaxOpen || bytes > s.opts.MaxBytes
}

// evict closes the session that was not used for the longest time, and reports whether
// there was one.
func (s *core) evict() bool {
	var oldest *live
	for _, l := range s.open {
		if l.users == 0 && (oldest == nil || l.last.Before(oldest.last)) && l.idle() {
			oldest = l
		}
	}
	if oldest != nil {
		delete(s.open, oldest.key)
	}
	return oldest != nil
}

// forget closes a session that was deleted.
func (s *core) forget(key string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if l := s.open[key]; l != nil {
		l.abandon()
		delete(s.open, key)
	}
}

// tries bounds how often something is done again because another program on the same
// store was faster.
const tries = 5

// with calls do with an open session. Where another program changed the session
// meanwhile it is opened again, and do called once more.
func (s *core) with(ctx context.Context, key string, do func(l *live, open *session.Session) error) (err error) {
	l, release := s.take(key)
	defer release()
	for range tries {
		var open *session.Session
		if open, err = s.refresh(ctx, l); err != nil {
			return err
		}
		err = do(l, open)
		s.keepRequests(ctx, l, open)
		if abi.CodeOf(err) != abi.CodeConflict || !s.stale(ctx, l) {
			break
		}
	}
	return err
}

// stale reports whether another program has changed a session.
func (s *core) stale(ctx context.Context, l *live) bool {
	l.writing.Lock()
	defer l.writing.Unlock()
	row, err := s.store.Session(ctx, l.key)
	return err == nil && row.Version != l.version
}

// refresh opens a session, and again where another program or the configuration has
// changed it.
func (s *core) refresh(ctx context.Context, l *live) (*session.Session, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.writing.Lock()
	row, err := s.store.Session(ctx, l.key)
	same := err == nil && l.session != nil && row.Version == l.version && row.Created == l.row.Created
	l.writing.Unlock()
	if err == nil {
		err = s.knowTurns(ctx, l)
	}
	var requests []turns.Request
	if err == nil {
		requests, err = turns.Requests(ctx, s.store, l.key)
	}
	if err != nil {
		return nil, err
	}
	l.hear(requests)
	if l.call != nil && l.session != nil && row.Created == l.row.Created {
		return l.session, nil // which the answer goes to; it reads itself what others wrote
	}
	agent, err := s.host.Agent(ctx, row.Agent, row.Model)
	if err != nil {
		return nil, err
	}
	if same && agent == l.agent && row.About == l.row.About {
		return l.session, nil
	}
	l.writing.Lock()
	defer l.writing.Unlock()
	opened, err := s.openOn(ctx, l, row, agent)
	if err != nil {
		return nil, err
	}
	if row, err = s.store.Session(ctx, l.key); err != nil { // it may have grown while it was read
		return nil, err
	}
	l.dropTask()
	l.session, l.agent, l.row, l.version, l.tokens = opened, agent, *row, row.Version, 0
	l.bytes.Store(row.Bytes)
	for id := range l.turns {
		l.turns[id] = opened.BeginTurn()
	}
	l.wishes = requests
	for _, r := range requests {
		opened.Request(r.Wish)
	}
	return opened, nil
}

// openOn opens a session with the compactor of an agent.
func (s *core) openOn(ctx context.Context, l *live, row *store.Session, agent *Agent) (*session.Session, error) {
	opts := session.Options{Session: sessionOf(row, agent), Journal: &journal{s, l}, TooLong: tooLong}
	if s.opts.Recall {
		opts.Recall = fmt.Sprintf("GET /api/v1/sessions/%s/recall?q=WORDS", pathOf(l.key))
	}
	return session.Open(ctx, agent.Compactor, opts)
}
