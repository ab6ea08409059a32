package session

import (
	"context"
	"fmt"

	kagewasm "github.com/kagewasm/kagewasm"
	"github.com/kagewasm/kagewasm/abi"
)

// Options says which session to open.
type Options struct {
	// Session names the session, its agent, its model and the model's window.
	// Only the id is required. Agents of one session have compactions of their
	// own: each agent path is stored apart.
	Session abi.Session
	// Overhead is what a request costs beyond its messages, in tokens, for
	// instance for tool definitions. Default 0.
	Overhead int
	// Recall says in one line how the model can read and search what was superseded, for instance with
	// which of its tools. Notes say it to the model. Default nothing: the model is not told of a way
	// that it does not have.
	Recall string
	// Journal stores the session. Default one in memory, which is gone with the
	// Session.
	Journal Journal
	// TooLong reports whether an error of the agent's model means that the request did not fit, and by
	// how much, where the provider says so. models.TooLong knows the providers. Only [Session.Dispatch]
	// calls it, with errors that are not nil. Default: no error means that. A refusal is then returned
	// from Dispatch as it is: nothing is compacted because of it, the model is not called again, and
	// the session does not learn that the window is smaller than was assumed.
	TooLong func(error) (abi.Exceeded, bool)
}

// Open opens a session where it was left, or begins it. Any number of sessions may share a compactor.
// The error has the code usage where the id is missing, and bad_input where the journal's entries are
// not whole; others are the journal's.
func Open(ctx context.Context, c *kagewasm.Compactor, opts Options) (*Session, error) {
	switch {
	case c == nil:
		return nil, usage("open", "a session needs a compactor, as kagewasm.New returns it")
	case opts.Session.ID == "":
		return nil, usage("open", "a session needs an id: set Options.Session.ID")
	}
	if opts.Journal == nil {
		opts.Journal = new(MemoryJournal)
	}
	if opts.TooLong == nil {
		opts.TooLong = func(error) (abi.Exceeded, bool) { return abi.Exceeded{}, false }
	}
	h, err := OpenHistory(ctx, opts.Journal, Key(opts.Session), c.Options().Now)
	if err != nil {
		return nil, err
	}
	h.adopt = func(cp *Checkpoint) {
		cp.compactor, cp.req.Session, cp.req.Overhead = c, opts.Session, opts.Overhead
	}
	if h.pending != nil {
		h.adopt(h.pending)
	}
	return &Session{compactor: c, tooLong: opts.TooLong, gate: gate{busy: make(chan struct{}, 1)},
		state: state{id: opts.Session, overhead: opts.Overhead, recall: opts.Recall, history: h}}, nil
}

func usage(op, format string, args ...any) error {
	return &abi.Error{Code: abi.CodeUsage, Op: op, Message: fmt.Sprintf(format, args...)}
}
