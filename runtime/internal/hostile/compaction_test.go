package hostile_test

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/kagewasm/kagewasm/internal/hosttest"

	kagewasm "github.com/kagewasm/kagewasm"
	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/hooks"
	"github.com/kagewasm/kagewasm/internal/features"
	"github.com/kagewasm/kagewasm/internal/plugintest"
	"github.com/kagewasm/kagewasm/runtime"
	"github.com/kagewasm/kagewasm/store/kv"
)

// whatever a plugin does, as the compactor and as an observer, the
// compaction is completed by another way, no message is lost, and the report
// names each failure with code, plugin, hook and phase.
func TestCompactionCompletes(t *testing.T) {
	features.Proves(t, "N1")
	ctx := context.Background()
	kv := kv.NewMemory(kv.Options{})
	rt, err := runtime.New(ctx, runtime.Options{KV: kv, Counter: hosttest.Words{}})
	if err != nil {
		t.Fatal(err)
	}
	defer rt.Close(ctx)
	msgs := hosttest.Chat(60)
	guests := slices.DeleteFunc(All(), func(g Guest) bool {
		return g.Code == abi.CodeRefused || g.OrRefused // it never gets to a session
	})
	for _, g := range some(guests, 6) {
		t.Run(g.Name, func(t *testing.T) {
			wasm := g.Wasm()
			var list []hooks.Plugin
			for _, role := range []abi.PluginRole{abi.RoleCompactor, abi.RoleObserver} {
				m := g.Manifest()
				if m == nil {
					m = &abi.Manifest{ABI: abi.Version, Hooks: []abi.Hook{abi.HookPreCompact}}
				}
				m.Name, m.Roles = string(role), []abi.PluginRole{role}
				timeout, memory := 30, 0
				if strings.HasPrefix(g.Name, "answer: ") {
					memory = 16
				}
				if g.Code != abi.CodeDeadline {
					timeout = 5_000
				}
				p, err := plugintest.Load(ctx, rt, wasm, runtime.PluginOptions{Manifest: m, Grants: plugintest.GrantAll(m),
					Limits: abi.Limits{TimeoutMS: timeout, MemoryMB: memory}})
				if err != nil {
					t.Fatal(err)
				}
				defer p.Close(ctx)
				list = append(list, p)
			}
			r, err := hosttest.New(t, kagewasm.Options{Plugins: list, Memory: kv}).Compact(ctx, hosttest.Request(400,
				slices.Clone(msgs)))
			if err != nil {
				t.Fatalf("%s: %v", g.Why, err)
			}
			checkCompleted(t, &g, &r.Report, msgs)
		})
	}
}

func checkCompleted(t *testing.T, g *Guest, r *kagewasm.Report, msgs []abi.Message) {
	harmless := g.Code == "" && g.Judged == "" // a compactor that says nothing of use
	if !r.Compacted || r.Fallback == harmless || r.Strategy != "drop" || r.TokensAfter > r.Target {
		t.Errorf("compacted %v, fallback %v, by %s, %d tokens of %d", r.Compacted, r.Fallback, r.Strategy, r.TokensAfter,
			r.Target)
	}
	for _, m := range msgs {
		if !slices.Contains(r.Kept, m.ID) && !slices.Contains(r.Superseded, m.ID) {
			t.Errorf("message %s is gone", m.ID)
		}
	}
	if harmless {
		return
	}
	roles := []abi.PluginRole{abi.RoleCompactor, abi.RoleObserver}
	if g.Judged != "" {
		roles = roles[:1] // what an observer proposes is not looked at
	}
	for _, name := range roles {
		if !slices.ContainsFunc(r.Failures, func(e *abi.Error) bool {
			return e.Plugin == string(name) && e.Code == cmp.Or(g.Judged, g.Code) && e.Hook == abi.HookPreCompact &&
				e.Phase != "" &&
				e.Message != ""
		}) {
			t.Errorf("no failure of %s with code %s: %v (%s)", name, cmp.Or(g.Judged, g.Code), r.Failures, g.Why)
		}
	}
}
