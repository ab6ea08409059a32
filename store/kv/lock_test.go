package kv_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/gofrs/flock"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/store/kv"
)

// TestKVWaitsAsLongAsItMay: while another process holds the lock a change ends
// with its context, and goes on when the lock is free.
func TestKVWaitsAsLongAsItMay(t *testing.T) {
	dir := t.TempDir()
	other := flock.New(filepath.Join(dir, ".lock"))
	if err := other.Lock(); err != nil {
		t.Fatal(err)
	}
	s := openKV(t, dir, kv.Options{})
	if _, _, err := s.Get(t.Context(), "p", "k"); err != nil {
		t.Errorf("reading waits for nobody: %v", err)
	}
	gone, cancel := context.WithCancel(t.Context())
	waits := make(chan error)
	go func() { waits <- s.Set(gone, "p", "k", "v") }() // holds the lock of this process, and waits for the file's
	for code, ctx := range map[abi.Code]func() (context.Context, context.CancelFunc){
		abi.CodeDeadline: func() (context.Context, context.CancelFunc) {
			return context.WithTimeout(t.Context(), 20*time.Millisecond)
		},
		abi.CodeCanceled: func() (context.Context, context.CancelFunc) {
			ctx, cancel := context.WithCancel(t.Context())
			time.AfterFunc(20*time.Millisecond, cancel)
			return ctx, cancel
		},
	} {
		t.Run(string(code), func(t *testing.T) {
			for op, change := range map[string]func(context.Context) error{
				"set":    func(ctx context.Context) error { return s.Set(ctx, "p", "k", "v") },
				"swap":   func(ctx context.Context) error { return s.Swap(ctx, "p", "k", "", "v") },
				"delete": func(ctx context.Context) error { return s.Delete(ctx, "p", "k") },
			} {
				t.Run(op, func(t *testing.T) {
					ctx, done := ctx()
					if err := change(ctx); abi.CodeOf(err) != code {
						t.Errorf("%v; %s wanted", err, code)
					}
					done()
				})
			}
		})
	}
	cancel()
	if err := <-waits; abi.CodeOf(err) != abi.CodeCanceled {
		t.Errorf("the one that waits for the file: %v", err)
	}
	if err := other.Unlock(); err != nil {
		t.Fatal(err)
	}
	if err := s.Set(t.Context(), "p", "k", "v"); err != nil {
		t.Errorf("the lock is free: %v", err)
	}
}

// TestKVLookedAtStaysAsItIs: what is only read gets no lock file, so that a
// folder that cannot be written can be listed.
func TestKVLookedAtStaysAsItIs(t *testing.T) {
	dir := t.TempDir()
	if err := openKV(t, dir, kv.Options{}).Set(t.Context(), "p", "k", "v"); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(filepath.Join(dir, ".lock")); err != nil {
		t.Fatal(err)
	}
	s := openKV(t, dir, kv.Options{})
	v, _, err := s.Get(t.Context(), "p", "k")
	keys, listErr := s.List(t.Context(), "p", "")
	spaces, spacesErr := s.Spaces(t.Context())
	if v != "v" || len(keys) != 1 || len(spaces) != 1 || err != nil || listErr != nil || spacesErr != nil {
		t.Errorf("%q, %q, %v: %v, %v, %v", v, keys, spaces, err, listErr, spacesErr)
	}
	if _, err := os.Stat(filepath.Join(dir, ".lock")); !os.IsNotExist(err) {
		t.Errorf("a lock file for nothing: %v", err)
	}
}
