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

// Bytes that are loaded and called, whatever they are, end in an answer or in
// an error with a code.
func FuzzLoad(f *testing.F) {
	for _, s := range wasmtest.Seeds() {
		f.Add(s)
	}
	r, err := runtime.New(context.Background(), runtime.Options{Interpreter: true})
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, wasm []byte) {
		ctx := context.Background()
		p, err := plugintest.Load(ctx, r, wasm,
			runtime.PluginOptions{AnyExport: true, Limits: abi.Limits{TimeoutMS: 50, MemoryMB: 2}})
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

// Embedding a manifest into any module that parses can be read back.
func FuzzEmbedManifest(f *testing.F) {
	for _, s := range wasmtest.Seeds() {
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
		`{"messages":[{"ref":"m1"},{"id":"m2","role":"tool","content":[{"type":"text","text":"x"}],"tool_calls":[{"id":"c",` +
			`"arguments":{"a":1}}],"meta":{"always_keep":true}}],"superseded":["m3"],"summary":"s"}`,
		`{"request_compaction":{"instructions":null},"always_keep":[]}`, `{"messages":[null,{}]}`,
		`{"messages":[{"tool_calls":null,"raw":[1,2]}]}`,
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
