package runtime_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/features"
	"github.com/kagewasm/kagewasm/internal/plugintest"
	"github.com/kagewasm/kagewasm/internal/wasmtest"
	"github.com/kagewasm/kagewasm/runtime"
)

// slowKV takes a while to look up what the guest asks for.
type slowKV struct {
	*plugintest.KV
	takes time.Duration
}

func (k slowKV) Get(ctx context.Context, ns, key string) (string, bool, error) {
	if key != "a" {
		return k.KV.Get(ctx, ns, key)
	}
	select {
	case <-time.After(k.takes):
		return "", false, nil
	case <-ctx.Done():
		return "", false, ctx.Err()
	}
}

// TestPluginsThatPlanHaveTheTimeOfAModel: a guest that makes the compaction has the same time
// limit as the default compaction; one that only watches has less.
func TestPluginsThatPlanHaveTheTimeOfAModel(t *testing.T) {
	features.Proves(t, "O6")
	for _, tc := range []struct {
		name  string
		roles []abi.PluginRole
		asks  abi.Capability
		limit time.Duration
	}{
		{"a compactor", []abi.PluginRole{abi.RoleCompactor}, "", 5 * time.Minute},
		{"both", []abi.PluginRole{abi.RoleObserver, abi.RoleCompactor}, "", 5 * time.Minute},
		{"an observer that may give the summary", nil, abi.CapCompactionSummary, 5 * time.Minute},
		{"an observer that may ask a model", nil, abi.CapModel, 5 * time.Minute},
		{"an observer", nil, "", 10 * time.Second},
	} {
		for takes, code := range map[time.Duration]abi.Code{tc.limit - time.Second: "", tc.limit +
			time.Second: abi.CodeDeadline} {
			t.Run(tc.name+", "+takes.String(), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					m := plugintest.Asks(abi.CapKV)
					m.Roles = tc.roles
					grants := runtime.Grants{KV: true}
					if tc.asks != "" {
						m.Capabilities[tc.asks] = abi.Request{Reason: "to test it"}
						if err := grants.Grant(tc.asks); err != nil {
							t.Fatal(err)
						}
					}
					r, err := runtime.New(t.Context(), runtime.Options{KV: slowKV{&plugintest.KV{Data: map[string]string{}}, takes}})
					if err != nil {
						t.Fatal(err)
					}
					defer r.Close(context.Background())
					p := plugintest.MustLoad(t, r, wasmtest.HostCall(pre, string(abi.OpKVGet), `{"key":"a"}`),
						runtime.PluginOptions{Manifest: m, Grants: grants, Warm: -1})
					start := time.Now()
					_, stats, err := p.Call(t.Context(), plugintest.HookInput())
					if got := abi.CodeOf(err); (got == abi.CodeDeadline) != (code == abi.CodeDeadline) {
						t.Errorf("after %v: %v", time.Since(start), err)
					}
					if stats.Limits.TimeoutMS != int(tc.limit.Milliseconds()) {
						t.Errorf("the limit told is %d ms", stats.Limits.TimeoutMS)
					}
				})
			})
		}
	}
}
