package runtime_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/features"
	"github.com/kagewasm/kagewasm/internal/plugintest"
	"github.com/kagewasm/kagewasm/internal/strictjson"
	"github.com/kagewasm/kagewasm/internal/wasmtest"
	"github.com/kagewasm/kagewasm/runtime"
)

// hostCall makes one host call and returns the envelope.
func hostCall(t *testing.T, o runtime.Options, po runtime.PluginOptions, op abi.Op, request string, input any) (
	abi.HostResponse, abi.CallStats) {
	t.Helper()
	p := plugintest.MustLoad(t, plugintest.New(t, o), wasmtest.HostCall(pre, string(op), request), po)
	in, _ := json.Marshal(input)
	out, stats, err := p.CallRaw(context.Background(), pre, in)
	if err != nil {
		t.Fatal(err)
	}
	var resp abi.HostResponse
	if err := strictjson.Decode(out, &resp); err != nil {
		t.Fatalf("%s: %v", out, err)
	}
	if (resp.Error != nil) == (resp.Result != nil) && resp.Error != nil {
		t.Errorf("an error and a result: %s", out)
	}
	return resp, stats
}

func TestHostCall(t *testing.T) {
	granted := runtime.PluginOptions{Manifest: plugintest.AsksAll, Grants: plugintest.GrantAll(plugintest.AsksAll)}
	long := strings.Repeat("x", 600)
	for _, tc := range []struct {
		name    string
		op      abi.Op
		request string
		o       runtime.PluginOptions
		code    abi.Code
		result  string
		why     string
	}{
		{"get", abi.OpKVGet, `{"key":"a/b"}`, granted, "", `{"found":true,"value":"1"}`, ""},
		{"get nothing", abi.OpKVGet, `{"key":"zz"}`, granted, "", `{}`, "a key that is not there is no error"},
		{"list", abi.OpKVList, `{"key":"a/"}`, granted, "", `{"keys":["a/b","a/c"]}`, "only the plugin's own namespace"},
		{"list all", abi.OpKVList, `{"key":""}`, granted, "", `{"keys":["a/b","a/c"]}`, "the empty prefix is one"},
		{"set", abi.OpKVSet, `{"key":"new","value":"2"}`, granted, "", "", ""},
		{"set what is expected", abi.OpKVSet, `{"key":"new","value":"2","expect":""}`, granted, "", "",
			"a key that is not there holds nothing"},
		{"set what changed", abi.OpKVSet, `{"key":"a/b","value":"2","expect":"0"}`, granted, abi.CodeConflict, "", ""},
		{"delete", abi.OpKVDelete, `{"key":"a/b"}`, granted, "", "", ""},
		{"not asked", abi.OpKVGet, `{"key":"a/b"}`, runtime.PluginOptions{Grants: runtime.Grants{KV: true}},
			abi.CodeDenied, "", "a grant alone gives nothing"},
		{"not granted", abi.OpKVGet, `{"key":"a/b"}`, runtime.PluginOptions{Manifest: plugintest.AsksAll},
			abi.CodeDenied, "", "asking alone gives nothing"},
		{"path", abi.OpKVSet, `{"key":"../other/x","value":"1"}`, granted, abi.CodeUsage, "", "no segment is .."},
		{"empty key", abi.OpKVGet, `{"key":""}`, granted, abi.CodeUsage, "", ""},
		{"long key", abi.OpKVGet, `{"key":"` + long + `"}`, granted, abi.CodeUsage, "", ""},
		{"control", abi.OpKVList, `{"key":"a\u0000"}`, granted, abi.CodeUsage, "",
			"no control characters, in a prefix neither"},
		{"unknown field", abi.OpKVGet, `{"key":"a","ns":"other"}`, granted, abi.CodeUsage, "", "requests are strict"},
		{"another case", abi.OpKVGet, `{"Key":"a/b"}`, granted, abi.CodeUsage, "", ""},
		{"no json", abi.OpKVGet, `key`, granted, abi.CodeUsage, "", ""},
		{"no such op", "fs.read", `{}`, granted, abi.CodeUsage, "", ""},
		{"tokens", abi.OpTokensCount, `{"texts":["","abc"]}`, runtime.PluginOptions{}, "", `{"counts":[0,3]}`,
			"counting needs no capability"},
		{"request", abi.OpRequestCompact, `{"instructions":"now"}`, granted, "", "", ""},
		{"request not granted", abi.OpRequestCompact, `{}`, runtime.PluginOptions{Manifest: plugintest.AsksAll},
			abi.CodeDenied, "", ""},
		{"message", abi.OpMessagesGet, `{"ids":["m2","m1"]}`, runtime.PluginOptions{}, "", "", "messages need no capability"},
		{"unknown message", abi.OpMessagesGet, `{"ids":["m9"]}`, runtime.PluginOptions{}, abi.CodeUnknownID, "", ""},
		{"log", abi.OpLog, `{"level":"info","message":"hi"}`, runtime.PluginOptions{}, "", "", ""},
		{"log level", abi.OpLog, `{"level":"loud","message":"hi"}`, runtime.PluginOptions{}, abi.CodeUsage, "", ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			kv := plugintest.Owned("asks", map[string]string{"asks a/b": "1", "asks a/c": "2", "other a/d": "3"})
			resp, stats := hostCall(t, runtime.Options{KV: kv, Counter: plugintest.Bytes{}}, tc.o, tc.op, tc.request,
				plugintest.HookInput())
			if got := abi.CodeOf(asError(resp.Error)); got != tc.code {
				t.Fatalf("code %q, want %q: %v: %s", got, tc.code, resp.Error, tc.why)
			}
			if tc.result != "" && string(resp.Result) != tc.result {
				t.Errorf("result %s, want %s: %s", resp.Result, tc.result, tc.why)
			}
			want := map[abi.Op]int{tc.op: 1}
			if tc.op == "fs.read" {
				want = map[abi.Op]int{"unknown": 1}
			}
			if !maps.Equal(stats.HostCalls, want) {
				t.Errorf("counted %v", stats.HostCalls)
			}
			if tc.code == "" && tc.op == abi.OpKVSet && kv.Data["asks new"] != "2" {
				t.Errorf("stored %v", kv.Data)
			}
			if tc.code == "" && tc.op == abi.OpKVDelete && kv.Data["asks a/b"] != "" {
				t.Errorf("still there: %v", kv.Data)
			}
			delete(kv.Data, "_lineage asks.json") // whose the name is was settled before
			if tc.code != "" && (len(kv.Data) != 3 || kv.Data["asks a/b"] != "1") {
				t.Errorf("a refused call changed %v", kv.Data)
			}
		})
	}
}

// asError keeps a nil *abi.Error from becoming an error.
func asError(e *abi.Error) error {
	if e == nil {
		return nil
	}
	return e
}

func TestMessagesGet(t *testing.T) {
	resp, _ := hostCall(t, runtime.Options{}, runtime.PluginOptions{}, abi.OpMessagesGet, `{"ids":["m2","m1"]}`,
		plugintest.HookInput())
	var got abi.MessagesResponse
	if err := json.Unmarshal(resp.Result, &got); err != nil || len(got.Messages) != 2 ||
		got.Messages[0].ToolCalls[0].Arguments != `{"path":"a"}` || got.Messages[1].Content.Text() != "fix <it>" {
		t.Errorf("%s, %v", resp.Result, err)
	}
	resp, _ = hostCall(t, runtime.Options{}, runtime.PluginOptions{}, abi.OpMessagesGet, `{"ids":["m1"]}`, "no input")
	if abi.CodeOf(asError(resp.Error)) != abi.CodeUsage {
		t.Errorf("an input without messages: %v", resp.Error)
	}
	// One message, asked for many times, would fill the host's memory.
	in := plugintest.HookInput()
	in.Messages[0].Content = abi.Text(strings.Repeat("x", 100_000))
	ids := strings.Repeat(`"m1",`, 9_999) + `"m1"`
	resp, _ = hostCall(t, runtime.Options{}, runtime.PluginOptions{}, abi.OpMessagesGet, `{"ids":[`+ids+`]}`, in)
	if abi.CodeOf(asError(resp.Error)) != abi.CodeQuota {
		t.Errorf("a gigabyte of messages: %v", resp.Error)
	}
}

// a plugin may ask for a compaction; the request is part of what
// it answered.
func TestRequestCompaction(t *testing.T) {
	features.Proves(t, "T2")
	request := func(answer string) *abi.Output {
		t.Helper()
		wasm := wasmtest.Build(func(m *wasmtest.Module) {
			write := m.OutputWrite()
			call := m.Import(abi.ImportModule, "host_call",
				[]wasmtest.Type{wasmtest.I32, wasmtest.I32, wasmtest.I32, wasmtest.I32}, []wasmtest.Type{wasmtest.I32})
			op, req := string(abi.OpRequestCompact), `{"instructions":"keep paths"}`
			m.Memory(1, -1, "memory")
			m.Data(0, []byte(op+req+answer))
			c := wasmtest.Const32
			m.Hook(pre, nil, c(0), c(int32(len(op))), c(int32(len(op))), c(int32(len(req))), wasmtest.Call(call), wasmtest.Drop,
				c(int32(len(op+req))), c(int32(len(answer))), wasmtest.Call(write))
		})
		p := plugintest.MustLoad(t, plugintest.New(t, runtime.Options{}), wasm,
			runtime.PluginOptions{Manifest: plugintest.AsksAll, Grants: plugintest.GrantAll(plugintest.AsksAll)})
		out, _, err := p.Call(context.Background(), plugintest.HookInput())
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	if out := request(""); out == nil || out.RequestCompaction == nil ||
		out.RequestCompaction.Instructions != "keep paths" {
		t.Errorf("the request is lost: %+v", out)
	}
	if out := request(`{"request_compaction":{"instructions":"mine"}}`); out.RequestCompaction.Instructions != "mine" {
		t.Errorf("what the output says comes first: %+v", out.RequestCompaction)
	}
}

// openKV lets others in after a get of the key k.
type openKV struct {
	*plugintest.KV
	got func()
}

func (k *openKV) Get(ctx context.Context, ns, key string) (string, bool, error) {
	v, found, err := k.KV.Get(ctx, ns, key)
	if key == "k" {
		k.got()
	}
	return v, found, err
}

// TestSetWithoutSwapper: of a KV of four methods nothing is set or deleted
// between what a swap reads and what it stores.
func TestSetWithoutSwapper(t *testing.T) {
	features.Proves(t, "K28")
	for op, request := range map[abi.Op]string{abi.OpKVSet: `{"key":"k","value":"set"}`, abi.OpKVDelete: `{"key":"k"}`} {
		t.Run(string(op), func(t *testing.T) {
			kv := &openKV{KV: plugintest.Owned("asks", map[string]string{"asks k": "old"})}
			r := plugintest.New(t, runtime.Options{KV: kv})
			granted := runtime.PluginOptions{Manifest: plugintest.AsksAll,
				Grants: plugintest.GrantAll(plugintest.AsksAll), Adopt: true}
			swaps := plugintest.MustLoad(t, r,
				wasmtest.HostCall(pre, string(abi.OpKVSet), `{"key":"k","value":"swapped","expect":"old"}`), granted)
			changes := plugintest.MustLoad(t, r, wasmtest.HostCall(pre, string(op), request), granted)
			in, _ := json.Marshal(plugintest.HookInput())
			kv.got = func() {}
			for _, p := range []*runtime.Plugin{swaps, changes} { // which joins the line of the name
				if _, _, err := p.CallRaw(t.Context(), pre, in); err != nil {
					t.Fatal(err)
				}
			}
			kv.Data["asks k"] = "old"
			changed := make(chan error, 1)
			kv.got = func() {
				go func() {
					_, _, err := changes.CallRaw(t.Context(), pre, in)
					changed <- err
				}()
				select {
				case err := <-changed: // it should not get through
					changed <- err
				case <-time.After(100 * time.Millisecond):
				}
			}
			if _, _, err := swaps.CallRaw(t.Context(), pre, in); err != nil {
				t.Error(err)
			}
			if err := <-changed; err != nil {
				t.Error(err)
			}
			if now := kv.Data["asks k"]; now == "swapped" {
				t.Errorf("%s came between, and is lost", op)
			}
		})
	}
}

// TestSwapWithoutSwapper: a KV of four methods is enough for plugins that
// append to one key at the same time.
func TestSwapWithoutSwapper(t *testing.T) {
	features.Proves(t, "K28")
	kv := plugintest.Owned("asks", map[string]string{"asks k": "old"})
	granted := runtime.PluginOptions{Manifest: plugintest.AsksAll, Grants: plugintest.GrantAll(plugintest.AsksAll)}
	p := plugintest.MustLoad(t, plugintest.New(t, runtime.Options{KV: kv}),
		wasmtest.HostCall(pre, string(abi.OpKVSet), `{"key":"k","value":"new","expect":"old"}`), granted)
	in, _ := json.Marshal(plugintest.HookInput())
	var stored atomic.Int32
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			out, _, err := p.CallRaw(t.Context(), pre, in)
			var resp abi.HostResponse
			if err == nil {
				err = json.Unmarshal(out, &resp)
			}
			switch {
			case err == nil && resp.Error == nil:
				stored.Add(1)
			case err != nil || resp.Error.Code != abi.CodeConflict:
				t.Errorf("%s, %v", out, err)
			}
		})
	}
	wg.Wait()
	if stored.Load() != 1 || kv.Data["asks k"] != "new" {
		t.Errorf("%d stored it: %q", stored.Load(), kv.Data)
	}
	kv = plugintest.Owned("asks", map[string]string{"asks k": "new"})
	dry := plugintest.HookInput()
	dry.Trigger.DryRun = true
	resp, _ := hostCall(t, runtime.Options{KV: kv}, granted, abi.OpKVSet, `{"key":"k","value":"3","expect":"old"}`, dry)
	if abi.CodeOf(asError(resp.Error)) != abi.CodeConflict {
		t.Errorf("a dry run compares as well: %v", resp.Error)
	}
	if resp, _ = hostCall(t, runtime.Options{KV: kv}, granted, abi.OpKVSet, `{"key":"k","value":"3","expect":"new"}`,
		dry); resp.Error != nil || kv.Data["asks k"] != "new" {
		t.Errorf("a dry run: %v, %q", resp.Error, kv.Data)
	}
}

// A dry run sees what it stores, and nobody else does.
func TestDryRun(t *testing.T) {
	kv := plugintest.Owned("asks", map[string]string{"asks a": "1", "asks gone": "1"})
	before := maps.Clone(kv.Data)
	r := plugintest.New(t, runtime.Options{KV: kv})
	type step struct{ op, request string }
	steps := []step{{"kv.set", `{"key":"b","value":"2"}`}, {"kv.delete", `{"key":"gone"}`}, {"kv.get", `{"key":"b"}`},
		{"kv.list", `{"key":""}`}}
	wasm := wasmtest.Build(func(m *wasmtest.Module) {
		i32 := wasmtest.I32
		write := m.OutputWrite()
		call := m.Import(abi.ImportModule, "host_call", []wasmtest.Type{i32, i32, i32, i32}, []wasmtest.Type{i32})
		read := m.Import(abi.ImportModule, "response_read", []wasmtest.Type{i32, i32, i32}, []wasmtest.Type{i32})
		m.Memory(1, -1, "memory")
		var code [][]byte
		at, c := int32(0), wasmtest.Const32
		for _, s := range steps {
			m.Data(at, []byte(s.op+s.request))
			n, k := int32(len(s.op)), int32(len(s.request))
			code = append(code, c(at), c(n), c(at+n), c(k), wasmtest.Call(call), wasmtest.Set(0),
				c(4096), c(4096), c(0), wasmtest.Get(0), wasmtest.Call(read), wasmtest.Call(write), wasmtest.Drop)
			at += n + k
		}
		m.Hook(pre, []wasmtest.Type{i32}, append(code, c(0))...)
	})
	p := plugintest.MustLoad(t, r, wasm, runtime.PluginOptions{Manifest: plugintest.AsksAll,
		Grants: plugintest.GrantAll(plugintest.AsksAll)})
	in := plugintest.HookInput()
	in.Trigger.DryRun = true
	doc, _ := json.Marshal(in)
	out, _, err := p.CallRaw(context.Background(), pre, doc)
	if err != nil || string(out) != `{}{}{"result":{"found":true,"value":"2"}}{"result":{"keys":["a","b"]}}` {
		t.Errorf("the run sees %s, %v", out, err)
	}
	if !maps.Equal(kv.Data, before) {
		t.Errorf("a dry run left %v", kv.Data)
	}
	in.Trigger.DryRun = false
	doc, _ = json.Marshal(in)
	if _, _, err := p.CallRaw(context.Background(), pre, doc); err != nil || kv.Data["_lineage asks.json"] == "" ||
		len(kv.Data) != 3 || kv.Data["asks a"] != "1" || kv.Data["asks b"] != "2" {
		t.Errorf("the same for real: %v, %v", kv.Data, err)
	}
}

// A dry run that sets one key again and again has the memory of one value.
func TestDryRunAgain(t *testing.T) {
	request := `{"key":"b","value":"` + strings.Repeat("x", 10_000) + `"}`
	wasm := wasmtest.Build(func(m *wasmtest.Module) {
		i32 := wasmtest.I32
		write := m.OutputWrite()
		call := m.Import(abi.ImportModule, "host_call", []wasmtest.Type{i32, i32, i32, i32}, []wasmtest.Type{i32})
		read := m.Import(abi.ImportModule, "response_read", []wasmtest.Type{i32, i32, i32}, []wasmtest.Type{i32})
		m.Memory(1, -1, "memory")
		m.Data(0, []byte("kv.set"+request))
		c := wasmtest.Const32
		m.Hook(pre, []wasmtest.Type{i32, i32},
			wasmtest.While(c(0), c(6), c(6), c(int32(len(request))), wasmtest.Call(call), wasmtest.Set(1),
				wasmtest.Get(0), c(1), wasmtest.Add32, wasmtest.Set(0), wasmtest.Get(0), c(1_000), wasmtest.LtU32),
			c(20_000), c(20_000), c(0), wasmtest.Get(1), wasmtest.Call(read), wasmtest.Call(write))
	})
	p := plugintest.MustLoad(t, plugintest.New(t, runtime.Options{KV: &plugintest.KV{}}), wasm,
		runtime.PluginOptions{Manifest: plugintest.AsksAll, Grants: plugintest.GrantAll(plugintest.AsksAll),
			Limits: abi.Limits{MemoryMB: 2}})
	in := plugintest.HookInput()
	in.Trigger.DryRun = true
	doc, _ := json.Marshal(in)
	out, stats, err := p.CallRaw(context.Background(), pre, doc)
	if err != nil || string(out) != "{}" || stats.HostCalls[abi.OpKVSet] != 1_000 || stats.PeakMemoryBytes > 1<<16+20_000 {
		t.Errorf("%s, %v, %d bytes of memory", out, err, stats.PeakMemoryBytes)
	}
}

func TestHostCallFaults(t *testing.T) {
	granted := runtime.PluginOptions{Manifest: plugintest.AsksAll, Grants: plugintest.GrantAll(plugintest.AsksAll)}
	// What the storage says of itself is not the plugin's business.
	kv := &plugintest.KV{Data: map[string]string{}, Fail: errors.New("disk /dev/sda1 is on fire")}
	resp, stats := hostCall(t, runtime.Options{KV: kv}, granted, abi.OpKVGet, `{"key":"a"}`, nil)
	if abi.CodeOf(asError(resp.Error)) != abi.CodeInternal || strings.Contains(resp.Error.Message, "sda1") ||
		len(stats.Warnings) != 1 || !strings.Contains(stats.Warnings[0], "sda1") {
		t.Errorf("the guest sees %v, the host %q", resp.Error, stats.Warnings)
	}
	kv.Fail = fmt.Errorf("store: %w", &abi.Error{Code: abi.CodeQuota, Op: "kv.set", Message: "full"})
	if resp, _ = hostCall(t, runtime.Options{KV: kv}, granted, abi.OpKVSet, `{"key":"a"}`, nil); abi.CodeOf(
		asError(resp.Error)) != abi.CodeQuota {
		t.Errorf("a quota of the storage: %v", resp.Error)
	}
	if resp, _ = hostCall(t, runtime.Options{}, granted, abi.OpKVGet, `{"key":"a"}`, nil); abi.CodeOf(
		asError(resp.Error)) != abi.CodeDenied {
		t.Errorf("a host without storage: %v", resp.Error)
	}
	if resp, _ = hostCall(t, runtime.Options{}, granted, abi.OpTokensCount, `{"texts":["a"]}`, nil); abi.CodeOf(
		asError(resp.Error)) != abi.CodeDenied {
		t.Errorf("a host without a counter: %v", resp.Error)
	}
}

// panicKV stands for any fault of the host while a guest runs.
type panicKV struct{ plugintest.KV }

func (*panicKV) Get(context.Context, string, string) (string, bool, error) {
	panic("a fault of the host")
}

func TestHostPanic(t *testing.T) {
	p := plugintest.MustLoad(t, plugintest.New(t, runtime.Options{KV: &panicKV{}}),
		wasmtest.HostCall(pre, "kv.get", `{"key":"a"}`),
		runtime.PluginOptions{Manifest: plugintest.AsksAll, Grants: plugintest.GrantAll(plugintest.AsksAll)})
	for range 2 {
		_, _, err := p.Call(context.Background(), plugintest.HookInput())
		if e := plugintest.WantError(t, err, abi.CodeInternal); strings.Contains(e.Message, "goroutine") || e.Err == nil {
			t.Errorf("the message tells too much, or the cause is lost: %+v", e)
		}
	}
}

func TestQuota(t *testing.T) {
	wasm := wasmtest.Build(func(m *wasmtest.Module) {
		i32 := wasmtest.I32
		call := m.Import(abi.ImportModule, "host_call", []wasmtest.Type{i32, i32, i32, i32}, []wasmtest.Type{i32})
		read := m.Import(abi.ImportModule, "response_read", []wasmtest.Type{i32, i32, i32}, []wasmtest.Type{i32})
		write := m.OutputWrite()
		m.Memory(1, -1, "memory")
		m.Data(0, []byte(`log{"level":"info","message":"hi"}`))
		c := wasmtest.Const32
		// Ten calls, then the last response.
		m.Hook(pre, []wasmtest.Type{i32, i32},
			wasmtest.While(c(0), c(3), c(3), c(31), wasmtest.Call(call), wasmtest.Set(1),
				wasmtest.Get(0), c(1), wasmtest.Add32, wasmtest.Set(0), wasmtest.Get(0), c(10), wasmtest.LtU32),
			c(4096), c(4096), c(0), wasmtest.Get(1), wasmtest.Call(read), wasmtest.Call(write))
	})
	p := plugintest.MustLoad(t, plugintest.New(t, runtime.Options{}), wasm,
		runtime.PluginOptions{Limits: abi.Limits{HostCalls: 4}})
	out, stats, err := p.CallRaw(context.Background(), pre, nil)
	var resp abi.HostResponse
	if err != nil || json.Unmarshal(out, &resp) != nil || abi.CodeOf(asError(resp.Error)) != abi.CodeQuota {
		t.Errorf("%s, %v", out, err)
	}
	if len(stats.Logs) != 4 || stats.HostCalls[abi.OpLog] != 4 {
		t.Errorf("%d lines, %v calls", len(stats.Logs), stats.HostCalls)
	}
}

func TestLogs(t *testing.T) {
	r := plugintest.New(t, runtime.Options{})
	logs := func(wasm []byte, o runtime.PluginOptions) abi.CallStats {
		t.Helper()
		_, stats, err := plugintest.MustLoad(t, r, wasm, o).Call(context.Background(), plugintest.HookInput())
		if err != nil {
			t.Fatal(err)
		}
		return stats
	}
	if s := logs(wasmtest.Log(pre, "one\ntwo\x1b[31m\r\n\nthree"), runtime.PluginOptions{}); !slices.Equal(
		s.Logs, []abi.LogRequest{{Level: "warn", Message: "one"}, {Level: "warn", Message: "two[31m"}, {Level: "warn"},
			{Level: "warn", Message: "three"}}) {
		t.Errorf("lines of standard error: %+v", s.Logs)
	}
	for name, text := range map[string]string{"a long line": strings.Repeat("x", 200_000),
		"many lines": strings.Repeat("x\n", 60_000), "empty lines": strings.Repeat("\n", 60_000)} {
		t.Run(name, func(t *testing.T) {
			s := logs(wasmtest.Log(pre, text), runtime.PluginOptions{})
			kept := 0
			for _, l := range s.Logs {
				kept += len(l.Message) + 16
			}
			if kept > 64<<10 || s.LogsDropped == 0 {
				t.Errorf("%d bytes kept, %d lines dropped", kept, s.LogsDropped)
			}
		})
	}
	secret := runtime.PluginOptions{
		Manifest: &abi.Manifest{Name: "x", ABI: 1, Secrets: []string{"key"}}, Secrets: map[string]string{"key": "hunter2"},
	}
	if s := logs(wasmtest.Log(pre, "it is hunter2"), secret); s.Logs[0].Message != "it is [secret key]" {
		t.Errorf("a secret in a log: %q", s.Logs[0].Message)
	}
}

// Pointers that are not inside the guest's memory stop it, however they wrap.
func TestBulkBounds(t *testing.T) {
	i32 := wasmtest.I32
	for _, tc := range []struct {
		name   string
		params []int32
		result bool
		ok     bool
	}{
		{"output_write", []int32{65535, 2}, true, false},
		{"output_write", []int32{-1, -1}, true, false},
		{"output_write", []int32{-1, 2}, true, false},
		{"output_write", []int32{65536, 0}, true, true},
		{"error_write", []int32{0, -1}, false, false},
		{"error_write", []int32{65530, 100}, false, false},
		{"input_read", []int32{65535, 0, 2}, true, false},
		{"input_read", []int32{0, -1, 4}, true, true},
		{"input_read", []int32{-4, 0, 4}, true, false},
		{"response_read", []int32{0, 100, 65536}, true, true},
		{"response_read", []int32{1, 0, -1}, true, false},
		{"host_call", []int32{65535, 2, 0, 0}, true, false},
		{"host_call", []int32{0, 2, -1, 2}, true, false},
		{"host_call", []int32{0, 65536, 0, 65536}, true, true},
	} {
		t.Run(fmt.Sprint(tc.name, tc.params), func(t *testing.T) {
			wasm := wasmtest.Build(func(m *wasmtest.Module) {
				params := make([]wasmtest.Type, len(tc.params))
				var code [][]byte
				for i, v := range tc.params {
					params[i] = i32
					code = append(code, wasmtest.Const32(v))
				}
				var results []wasmtest.Type
				if tc.result {
					results = []wasmtest.Type{i32}
				}
				code = append(code, wasmtest.Call(m.Import(abi.ImportModule, tc.name, params, results)))
				if tc.result {
					code = append(code, wasmtest.Drop)
				}
				m.Memory(1, -1, "")
				m.Hook(pre, nil, append(code, wasmtest.Const32(0))...)
			})
			_, _, err := plugintest.MustLoad(t, plugintest.New(t, runtime.Options{}), wasm,
				runtime.PluginOptions{}).CallRaw(context.Background(), pre, []byte("some input"))
			want := abi.CodeTrap
			if tc.ok {
				want = ""
			}
			if got := abi.CodeOf(err); got != want {
				t.Errorf("code %q, want %q: %v", got, want, err)
			}
		})
	}
}
