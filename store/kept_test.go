package store_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"testing"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/store"
)

// TestKept: what is kept is there for the next program, each value once; it is taken back
// one by one or all of an owner, and goes with its session.
func TestKept(t *testing.T) {
	onAll(t, func(t *testing.T, open func(store.Options) *store.Store) {
		s := open(store.Options{})
		change := func(do func(tx *store.Tx) error) error { return s.Update(t.Context(), do) }
		keep := func(kind, owner, name, value string) error {
			return change(func(tx *store.Tx) error {
				return store.Kept{Kind: kind, Owner: owner, Name: name, Value: json.RawMessage(value)}.Keep(t.Context(), tx)
			})
		}
		names := func(kind, owner string) string {
			list, err := open(store.Options{}).Kept(t.Context(), kind, owner)
			if err != nil {
				t.Fatal(err)
			}
			said := ""
			for _, k := range list {
				said += fmt.Sprintf("%s=%s ", k.Name, k.Value)
			}
			return said
		}
		err := errors.Join(change(func(tx *store.Tx) error { return tx.Create(t.Context(), "s", store.About{}) }),
			keep(store.KeptTurn, "s", "b", "1"), keep(store.KeptTurn, "s", "a", `{"x":1}`), keep(store.KeptTurn, "s", "b", "2"),
			keep(store.KeptRequest, "s", "r", `"why"`), keep(store.KeptSetting, "s", "of an agent of that name", "0"),
			keep(store.KeptTurn, "other", "c", "3"))
		if err != nil {
			t.Fatal(err)
		}
		if got := names(store.KeptTurn, "s"); got != `a={"x":1} b=2 ` {
			t.Error(got)
		}
		if err := keep(store.KeptTurn, "s", "bad", "{"); abi.CodeOf(err) != abi.CodeUsage {
			t.Error(err)
		}
		drop := func(k store.Kept) error {
			return change(func(tx *store.Tx) error {
				dropped, err := k.Drop(t.Context(), tx)
				if !dropped {
					t.Errorf("%+v was not there", k)
				}
				return err
			})
		}
		if err := drop(store.Kept{Kind: store.KeptTurn, Owner: "s", Name: "a"}); err != nil ||
			names(store.KeptTurn, "s") != "b=2 " {
			t.Errorf("%v, %s", err, names(store.KeptTurn, "s"))
		}
		if err := drop(store.Kept{Kind: store.KeptTurn, Owner: "other"}); err != nil || names(store.KeptTurn, "other") != "" {
			t.Errorf("%v, %s", err, names(store.KeptTurn, "other"))
		}
		if err := keep(store.KeptTurn, "other", "c", "3"); err != nil {
			t.Fatal(err)
		}
		all, err := s.Kept(t.Context(), store.KeptTurn)
		if err != nil || len(all) != 2 || all[0].Owner != "other" || all[1].Owner != "s" || all[1].Name != "b" {
			t.Errorf("of all owners: %v, %+v", err, all)
		}
		if err := change(func(tx *store.Tx) error { return tx.Delete(t.Context(), "s") }); err != nil {
			t.Fatal(err)
		}
		if got := names(store.KeptTurn, "s") + names(store.KeptRequest, "s"); got != "" {
			t.Error(got)
		}
		if names(store.KeptSetting, "s") == "" {
			t.Error("the setting of an agent went with a session")
		}
	})
}
