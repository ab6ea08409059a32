package store_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/features"
	"github.com/kagewasm/kagewasm/internal/soak"
	"github.com/kagewasm/kagewasm/session"
	"github.com/kagewasm/kagewasm/store"
)

// TestTogether: of changes that come at the same time each is whole or not there at all,
// whatever becomes of those that are written with it: some fail behind what they wrote, some
// panic, some are given up. The chain of the audit log is whole.
func TestTogether(t *testing.T) {
	features.Proves(t, "N5")
	onAll(t, func(t *testing.T, open func(store.Options) *store.Store) {
		s := open(store.Options{})
		fails := errors.New("it fails")
		gone, cancel := context.WithCancel(t.Context())
		cancel()
		var mu sync.Mutex
		done := make(map[string]bool)
		var wg sync.WaitGroup
		for i := range soak.Count(200, 500, 5000) {
			key := fmt.Sprint("s", i)
			write := func(tx *store.Tx) error {
				err := tx.Append(t.Context(), key, session.Entry{Seq: 1, Append: []abi.Message{said("a" + key)}})
				if err == nil {
					err = tx.Append(t.Context(), key, session.Entry{Seq: 2, Rollback: new(0)}) // which is logged
				}
				return err
			}
			wg.Go(func() {
				defer func() {
					if v := recover(); v != nil && v != "panics" {
						t.Error(v)
					}
				}()
				ctx, after := t.Context(), error(nil)
				switch i % 10 {
				case 3:
					after = fails
				case 5:
					ctx = gone
				}
				err := s.Update(ctx, func(tx *store.Tx) error {
					if err := write(tx); err != nil {
						return err
					}
					if i%10 == 7 {
						panic("panics")
					}
					return after
				})
				if wrong := i%10 == 3 || i%10 == 5; (err != nil) != wrong || i%10 == 3 && !errors.Is(err, fails) {
					t.Errorf("%s: %v", key, err)
				}
				mu.Lock()
				defer mu.Unlock()
				done[key] = err == nil
			})
		}
		wg.Wait()
		list, _, err := s.Sessions(t.Context(), "", 10_000)
		if err != nil {
			t.Fatal(err)
		}
		there := make(map[string]bool)
		for _, one := range list {
			there[one.Key] = true
			if !done[one.Key] || one.Version != 2 {
				t.Errorf("%s is there at version %d: %v", one.Key, one.Version, done[one.Key])
			}
		}
		for key, ok := range done {
			if ok && !there[key] {
				t.Errorf("%s is not there", key)
			}
		}
		r, err := s.VerifyAudit(t.Context())
		if err != nil || len(r.Problems) > 0 || r.Entries != len(there) {
			t.Errorf("%+v of %d, %v", r, len(there), err)
		}
	})
}
