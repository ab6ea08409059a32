package main

import (
	"bytes"
	"context"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/kagewasm/kagewasm/cmd/kagewasm/internal/files"
	"github.com/kagewasm/kagewasm/cmd/kagewasm/internal/record"
	"github.com/kagewasm/kagewasm/cmd/kagewasm/internal/state"
	"github.com/kagewasm/kagewasm/cmd/kagewasm/internal/ui"
	"github.com/kagewasm/kagewasm/session"
	"github.com/kagewasm/kagewasm/store"
)

// storeFlags say where sessions are stored.
type storeFlags struct {
	state  string
	asJSON bool
	out    string
}

func (f *storeFlags) register(c *cobra.Command) {
	c.Flags().StringVar(&f.state, "state", "", "`DIR` in which sessions are kept (default: the platform's state folder)")
	c.Flags().BoolVar(&f.asJSON, "json", false, "print JSON")
}

func (f *storeFlags) registerOut(c *cobra.Command, what string) {
	f.register(c)
	c.Flags().StringVar(&f.out, "out", "", "write "+what+" to `FILE`")
}

// with opens the store for a command.
func (f *storeFlags) with(ctx context.Context, e env, do func(*store.Store) error) error {
	s, err := state.ReadSessions(ctx, f.state, e.stateHome, e.say)
	if err != nil {
		return err
	}
	defer s.Close()
	return do(s)
}

// find is the session that a person means by an id: its key, its id, the beginning of
// one, or the compaction that waits in it.
func find(ctx context.Context, s *store.Store, id string) (*store.Session, error) {
	if one, err := s.Session(ctx, id); err == nil {
		return one, nil
	}
	var found, begins []store.Session
	for next, first := "", true; first || next != ""; first = false {
		list, after, err := s.Sessions(ctx, next, 500)
		if err != nil {
			return nil, err
		}
		for _, one := range list {
			switch {
			case one.ID == id, one.Pending != "" && one.Pending == id:
				found = append(found, one)
			case id != "" && strings.HasPrefix(one.Key, id):
				begins = append(begins, one)
			}
		}
		next = after
	}
	if len(found) == 0 {
		found = begins
	}
	switch len(found) {
	case 0:
		return nil, ui.Usagef("session %q: none of that id is stored: kagewasm sessions lists them", id)
	case 1:
		return &found[0], nil
	}
	var keys []string
	for _, one := range found {
		keys = append(keys, one.Key)
	}
	return nil, ui.Usagef("session %q: it may be %s: give one of them", id, strings.Join(keys, " or "))
}

// change changes the history of a session and returns what it is now.
func change(
	ctx context.Context, s *store.Store, key string, do func(*store.Tx, *session.History) error,
) (h *session.History, err error) {
	err = s.Update(ctx, func(tx *store.Tx) error {
		if h, err = session.OpenHistory(ctx, tx, key, nil); err != nil {
			return err
		}
		return do(tx, h)
	})
	return h, err
}

// write writes the session as it is now to the file that was asked for.
func (f *storeFlags) write(ctx context.Context, s *store.Store, key string, h *session.History) error {
	if f.out == "" {
		return nil
	}
	return f.writeTo(env{}, func(w io.Writer) error { return writeNow(ctx, s, key, h, w) })
}

// writeNow writes the session as it is now.
func writeNow(ctx context.Context, s *store.Store, key string, h *session.History, w io.Writer) error {
	data, err := record.Write(ctx, s, key, h.Messages())
	if err == nil {
		_, err = w.Write(data)
	}
	return err
}

// writeTo writes to the file that was asked for, or to standard output.
func (f *storeFlags) writeTo(e env, do func(io.Writer) error) error {
	if f.out == "" {
		return do(e.stdout)
	}
	var b bytes.Buffer
	if err := do(&b); err != nil {
		return err
	}
	return files.Write(f.out, b.Bytes())
}
