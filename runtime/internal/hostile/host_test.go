package hostile_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/features"
	"github.com/kagewasm/kagewasm/internal/plugintest"
	"github.com/kagewasm/kagewasm/internal/soak"
	"github.com/kagewasm/kagewasm/internal/wasmtest"
	"github.com/kagewasm/kagewasm/runtime"
)

// work that a guest makes its host do is bounded, too.
func TestHostileHost(t *testing.T) {
	features.Proves(t, "N1")
	s := newSandbox(t, runtime.Options{Counter: plugintest.Bytes{}, KV: &plugintest.KV{Data: map[string]string{}}})
	s.tryAll(t, some(Host(), 14), abi.Limits{TimeoutMS: 300})
}

// Messages that are six times as long in JSON, asked for in every way that
// could make the host hold more of them than the guest may have.
func TestHostileMessages(t *testing.T) {
	s := newSandbox(t, runtime.Options{})
	const most = 4_500_000                 // takes nearly all memory, once escaped
	long := strings.Repeat("\x01", 2*most) // little beside what the host would make of it
	in := plugintest.HookInput()
	for i, n := range []int{most, 2 * most, most, most, most, most} {
		m := abi.Message{ID: fmt.Sprint("m", i), Role: abi.RoleUser, Content: abi.Text(long[:n])}
		switch i {
		case 2:
			m.Content = abi.Parts(abi.TextPart(m.Text()))
		case 3:
			m.Role, m.Content, m.ToolCalls = abi.RoleAssistant, abi.Text(""), []abi.ToolCall{{ID: "c", Name: "n",
				Arguments: m.Text()}}
		}
		in.Messages = append(in.Messages[:i:i], abi.InputMessage{Message: m})
	}
	tests := []struct{ name, ids string }{
		{"all", `"m0","m2","m3","m4","m5","m1"`}, {"one that fits", `"m0"`},
		{"one six times", `"m0","m0","m0","m0","m0","m0"`},
		{"a part", `"m2"`}, {"arguments", `"m3"`}, {"one that does not", `"m1"`},
	}
	for _, tt := range soak.Sample(tests, 2, len(tests)) {
		t.Run(tt.name, func(t *testing.T) {
			g := HostLoop("escaped messages", "what is escaped counts as long as it is", abi.OpMessagesGet,
				`{"ids":[`+tt.ids+`]}`)
			p, err := plugintest.Load(context.Background(), s.runtime, g.Wasm(), runtime.PluginOptions{Manifest: &lazy,
				Limits: abi.Limits{TimeoutMS: 300, MemoryMB: 32, HostCalls: 1 << 30}})
			if err != nil {
				t.Fatal(err)
			}
			bounded(t, p.Limits(), 300*time.Millisecond, func() {
				_, stats, err := p.Call(context.Background(), in)
				checkError(t, err, abi.CodeDeadline, abi.PhaseCall)
				if stats.HostCalls[abi.OpMessagesGet] == 0 {
					t.Error("nothing was asked for")
				}
			})
			if err := p.Close(context.Background()); err != nil {
				t.Error(err)
			}
		})
	}
}

// slowKV answers after a while, or when the time of the call is up.
type slowKV struct{ plugintest.KV }

func (k *slowKV) Get(ctx context.Context, ns, key string) (string, bool, error) {
	select {
	case <-ctx.Done():
		return "", false, ctx.Err()
	case <-time.After(time.Minute):
		return "", false, nil
	}
}

// A store that takes a minute does not keep a call from its deadline.
func TestHostileSlowStore(t *testing.T) {
	s := newSandbox(t, runtime.Options{KV: &slowKV{plugintest.KV{Data: map[string]string{}}}})
	s.try(t, HostLoop("wait", "for a store", abi.OpKVGet, `{"key":"k"}`, abi.CapKV), briefly)
}

// A guest that is good in its first calls, of which it has warm instances, is
// stopped when it is not, and good again: what it is in one call does not last.
func TestHostileLater(t *testing.T) {
	p := plugintest.MustLoad(t, plugintest.New(t, runtime.Options{}), wasmtest.Build(func(m *wasmtest.Module) {
		length := m.Import(abi.ImportModule, "input_length", nil, []wasmtest.Type{wasmtest.I32})
		write := m.OutputWrite()
		m.Memory(1, -1, "memory")
		m.Data(64, []byte(`{"inject":"good"}`))
		spoilt := m.Global(wasmtest.I32, true, wasmtest.Const32(0))
		m.Hook(Hook, nil,
			// Spoilt in the call before, in memory or a global?
			wasmtest.GetGlobal(spoilt), wasmtest.If(wasmtest.Unreachable),
			wasmtest.Const32(0), wasmtest.Load32, wasmtest.If(wasmtest.Unreachable),
			wasmtest.Const32(1), wasmtest.SetGlobal(spoilt), wasmtest.Const32(0), wasmtest.Const32(1), wasmtest.Store32,
			wasmtest.Call(length), wasmtest.Const32(1000), wasmtest.LtU32, []byte{0x45}, wasmtest.If(wasmtest.Forever()),
			wasmtest.Const32(64), wasmtest.Const32(17), wasmtest.Call(write))
	}), runtime.PluginOptions{Limits: briefly})
	good := func() {
		t.Helper()
		out, _, err := p.CallRaw(context.Background(), Hook, []byte("{}"))
		if err != nil || string(out) != `{"inject":"good"}` {
			t.Errorf("a good call: %q, %v", out, err)
		}
	}
	for range 5 {
		good()
	}
	time.Sleep(20 * time.Millisecond) // instances wait by now
	var wg sync.WaitGroup
	for range 3 { // more than wait
		wg.Go(func() {
			_, _, err := p.CallRaw(context.Background(), Hook, make([]byte, 2000))
			checkError(t, err, abi.CodeDeadline, abi.PhaseCall)
		})
	}
	good()
	wg.Wait()
	for range 5 {
		good()
	}
}

// lazy is the manifest of a plugin that fetches messages.
var lazy = abi.Manifest{
	Name: "lazy", ABI: abi.Version, Hooks: []abi.Hook{abi.HookPreCompact}, Content: abi.ContentLazy,
}
