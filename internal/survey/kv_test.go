package survey_test

import (
	"context"
	"slices"
	"testing"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/features"
	"github.com/kagewasm/kagewasm/internal/survey"
	"github.com/kagewasm/kagewasm/store/kv"
)

// script is a plugin in Go that uses the storage of a survey.
type script struct {
	t  *testing.T
	kv abi.KV
}

func (script) Manifest() *abi.Manifest     { return &abi.Manifest{Name: "script", Version: "1", ABI: 1} }
func (script) Hooks() []abi.Hook           { return []abi.Hook{abi.HookPreCompact} }
func (script) Digest() string              { return "" }
func (script) Granted(abi.Capability) bool { return false }

func (s script) Call(ctx context.Context, _ *abi.Input) (*abi.Output, abi.CallStats, error) {
	value := func(key, want string) {
		if v, found, err := s.kv.Get(ctx, "script", key); v != want || found != (want != "") || err != nil {
			s.t.Errorf("%s: %q, %v, %v, want %q", key, v, found, err, want)
		}
	}
	keys := func(want ...string) {
		if k, err := s.kv.List(ctx, "script", ""); !slices.Equal(k, want) || err != nil {
			s.t.Errorf("keys %v, %v, want %v", k, err, want)
		}
	}
	must := func(err error) {
		if err != nil {
			s.t.Error(err)
		}
	}
	keys("a", "b")
	value("a", "kept a")
	must(s.kv.Set(ctx, "script", "a", "new a"))
	must(s.kv.Set(ctx, "script", "c", "new c"))
	must(s.kv.Delete(ctx, "script", "b"))
	value("a", "new a")
	value("b", "")
	keys("a", "c")
	must(s.kv.Set(ctx, "script", "b", "again"))
	value("b", "again")
	keys("a", "b", "c")
	return nil, abi.CallStats{}, nil
}

// TestDevMemory: each session begins with what the base holds, sees what is
// stored in it alone, and leaves the base as it was.
func TestDevMemory(t *testing.T) {
	features.Proves(t, "N6")
	base := kv.NewMemory(kv.Options{})
	for key, value := range map[string]string{"a": "kept a", "b": "kept b"} {
		t.Run(key, func(t *testing.T) {
			if err := base.Set(t.Context(), "script", key, value); err != nil {
				t.Fatal(err)
			}
		})
	}
	sessions := []*survey.Session{work("one", 12, "ok"), work("two", 12, "ok"), work("three", 12, "ok")}
	s, err := survey.Run(t.Context(), script{t, survey.KV(base)}, sessions, options())
	if err != nil || s.Totals.Calls != 3 {
		t.Fatalf("%+v, %v", s, err)
	}
	if v, _, err := base.Get(t.Context(), "script", "a"); v != "kept a" || err != nil {
		t.Errorf("the base has %q, %v", v, err)
	}
	if keys, err := base.List(t.Context(), "script", ""); !slices.Equal(keys, []string{"a", "b"}) || err != nil {
		t.Errorf("the base has %v, %v", keys, err)
	}
}
