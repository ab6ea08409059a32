package runtime_test

import (
	"encoding/json"
	"maps"
	"strings"
	"testing"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/callrecord"
	"github.com/kagewasm/kagewasm/internal/features"
	"github.com/kagewasm/kagewasm/internal/plugintest"
	"github.com/kagewasm/kagewasm/internal/wasmtest"
	"github.com/kagewasm/kagewasm/runtime"
	"github.com/kagewasm/kagewasm/runtime/extism"
)

// TestCallRecord: a call that is made again with the record of the first gets the same answers from
// storage, whatever stands there by now, also that it was denied something, and changes
// nothing; on both engines. One that asks something else is told.
func TestCallRecord(t *testing.T) {
	features.Proves(t, "N5")
	for _, engine := range []runtime.Engine{nil, extism.Engine{}} {
		for name, tc := range map[string]struct {
			op       abi.Op
			request  string
			denied   bool
			another  string
			says     string
			contains string
		}{
			"get":    {op: abi.OpKVGet, request: `{"key":"a"}`, another: `{"key":"b"}`, says: "asks something else", contains: "one"},
			"list":   {op: abi.OpKVList, request: `{"key":""}`, another: `{"key":"x"}`, says: "asks something else", contains: `"a"`},
			"set":    {op: abi.OpKVSet, request: `{"key":"a","value":"2"}`, another: `{"key":"a","value":"3"}`, says: "asks something"},
			"denied": {op: abi.OpKVGet, request: `{"key":"a"}`, denied: true, another: `{"key":"b"}`, says: "asks", contains: "denied"},
		} {
			t.Run(name, func(t *testing.T) {
				kv := plugintest.Owned("asks", map[string]string{"asks a": "one"})
				call := func(on *callrecord.Record, request string, grants runtime.Grants) string {
					t.Helper()
					o := runtime.PluginOptions{Manifest: plugintest.AsksAll, Grants: grants, Engine: engine}
					p := plugintest.MustLoad(t, plugintest.New(t, runtime.Options{KV: kv}),
						wasmtest.HostCall(pre, string(tc.op), request), o)
					out, _, err := p.CallHook(on.In(t.Context()), plugintest.HookInput())
					if err != nil {
						t.Fatal(err)
					}
					return string(out)
				}
				recorded := new(callrecord.Record)
				first := call(recorded, tc.request, runtime.Grants{KV: !tc.denied})
				if !strings.Contains(first, tc.contains) || len(recorded.Answers) != 1 {
					t.Fatalf("%s, %+v", first, recorded.Answers)
				}
				doc, err := json.Marshal(recorded)
				read := new(callrecord.Record)
				if err == nil {
					err = json.Unmarshal(doc, read)
				}
				if err != nil {
					t.Fatal(err)
				}
				kv.Data["asks a"], kv.Data["asks c"] = "changed", "new"
				before := maps.Clone(kv.Data)
				again := read.Replay()
				if got := call(again, tc.request, runtime.Grants{KV: true}); got != first || again.Missed() != "" {
					t.Errorf("again %s, first %s; %s", got, first, again.Missed())
				}
				other := read.Replay()
				call(other, tc.another, runtime.Grants{KV: true})
				if !strings.Contains(other.Missed(), tc.says) {
					t.Errorf("another request: %q", other.Missed())
				}
				if !maps.Equal(kv.Data, before) {
					t.Errorf("it stored %v", kv.Data)
				}
			})
		}
	}
}

// TestCallRecordBounds: answers over the bound are not kept, and the record says so.
func TestCallRecordBounds(t *testing.T) {
	recorded := new(callrecord.Record)
	for range 3 {
		recorded.Add(string(abi.OpKVGet), []byte("a"), make([]byte, callrecord.MaxBytes/2))
	}
	if !recorded.Over || len(recorded.Answers) > 0 {
		t.Errorf("%v, %d answers", recorded.Over, len(recorded.Answers))
	}
}
