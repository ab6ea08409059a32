package main

import (
	"fmt"
	"testing"

	kagewasm "github.com/kagewasm/kagewasm"
	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/abi/abitest"
	"github.com/kagewasm/kagewasm/internal/features"
	"github.com/kagewasm/kagewasm/internal/plugintest"
	"github.com/kagewasm/kagewasm/internal/wasmtest"
	"github.com/kagewasm/kagewasm/runtime"
	"github.com/kagewasm/kagewasm/tokens"
)

// TestHookInput: each hook gets its input whether or not a compaction is due,
// of a plugin that would fail if it were called.
func TestHookInput(t *testing.T) {
	features.Proves(t, "N6")
	counter, err := tokens.New(tokens.O200k, tokens.Options{})
	if err != nil {
		t.Fatal(err)
	}
	r, err := runtime.New(t.Context(), runtime.Options{Interpreter: true})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close(t.Context())
	msgs := abitest.Session(20)
	for i := range msgs {
		msgs[i].ID = "m" + string(rune('a'+i/26)) + string(rune('a'+i%26))
	}
	for _, hook := range abi.Hooks {
		p, err := plugintest.Load(t.Context(), r, wasmtest.Trap(string(hook)), runtime.PluginOptions{})
		if err != nil {
			t.Fatal(err)
		}
		for _, window := range []int{2_000, 1_000_000} {
			t.Run(fmt.Sprintf("%s in a window of %d", hook, window), func(t *testing.T) {
				req := kagewasm.Request{Session: abi.Session{ID: "s1", ContextWindow: &window}, Messages: msgs}
				in, err := inputOf(t.Context(), p, hook, kagewasm.Options{Counter: counter}, req)
				if err != nil || in.Hook != hook || in.Session.ID != "s1" || len(in.Messages) == 0 {
					t.Errorf("%s, window %d: %v, %+v", hook, window, err, in)
				}
			})
		}
	}
	p, err := plugintest.Load(t.Context(), r, wasmtest.Trap("pre_compact"), runtime.PluginOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if in, err := inputOf(t.Context(), p, abi.HookPreCompact, kagewasm.Options{Counter: counter},
		kagewasm.Request{Session: abi.Session{ID: "s1"}}); abi.CodeOf(err) != abi.CodeUsage {
		t.Errorf("of no messages: %+v, %v", in, err)
	}
}
