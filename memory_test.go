package kagewasm_test

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"

	kagewasm "github.com/kagewasm/kagewasm"
	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/hooks"
	"github.com/kagewasm/kagewasm/internal/plugintest"
	"github.com/kagewasm/kagewasm/internal/wasmtest"
	"github.com/kagewasm/kagewasm/runtime"
	"github.com/kagewasm/kagewasm/store/kv"
)

// placed is a plugin that knows where its data lies.
type placed struct {
	*fakePlugin
	err error
}

func (p placed) Namespace(_ context.Context, agentPath string) (string, error) {
	return abi.AgentNamespace("elsewhere", agentPath), p.err
}

// TestRetainedFactsLieWithTheRest of the plugin's data: where the plugin says,
// and where the agent's are.
func TestRetainedFactsLieWithTheRest(t *testing.T) {
	retains := func() *fakePlugin {
		return &fakePlugin{Name: "obs", Pre: answers(&abi.Output{Retain: []string{"the port is 8080"}})}
	}
	for _, tc := range []struct {
		name   string
		plugin hooks.Plugin
		agent  string
		want   string
	}{
		{"by name", retains(), "", "obs/"},
		{"by name, of an agent", retains(), "main/reviewer", abi.AgentNamespace("obs", "main/reviewer") + "/"},
		{"placed", placed{fakePlugin: retains()}, "", "elsewhere/"},
		{"placed, of an agent", placed{fakePlugin: retains()}, "main/reviewer",
			abi.AgentNamespace("elsewhere", "main/reviewer") + "/"},
		{"no place", placed{fakePlugin: retains(), err: errors.New("whose?")}, "", ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			mem := memory{}
			req := request(400, chat(60))
			req.Session.AgentPath = tc.agent
			r := compact(t, newCompactor(t, kagewasm.Options{Plugins: plugins(tc.plugin), Memory: mem}), req).Report
			keys := slices.Collect(maps.Keys(mem))
			if tc.want == "" {
				if len(keys) > 0 || len(r.Failures) != 1 || r.Failures[0].Op != "retain" {
					t.Errorf("stored %v nowhere known: %+v", keys, r.Failures)
				}
				return
			}
			if len(keys) != 1 || !strings.HasPrefix(keys[0], tc.want+abi.RetainedPrefix) || len(r.Failures) > 0 {
				t.Errorf("agent %q: stored %v, want it in %s, failures %v", tc.agent, keys, tc.want, r.Failures)
			}
		})
	}
}

// TestOtherModuleRetainsApart: a module that takes another's name retains in a
// namespace of its own, and the report says so.
func TestOtherModuleRetainsApart(t *testing.T) {
	kv := kv.NewMemory(kv.Options{})
	ctx := t.Context()
	rt, err := runtime.New(ctx, runtime.Options{KV: kv})
	if err != nil {
		t.Fatal(err)
	}
	defer rt.Close(ctx)
	for i, fact := range []string{"the first", "the second"} {
		t.Run(fact, func(t *testing.T) {
			wasm := wasmtest.WithManifest(wasmtest.Answer("pre_compact", `{"retain":["`+fact+`"]}`),
				`{"name":"obs","version":"1","abi":1}`)
			p, err := plugintest.Load(ctx, rt, wasm, runtime.PluginOptions{})
			if err != nil {
				t.Fatal(err)
			}
			r := compact(t, newCompactor(t, kagewasm.Options{Plugins: plugins(p), Memory: kv}), request(400, chat(60))).Report
			ns := "obs"
			if i > 0 {
				ns = abi.NamespaceOf("obs", p.Digest())
			}
			keys, err := kv.List(ctx, ns, abi.RetainedPrefix)
			if err != nil || len(keys) != 1 {
				t.Errorf("%v in %s, %v", keys, ns, err)
			}
			if told := len(r.Hooks[0].Warnings) == 1 && strings.Contains(r.Hooks[0].Warnings[0], ns); told != (i > 0) {
				t.Errorf("warnings %q", r.Hooks[0].Warnings)
			}
		})
	}
}

// TestRetainedIsStored: what could not be stored is a failure, and is not listed
// as retained.
func TestRetainedIsStored(t *testing.T) {
	first := &fakePlugin{Name: "first", Pre: answers(&abi.Output{Retain: []string{"a", "b"}})}
	other := &fakePlugin{Name: "other", Pre: answers(&abi.Output{Retain: []string{"c"}})}
	kv := refusing{memory{}, "first"}
	r := compact(t, newCompactor(t, kagewasm.Options{Plugins: plugins(first, other), Memory: kv}),
		request(400, chat(60))).Report
	if len(r.Retained) != 1 || r.Retained[0].Text != "c" {
		t.Errorf("retained %v", r.Retained)
	}
	if len(r.Failures) != 1 || r.Failures[0].Code != abi.CodeState || r.Failures[0].Plugin != "first" || !r.Compacted {
		t.Errorf("%+v", r.Failures)
	}
}

// refusing is a memory that is full for a plugin.
type refusing struct {
	memory
	plugin string
}

func (r refusing) Set(ctx context.Context, ns, key, value string) error {
	if ns == r.plugin {
		return errors.New("no space left on device")
	}
	return r.memory.Set(ctx, ns, key, value)
}
