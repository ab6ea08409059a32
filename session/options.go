package session

import (
	"context"
	"fmt"

	kagewasm "github.com/kagewasm/kagewasm"
	"github.com/kagewasm/kagewasm/abi"
)

// Options says which session to open.
type Options struct {
	// Session names it, its agent, its model and the window. Only the id is
	// required.
	Session abi.Session
	// Overhead is what a request costs beyond its messages, in tokens.
	Overhead int
	// Journal keeps it. Default one in memory, which is gone with the Session.
	Journal Journal
	// TooLong reports whether an error of the agent's model means that the
	// request did not fit, and by how much as far as the provider says so.
	// models.TooLong knows the providers. Default: no error means that, and
	// [Session.Dispatch] never compacts and calls again.
	TooLong func(error) (abi.Exceeded, bool)
}

// Open opens a session where it was left, or begins it. The compactor may be
// shared by any number of sessions.
func Open(ctx context.Context, c *kagewasm.Compactor, opts Options) (*Session, error) {
	if opts.Session.ID == "" {
		return nil, usage("a session needs an id")
	}
	if opts.Journal == nil {
		opts.Journal = new(MemoryJournal)
	}
	if opts.TooLong == nil {
		opts.TooLong = func(error) (abi.Exceeded, bool) { return abi.Exceeded{}, false }
	}
	s := &Session{c: c, id: opts.Session, tools: opts.Overhead, journal: opts.Journal, tooLong: opts.TooLong, calling: make(chan struct{}, 1)}
	entries, err := s.journal.Load(ctx, s.key())
	if err != nil {
		return nil, err
	}
	if s.history, err = newHistory(entries); err != nil {
		return nil, err
	}
	return s, nil
}

func usage(format string, args ...any) *abi.Error {
	return &abi.Error{Code: abi.CodeUsage, Op: "compact", Message: fmt.Sprintf(format, args...)}
}
