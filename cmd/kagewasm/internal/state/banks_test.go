package state_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/kagewasm/kagewasm/cmd/kagewasm/internal/state"
	"github.com/kagewasm/kagewasm/plugins/hindsight/bank"
)

// kept is a namespace as a bank writes it.
type kept struct {
	*testing.T
	kv state.Memory
}

func (k kept) Get(key string) (string, bool, error) { return k.kv.Get(k.Context(), "hindsight", key) }
func (k kept) Set(key, value string) error          { return k.kv.Set(k.Context(), "hindsight", key, value) }
func (k kept) Delete(key string) error              { return k.kv.Delete(k.Context(), "hindsight", key) }
func (k kept) List(prefix string) ([]string, error) {
	return k.kv.List(k.Context(), "hindsight", prefix)
}
func (k kept) Swap(key, expect, value string) error {
	return k.kv.Swap(k.Context(), "hindsight", key, expect, value)
}

// TestRepairBank: a bank of memories of which the root and its copy are gone is told,
// and rebuilt from the memories that stand elsewhere; one that stood nowhere else is
// told and left.
func TestRepairBank(t *testing.T) {
	tests := []struct {
		name     string
		memories int
		repaired bool
	}{{"with segments", 400, true}, {"in the root alone", 3, false}}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir() + "/state"
			kv, err := state.OpenMemory(dir, dir, func(string) {})
			if err != nil {
				t.Fatal(err)
			}
			in := kept{t, kv}
			b, err := bank.Open(in, "banks/main/")
			for i := 0; i < tt.memories && err == nil; i++ {
				text := fmt.Sprint("The box ", i, " stands in row ", i%7, strings.Repeat(" of the store", 8))
				_, err = b.Retain([]bank.Memory{{ID: fmt.Sprint(i), Session: "s", Author: "Ann", Text: text}})
			}
			for _, key := range []string{"banks/main/root", "banks/main/root.copy"} {
				if err == nil {
					err = in.Delete(key)
				}
			}
			if err == nil {
				err = in.Set("banks/main/t0123456789abcdef", "") // of a call that broke off
			}
			if err == nil {
				err = kv.Close()
			}
			if err != nil {
				t.Fatal(err)
			}
			told, err := state.Check(t.Context(), dir, dir)
			if err != nil || !strings.Contains(fmt.Sprint(told.Problems), "banks/main/root missing or damaged") {
				t.Fatalf("%v, %v", told, err)
			}
			done, err := state.Repair(t.Context(), dir, dir)
			if err != nil || done.Left() == 0 != tt.repaired {
				t.Fatalf("%v, %v", done, err)
			}
			if !tt.repaired {
				return
			}
			again, err := state.Check(t.Context(), dir, dir)
			if err != nil || again.Left() != 0 {
				t.Fatalf("after it %v, %v", again, err)
			}
			if kv, err = state.OpenMemory(dir, dir, func(string) {}); err != nil {
				t.Fatal(err)
			}
			defer kv.Close()
			b, err = bank.Open(kept{t, kv}, "banks/main/")
			if err != nil {
				t.Fatal(err)
			}
			hits, err := b.Recall(bank.Query{Text: "Where does box 17 stand?", Limit: 1})
			if err != nil || len(hits) != 1 || hits[0].ID != "17" {
				t.Errorf("it recalls %v, %v", hits, err)
			}
		})
	}
}
