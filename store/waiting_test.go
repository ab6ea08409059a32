package store_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/pgtest"
	"github.com/kagewasm/kagewasm/session"
	"github.com/kagewasm/kagewasm/store"
)

// TestWaitingIsGivenUp: who gives up a change that waits for another one is told that, and not
// that the database is broken, whichever statement was waiting.
func TestWaitingIsGivenUp(t *testing.T) {
	db := pgtest.Database(t)
	s, other := open(t, db, store.Options{}), open(t, db, store.Options{})
	if err := s.Append(t.Context(), "a", session.Entry{Seq: 1, Append: []abi.Message{said("m1")}}); err != nil {
		t.Fatal(err)
	}
	for _, table := range []string{"sessions", "messages", "entries"} {
		t.Run(table, func(t *testing.T) {
			tx, err := s.DB().BeginTx(t.Context(), nil)
			if err != nil {
				t.Fatal(err)
			}
			defer tx.Rollback()
			if _, err := tx.ExecContext(t.Context(), "LOCK TABLE "+table+" IN ACCESS EXCLUSIVE MODE"); err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
			defer cancel()
			err = other.Append(ctx, "a", session.Entry{Seq: 2, Append: []abi.Message{said("m2")}})
			var e *abi.Error
			if !errors.As(err, &e) || e.Code != abi.CodeCanceled {
				t.Errorf("%v, not canceled", err)
			}
		})
	}
}

// TestAddressesAreNotTold: an address that is none is refused without its password.
func TestAddressesAreNotTold(t *testing.T) {
	_, err := store.Open(t.Context(), "postgres://u:secret%zz@h/x", store.Options{})
	if err == nil || strings.Contains(err.Error(), "secret") || !strings.Contains(err.Error(), "postgres://USER") {
		t.Errorf("%v", err)
	}
}

// TestParametersThatCannotBeRead: an address whose parameters cannot be read is refused, and is not taken without them:
// the connection would not be encrypted as it says. None of its values is told.
func TestParametersThatCannotBeRead(t *testing.T) {
	for _, parameters := range []string{"sslmode=verify-full%zz", "sslmode=verify-full;password=secret",
		"password=secret%zz"} {
		_, err := store.Open(t.Context(), "postgres://u@127.0.0.1:1/x?"+parameters, store.Options{})
		if err == nil || !strings.Contains(err.Error(), "parameters of the address") ||
			strings.Contains(err.Error(), "secret") || strings.Contains(err.Error(), "zz") {
			t.Errorf("%s: %v", parameters, err)
		}
	}
}
