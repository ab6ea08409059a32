package kv_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"pgregory.net/rapid"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/features"
	"github.com/kagewasm/kagewasm/internal/pgtest"
	"github.com/kagewasm/kagewasm/store"
	"github.com/kagewasm/kagewasm/store/kv"
)

// storage is what the runtime asks of a plugin's storage.
type storage interface {
	Get(ctx context.Context, ns, key string) (string, bool, error)
	Set(ctx context.Context, ns, key, value string) error
	Swap(ctx context.Context, ns, key, expect, value string) error
	Delete(ctx context.Context, ns, key string) error
	Apply(ctx context.Context, ns string, changes []kv.Change) error
	List(ctx context.Context, ns, prefix string) ([]string, error)
	Close() error
}

// backends makes an empty KV of each kind.
var backends = map[string]func(t testing.TB, opts kv.Options) storage{
	"memory": func(_ testing.TB, opts kv.Options) storage { return kv.NewMemory(opts) },
	"files":  func(t testing.TB, opts kv.Options) storage { return openKV(t, t.TempDir(), opts) },
	"SQLite": func(t testing.TB, opts kv.Options) storage {
		return openTable(t, filepath.Join(t.TempDir(), "kagewasm.db"), opts)
	},
	"PostgreSQL": func(t testing.TB, opts kv.Options) storage { return openTable(t, pgtest.Database(t), opts) },
}

// openTable opens what plugins keep in a database.
func openTable(t testing.TB, database string, opts kv.Options) *kv.Table {
	t.Helper()
	s, err := store.Open(t.Context(), database, store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s.Memory(opts)
}

func openKV(t testing.TB, dir string, opts kv.Options) *kv.Folder {
	t.Helper()
	s, err := kv.Open(dir, opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

func onAll(t *testing.T, opts kv.Options, test func(t *testing.T, s storage)) {
	for name, open := range backends {
		t.Run(name, func(t *testing.T) { test(t, open(t, opts)) })
	}
}

// oddKeys are keys that a careless mapping to files loses or mixes up.
var oddKeys = []string{
	"a", "a/b", "a/b/c", "a.kv", "a.kv/b", "a%2Ekv", "a.kv.kv", "a.", "a./b", ".a", ".a/b", "...", ".../...", "a..b",
	"A", "MEMORY.md", "facts/x.md", "facts/x.md/y", "facts", "with space", "with space/ ", "π/ключ", "~", "a~", "a~/b",
	"%", "%/%25",
	"con", "a:b", `back\slash`, `quote"'`, "*?<>|", ".tmp-0123", "-", "_",
	strings.Repeat("k", 512), strings.Repeat("k", 512-5) + "/a.md", strings.Repeat("k", 500) + ".md",
	strings.Repeat("é", 256),
	strings.Repeat("x/", 15) + "x", strings.Repeat("k", 200), strings.Repeat("k", 200) + "/k", strings.Repeat("k", 201),
	strings.Repeat("k", 200) + "k/k",
	strings.Repeat("d.", 150), strings.Repeat("k", 197) + ".md", strings.Repeat("k", 198) + ".md",
}

func TestKVOddKeys(t *testing.T) {
	onAll(t, kv.Options{}, func(t *testing.T, s storage) {
		for _, k := range oddKeys {
			if err := s.Set(t.Context(), "p", k, "value of "+k); err != nil {
				t.Fatal(err)
			}
		}
		for _, k := range oddKeys {
			if v, ok, err := s.Get(t.Context(), "p", k); v != "value of "+k || !ok || err != nil {
				t.Errorf("get %.40q: %.40q, %v, %v", k, v, ok, err)
			}
		}
		keys, err := s.List(t.Context(), "p", "")
		if want := slices.Sorted(slices.Values(oddKeys)); !slices.Equal(keys, want) || err != nil {
			t.Errorf("list: %q\nwant %q\n%v", keys, want, err)
		}
		for _, k := range oddKeys {
			if err := s.Delete(t.Context(), "p", k); err != nil {
				t.Errorf("delete %q: %v", k, err)
			}
			if _, ok, _ := s.Get(t.Context(), "p", k); ok {
				t.Errorf("delete %q: still there", k)
			}
		}
		if keys, err := s.List(t.Context(), "p", ""); len(keys) > 0 || err != nil {
			t.Errorf("list after delete: %q, %v", keys, err)
		}
	})
}

func TestKVRefuses(t *testing.T) {
	canceled, cancel := context.WithCancel(t.Context())
	cancel()
	onAll(t, kv.Options{}, func(t *testing.T, s storage) {
		for _, c := range []struct {
			why         string
			ctx         context.Context
			ns, key, in string
			code        abi.Code
		}{
			{"traversal in a key", t.Context(), "p", "../q/x", "", abi.CodeUsage},
			{"an absolute key", t.Context(), "p", "/etc/passwd", "", abi.CodeUsage},
			{"an empty key", t.Context(), "p", "", "", abi.CodeUsage},
			{"a key of 513 bytes", t.Context(), "p", strings.Repeat("k", 513), "", abi.CodeUsage},
			{"traversal in a namespace", t.Context(), "..", "x", "", abi.CodeUsage},
			{"a namespace that is two", t.Context(), "p/q", "x", "", abi.CodeUsage},
			{"no namespace", t.Context(), "", "x", "", abi.CodeUsage},
			{"a value that is not text", t.Context(), "p", "x", "\xff", abi.CodeUsage},
			{"a value over 1 MiB", t.Context(), "p", "x", strings.Repeat("v", 1<<20+1), abi.CodeQuota},
			{"a caller that gave up", canceled, "p", "x", "", abi.CodeCanceled},
		} {
			t.Run(c.why, func(t *testing.T) {
				if err := s.Set(c.ctx, c.ns, c.key, c.in); abi.CodeOf(err) != c.code {
					t.Errorf("set: %s: %v", c.why, err)
				}
				if c.in != "" {
					return
				}
				if _, _, err := s.Get(c.ctx, c.ns, c.key); abi.CodeOf(err) != c.code {
					t.Errorf("get: %s: %v", c.why, err)
				}
				if err := s.Delete(c.ctx, c.ns, c.key); abi.CodeOf(err) != c.code {
					t.Errorf("delete: %s: %v", c.why, err)
				}
			})
		}
		if _, err := s.List(t.Context(), "../p", ""); abi.CodeOf(err) != abi.CodeUsage {
			t.Errorf("list: %v", err)
		}
		for _, prefix := range []string{"../", "/", "a//", strings.Repeat("k", 600) + "/"} {
			t.Run(fmt.Sprintf("prefix %.20q", prefix), func(t *testing.T) {
				if keys, err := s.List(t.Context(), "p", prefix); len(keys) > 0 || err != nil {
					t.Errorf("list of a prefix no key can have, %.20q: %q, %v", prefix, keys, err)
				}
			})
		}
	})
}

func TestKVNamespacesAreSeparate(t *testing.T) {
	onAll(t, kv.Options{}, func(t *testing.T, s storage) {
		if err := s.Set(t.Context(), "a", "x", "1"); err != nil {
			t.Fatal(err)
		}
		// Of another module, of an agent, and the host's own.
		for _, ns := range []string{"a+0123456789ab", "a@agent-0123456789ab", "_lineage"} {
			t.Run(ns, func(t *testing.T) {
				if err := s.Set(t.Context(), ns, "x", ns); err != nil {
					t.Errorf("%v", err)
				}
				if v, ok, err := s.Get(t.Context(), ns, "x"); v != ns || !ok || err != nil {
					t.Errorf("%q, %v, %v", v, ok, err)
				}
			})
		}
		if v, _, _ := s.Get(t.Context(), "a", "x"); v != "1" {
			t.Errorf("a: %q", v)
		}
		if _, ok, err := s.Get(t.Context(), "b", "x"); ok || err != nil {
			t.Errorf("get: %v, %v", ok, err)
		}
		if keys, err := s.List(t.Context(), "b", ""); len(keys) > 0 || err != nil {
			t.Errorf("list: %q, %v", keys, err)
		}
		if err := s.Delete(t.Context(), "b", "x"); err != nil {
			t.Error(err)
		}
		if _, ok, _ := s.Get(t.Context(), "a", "x"); !ok {
			t.Error("deleted through another namespace")
		}
	})
}

func TestKVQuotas(t *testing.T) {
	onAll(t, kv.Options{MaxKeys: 3, MaxBytes: 10, MaxValueBytes: 8}, func(t *testing.T, s storage) {
		for i, step := range []struct {
			why, op, key, value string
			ok                  bool
		}{
			{"first", "set", "a", "12345678", true},
			{"a value too long", "set", "b", "123456789", false},
			{"too many bytes in all", "set", "b", "123", false},
			{"just what is left", "set", "b", "12", true},
			{"a shorter value makes room", "set", "a", "1234", true},
			{"third", "set", "c", "", true},
			{"too many keys", "set", "d", "", false},
			{"not a new key", "set", "c", "1", true},
			{"makes room", "delete", "b", "", true},
			{"now it fits", "set", "d", "12345", true},
			{"and no more", "set", "d", "123456", false},
		} {
			t.Run(step.why, func(t *testing.T) {
				err := s.Set(t.Context(), "p", step.key, step.value)
				if step.op == "delete" {
					err = s.Delete(t.Context(), "p", step.key)
				}
				if (err == nil) != step.ok || err != nil && abi.CodeOf(err) != abi.CodeQuota {
					t.Fatalf("step %d, %s: %v", i, step.why, err)
				}
			})
		}
		if err := s.Set(t.Context(), "other", "a", "12345678"); err != nil {
			t.Errorf("another namespace has quotas of its own: %v", err)
		}
	})
}

// TestKVModel compares a KV with a map over random operations.
func TestKVModel(t *testing.T) {
	segment := rapid.OneOf(rapid.SampledFrom([]string{"a", "b", "a.md", "a.kv", ".", "..", "", "~", "%41"}),
		rapid.String())
	key := rapid.Custom(func(t *rapid.T) string {
		return strings.Join(rapid.SliceOfN(segment, 1, 4).Draw(t, "segments"), "/")
	})
	onAll(t, kv.Options{}, func(t *testing.T, s storage) {
		round := 0
		rapid.Check(t, func(t *rapid.T) {
			round++
			ns, model := fmt.Sprint("n", round), map[string]string{}
			for range rapid.IntRange(1, 12).Draw(t, "ops") {
				k, v := key.Draw(t, "key"), rapid.String().Draw(t, "value")
				bad := abi.CheckKey(k) != nil
				if rapid.Bool().Draw(t, "set") {
					if err := s.Set(t.Context(), ns, k, v); (err != nil) != bad {
						t.Fatalf("set %q: %v", k, err)
					}
					if !bad {
						model[k] = v
					}
				} else if err := s.Delete(t.Context(), ns, k); (err != nil) != bad {
					t.Fatalf("delete %q: %v", k, err)
				} else {
					delete(model, k)
				}
			}
			prefix := key.Draw(t, "prefix")
			var want []string
			for _, k := range slices.Sorted(maps.Keys(model)) {
				if strings.HasPrefix(k, prefix) {
					want = append(want, k)
				}
				if v, ok, err := s.Get(t.Context(), ns, k); v != model[k] || !ok || err != nil {
					t.Fatalf("get %q: %q, %v, %v", k, v, ok, err)
				}
			}
			if got, err := s.List(t.Context(), ns, prefix); !slices.Equal(got, want) || err != nil {
				t.Fatalf("list %q: %q, want %q, %v", prefix, got, want, err)
			}
		})
	})
}

func TestKVConcurrentUse(t *testing.T) {
	onAll(t, kv.Options{}, func(t *testing.T, s storage) { hammer(t, s, s) })
}

// hammer sets, reads and deletes the same keys from all sides, and fails where
// a value is ever seen that nobody wrote.
func hammer(t *testing.T, sides ...storage) {
	long := strings.Repeat("x", 10_000)
	var wg sync.WaitGroup
	for g := range 4 {
		s := sides[g%len(sides)]
		wg.Go(func() {
			for i := range 25 {
				key := fmt.Sprintf("shared/%d/k", i%3)
				var err error
				switch (g + i) % 4 {
				case 0, 1:
					err = s.Set(t.Context(), "p", key, key+long)
				case 2:
					err = s.Delete(t.Context(), "p", key)
				case 3:
					var v string
					var ok bool
					if v, ok, err = s.Get(t.Context(), "p", key); ok && v != key+long {
						err = errors.New("half a value")
					}
					if err == nil {
						_, err = s.List(t.Context(), "p", "shared/")
					}
				}
				if err != nil {
					t.Errorf("round %d: %v", i, err)
				}
			}
		})
	}
	wg.Wait()
}

func TestKVSwap(t *testing.T) {
	onAll(t, kv.Options{MaxValueBytes: 10}, func(t *testing.T, s storage) {
		for i, step := range []struct {
			expect, value string
			code          abi.Code
			after         string
		}{
			{"x", "1", abi.CodeConflict, ""}, // nothing stands there
			{"", "1", "", "1"},
			{"", "2", abi.CodeConflict, "1"},
			{"1", "2", "", "2"},
			{"1", "3", abi.CodeConflict, "2"},
			{"2", strings.Repeat("v", 11), abi.CodeQuota, "2"},
			{"2", "", "", ""},
			{"", "4", "", "4"}, // an empty value is as none
		} {
			t.Run(fmt.Sprintf("%q to %q", step.expect, step.value), func(t *testing.T) {
				err := s.Swap(t.Context(), "p", "a/b.md", step.expect, step.value)
				v, _, getErr := s.Get(t.Context(), "p", "a/b.md")
				if abi.CodeOf(err) != step.code || v != step.after || getErr != nil {
					t.Errorf("step %d: %v, then %q, %v", i, err, v, getErr)
				}
			})
		}
	})
}

func TestKVSwapLosesNothing(t *testing.T) {
	features.Proves(t, "K28")
	onAll(t, kv.Options{}, func(t *testing.T, s storage) { appendAll(t, s, s) })
}

// appendAll appends lines to one key from all sides, and fails where one is
// lost.
func appendAll(t *testing.T, sides ...storage) {
	const writers, lines = 4, 10
	var wg sync.WaitGroup
	for g := range writers {
		s := sides[g%len(sides)]
		wg.Go(func() {
			for i := range lines {
				for {
					old, _, err := s.Get(t.Context(), "p", "log.md")
					if err == nil {
						err = s.Swap(t.Context(), "p", "log.md", old, old+fmt.Sprintln(g, i))
					}
					if err == nil {
						break
					}
					if abi.CodeOf(err) != abi.CodeConflict {
						t.Error(err)
						return
					}
				}
			}
		})
	}
	wg.Wait()
	got, _, err := sides[0].Get(t.Context(), "p", "log.md")
	seen := make(map[string]bool)
	for l := range strings.Lines(got) {
		seen[l] = true
	}
	if err != nil || len(seen) != writers*lines || strings.Count(got, "\n") != writers*lines {
		t.Errorf("%d different lines of %d, %v:\n%s", len(seen), writers*lines, err, got)
	}
}

// TestKVApply: changes are made together or not at all.
func TestKVApply(t *testing.T) {
	features.Proves(t, "K28")
	one, none := "1", ""
	start := map[string]string{"a/b.md": "1", "gone.md": "x"}
	for name, c := range map[string]struct {
		changes []kv.Change
		code    abi.Code
		after   map[string]string
	}{
		"set, swap and delete": {[]kv.Change{{Key: "a/b.md", Value: "2", Expect: &one},
			{Key: "c/d/e", Value: "3", Expect: &none}, {Key: "gone.md", Delete: true}, {Key: "never.md", Delete: true}}, "",
			map[string]string{"a/b.md": "2", "c/d/e": "3"}},
		"nothing": {nil, "", start},
		"one is not expected": {[]kv.Change{{Key: "new.md", Value: "2"}, {Key: "a/b.md", Value: "2", Expect: &none}},
			abi.CodeConflict, start},
		"one too long": {[]kv.Change{{Key: "new.md", Value: "2"},
			{Key: "b.md", Value: strings.Repeat("v", 11)}}, abi.CodeQuota, start},
		"too many together": {[]kv.Change{{Key: "1", Value: "2"}, {Key: "2", Value: "2"}, {Key: "3", Value: "2"}},
			abi.CodeQuota, start},
		"too long together": {[]kv.Change{{Key: "1", Value: "1234567890"}, {Key: "2", Value: "1234567890"}},
			abi.CodeQuota, start},
		"just enough": {[]kv.Change{{Key: "1", Value: "1234567890"}, {Key: "2", Value: "1234567890"},
			{Key: "gone.md", Delete: true}}, "", map[string]string{"a/b.md": "1", "1": "1234567890", "2": "1234567890"}},
		"no key": {[]kv.Change{{Key: "new.md", Value: "2"}, {Key: "../x", Value: "2"}}, abi.CodeUsage, start},
	} {
		t.Run(name, func(t *testing.T) {
			onAll(t, kv.Options{MaxValueBytes: 10, MaxBytes: 21, MaxKeys: 4}, func(t *testing.T, s storage) {
				for k, v := range start {
					if err := s.Set(t.Context(), "p", k, v); err != nil {
						t.Fatal(err)
					}
				}
				err := s.Apply(t.Context(), "p", c.changes)
				got := make(map[string]string)
				keys, listErr := s.List(t.Context(), "p", "")
				for _, k := range keys {
					got[k], _, _ = s.Get(t.Context(), "p", k)
				}
				if abi.CodeOf(err) != c.code || !maps.Equal(got, c.after) || listErr != nil {
					t.Errorf("%v, and there is %q, %v", err, got, listErr)
				}
			})
		})
	}
}
