package runtime_test

import (
	"bytes"
	"context"
	"encoding/json"
	"reflect"
	"testing"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/plugintest"
	"github.com/kagewasm/kagewasm/internal/wasmtest"
	"github.com/kagewasm/kagewasm/runtime"
)

func seeds() [][]byte {
	return [][]byte{
		wasmtest.Answer(pre, `{}`), wasmtest.Echo(pre), wasmtest.ExtismEcho(pre), wasmtest.Loop(pre),
		wasmtest.WithManifest(wasmtest.Nothing(pre), `{"name":"x","abi":1}`),
		build(func(m *module) { m.Table(1, 10); m.Table(2, -1); withHook(m); m.FuncNames("a") }),
		build(func(m *module) { m.Memory(1, 2, "memory"); m.Start(m.Func(nil, nil, nil)); withHook(m) }),
	}
}

// Bytes that are loaded and called, whatever they are, end in an answer or in
// an error with a code.
func FuzzLoad(f *testing.F) {
	for _, s := range seeds() {
		f.Add(s)
	}
	r, err := runtime.New(context.Background(), runtime.Options{Interpreter: true})
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, wasm []byte) {
		ctx := context.Background()
		p, err := plugintest.Load(ctx, r, wasm, runtime.PluginOptions{AnyExport: true, Limits: abi.Limits{TimeoutMS: 50, MemoryMB: 2}})
		if err != nil {
			if c := abi.CodeOf(err); c != abi.CodeRefused && c != abi.CodeBadInput {
				t.Fatal(err)
			}
			return
		}
		defer p.Close(ctx)
		p.Info()
		for _, h := range p.Hooks() {
			if _, _, err := p.Call(ctx, &abi.Input{Hook: h}); abi.CodeOf(err) == abi.CodeInternal {
				t.Fatal(abi.AsError(err).Err)
			}
		}
	})
}

// A module that is detached stays a module, and answers as it does when it is
// left as it is: started, restored and restored again.
func FuzzRestored(f *testing.F) {
	for _, s := range append(seeds(), busyStart(), wasmtest.Log(pre, "x"), wasmtest.EatMemory(pre)) {
		f.Add(s)
	}
	r, err := runtime.New(context.Background(), runtime.Options{Interpreter: true})
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, wasm []byte) {
		ctx, o := context.Background(), runtime.PluginOptions{Limits: abi.Limits{TimeoutMS: 100, MemoryMB: 2}}
		attached, err := runtime.Attached(r, wasm, o)
		if err != nil {
			return
		}
		defer attached.Close(ctx)
		p, err := plugintest.Load(ctx, r, wasm, o)
		if err != nil {
			t.Fatalf("it loads attached alone: %v", err)
		}
		defer p.Close(ctx)
		for _, h := range p.Hooks() {
			want, _, wantErr := attached.CallRaw(ctx, string(h), []byte("input"))
			for n := range 3 {
				out, _, err := p.CallRaw(ctx, string(h), []byte("input"))
				code, wantCode := abi.CodeOf(err), abi.CodeOf(wantErr)
				if code == abi.CodeDeadline || wantCode == abi.CodeDeadline {
					return // the machine was busy
				}
				if wantCode == abi.CodeInternal && code == abi.CodeTrap {
					continue // the engine has no name for data outside of the memory
				}
				if code != wantCode || !bytes.Equal(out, want) {
					t.Fatalf("call %d of %s: %q, %v, want %q, %v", n, h, out, err, want, wantErr)
				}
			}
		}
	})
}

// Embedding a manifest into any module that parses can be read back.
func FuzzEmbedManifest(f *testing.F) {
	for _, s := range seeds() {
		f.Add(s)
	}
	m := &abi.Manifest{Name: "x", ABI: 1, Roles: []abi.PluginRole{abi.RoleObserver}}
	f.Fuzz(func(t *testing.T, wasm []byte) {
		out, err := runtime.EmbedManifest(wasm, m)
		if err != nil {
			if abi.CodeOf(err) != abi.CodeRefused {
				t.Fatal(err)
			}
			return
		}
		got, err := runtime.Open(out)
		if err != nil || !reflect.DeepEqual(got.Manifest(), m) {
			t.Fatalf("%+v, %v", got, err)
		}
	})
}

// What is decoded from a guest's answer is what encoding/json would decode.
func FuzzDecodeOutput(f *testing.F) {
	for _, s := range []string{
		``, `null`, `{}`, `{"retain":["a"],"inject":"b","x":1}`, `{"cancel":true,"reason":"\u00e4"}`,
		`{"messages":[{"ref":"m1"},{"id":"m2","role":"tool","content":[{"type":"text","text":"x"}],"tool_calls":[{"id":"c","arguments":{"a":1}}],"meta":{"always_keep":true}}],"superseded":["m3"],"summary":"s"}`,
		`{"request_compaction":{"instructions":null},"always_keep":[]}`, `{"messages":[null,{}]}`, `{"messages":[{"tool_calls":null,"raw":[1,2]}]}`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, doc []byte) {
		out, _, err := runtime.DecodeOutput(doc)
		if err != nil || out == nil {
			if out != nil {
				t.Fatal("an output beside an error")
			}
			return
		}
		want := new(abi.Output)
		if err := json.Unmarshal(doc, want); err != nil {
			t.Fatalf("encoding/json refuses it: %v", err)
		}
		a, errA := json.Marshal(out)
		b, errB := json.Marshal(want)
		if !bytes.Equal(a, b) || (errA == nil) != (errB == nil) {
			t.Fatalf("got  %s\nwant %s", a, b)
		}
	})
}
