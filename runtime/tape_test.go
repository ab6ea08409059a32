package runtime_test

import (
	"encoding/json"
	"maps"
	"strings"
	"testing"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/features"
	"github.com/kagewasm/kagewasm/internal/plugintest"
	"github.com/kagewasm/kagewasm/internal/tape"
	"github.com/kagewasm/kagewasm/internal/wasmtest"
	"github.com/kagewasm/kagewasm/runtime"
	"github.com/kagewasm/kagewasm/runtime/extism"
)

// TestTape: a call that is made again with the tape of the first gets the same answers from
// storage, whatever stands there by now, also that it was denied something, and changes
// nothing; on both engines. One that asks something else is told.
func TestTape(t *testing.T) {
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
				call := func(on *tape.Tape, request string, grants runtime.Grants) string {
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
				recorded := new(tape.Tape)
				first := call(recorded, tc.request, runtime.Grants{KV: !tc.denied})
				if !strings.Contains(first, tc.contains) || len(recorded.Answers) != 1 {
					t.Fatalf("%s, %+v", first, recorded.Answers)
				}
				doc, err := json.Marshal(recorded)
				read := new(tape.Tape)
				if err == nil {
					err = json.Unmarshal(doc, read)
				}
				if err != nil {
					t.Fatal(err)
				}
				kv.Data["asks a"], kv.Data["asks c"] = "changed", "new"
				before := maps.Clone(kv.Data)
				again := read.Player()
				if got := call(again, tc.request, runtime.Grants{KV: true}); got != first || again.Missed() != "" {
					t.Errorf("again %s, first %s; %s", got, first, again.Missed())
				}
				other := read.Player()
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

// TestTapeBounds: answers that are more than is kept are not, and the tape says so.
func TestTapeBounds(t *testing.T) {
	recorded := new(tape.Tape)
	for range 3 {
		recorded.Record(string(abi.OpKVGet), []byte("a"), make([]byte, tape.MaxBytes/2))
	}
	if !recorded.Over || len(recorded.Answers) > 0 {
		t.Errorf("%v, %d answers", recorded.Over, len(recorded.Answers))
	}
}
