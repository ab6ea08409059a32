package main

import (
	"bytes"
	"context"
	"io"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/kagewasm/kagewasm/cmd/kagewasm/internal/files"
	"github.com/kagewasm/kagewasm/cmd/kagewasm/internal/pick"
	"github.com/kagewasm/kagewasm/cmd/kagewasm/internal/state"
	"github.com/kagewasm/kagewasm/internal/record"
	"github.com/kagewasm/kagewasm/session"
	"github.com/kagewasm/kagewasm/store"
)

// storeFlags say where sessions are stored.
type storeFlags struct {
	state  string
	asJSON bool
	out    string
	// source is the file that the session was read from; empty where that is not known, or where it is about several.
	source string
}

func (f *storeFlags) register(c *cobra.Command) {
	c.Flags().StringVar(&f.state, "state", "", "`DIR` in which sessions are kept (default: the platform's state folder)")
	c.Flags().BoolVar(&f.asJSON, "json", false, "print JSON")
}

func (f *storeFlags) registerOut(c *cobra.Command, what string) {
	f.register(c)
	c.Flags().StringVar(&f.out, "out", "", "write "+what+" to `FILE`")
}

// with opens the store for a command. What it is to write has a place before anything is done.
func (f *storeFlags) with(ctx context.Context, e env, do func(*store.Store) error) error {
	if err := files.CheckOutputs(nil, files.Named("--out", f.out)); err != nil {
		return err
	}
	s, err := state.ReadSessions(ctx, f.state, e.stateHome, e.say)
	if err != nil {
		return err
	}
	defer s.Close()
	return do(s)
}

// withSession opens the store for a command on one session.
func (f *storeFlags) withSession(
	ctx context.Context, e env, id string, do func(*store.Store, *store.Session) error,
) error {
	return f.with(ctx, e, func(s *store.Store) error {
		one, err := pick.Find(ctx, s, id)
		if err != nil {
			return err
		}
		if filepath.IsAbs(one.Source) {
			f.source = one.Source
		}
		return do(s, one)
	})
}

// meantKey is the key of the session that is meant; without an id it is empty, which is all.
func meantKey(ctx context.Context, s *store.Store, id string) (string, error) {
	if id == "" {
		return "", nil
	}
	one, err := pick.Find(ctx, s, id)
	if err != nil {
		return "", err
	}
	return one.Key, nil
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
	return files.WriteFor(f.out, b.Bytes(), f.source)
}
