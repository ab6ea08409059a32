package plugindiff_test

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"testing"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/features"
	"github.com/kagewasm/kagewasm/internal/plugindiff"
	"github.com/kagewasm/kagewasm/internal/plugintest"
	"github.com/kagewasm/kagewasm/internal/wasmtest"
	"github.com/kagewasm/kagewasm/runtime"
)

func newRuntime(t *testing.T) *runtime.Runtime {
	t.Helper()
	return plugintest.New(t, runtime.Options{CacheDir: plugintest.CacheDir(t)})
}

// TestDiffUpdate: what a new version of a real plugin asks for, and what else
// it changes.
func TestDiffUpdate(t *testing.T) {
	features.Proves(t, "N6")
	r := newRuntime(t)
	var infos []runtime.Info
	for _, name := range []string{"notes1", "notes2"} {
		t.Run(name, func(t *testing.T) {
			p := plugintest.MustLoad(t, r, plugintest.Guest(t, "kit/testdata/"+name),
				runtime.PluginOptions{Grants: runtime.Grants{KV: true}})
			infos = append(infos, p.Info())
		})
	}
	u := plugindiff.Compare(infos[0], infos[1])
	for _, want := range []plugindiff.Permission{
		{Kind: plugindiff.KindCapability, Name: "kv", Reason: "to know what it has seen"},
		{Kind: plugindiff.KindCapability, Name: "http", Reason: "to ask a server", Withheld: true},
		{Kind: plugindiff.KindHost, Name: "api.example.com", Withheld: true},
		{Kind: plugindiff.KindSecret, Name: "key"},
		{Kind: plugindiff.KindLimit, Name: "memory_mb", Old: "16", New: "32"},
		{Kind: plugindiff.KindImport, Name: abi.ImportModule + ".host_call (i32,i32,i32,i32)->i32"},
		{Kind: plugindiff.KindImport, Name: abi.ImportModule + ".response_read (i32,i32,i32)->i32"},
	} {
		t.Run(fmt.Sprintf("%s %s", want.Kind, want.Name), func(t *testing.T) {
			if !slices.Contains(u.Permissions, want) {
				t.Errorf("not there: %+v", want)
			}
		})
	}
	if len(u.Permissions) != 7 || !slices.Equal(u.Withheld, []string{"http"}) {
		t.Errorf("%+v, withheld %v", u.Permissions, u.Withheld)
	}
	for _, want := range []plugindiff.Change{
		{What: "version", Old: "1.0.0", New: "2.0.0"},
		{What: "knob most", Old: "int_range, 1 to 10, default 3", New: "int_range, 1 to 20, default 3"},
		{What: "knob new", New: `text, default "x"`},
		{What: "knob old", Old: "boolean, default true"},
	} {
		t.Run(want.What, func(t *testing.T) {
			if !slices.Contains(u.Changes, want) {
				t.Errorf("not there: %+v in %+v", want, u.Changes)
			}
		})
	}
	if u.Old.Digest == u.New.Digest || u.Old.Version != "1.0.0" || u.New.Size == 0 {
		t.Errorf("%+v, %+v", u.Old, u.New)
	}

	// The other way round it is less that is asked for.
	back := plugindiff.Compare(infos[1], infos[0])
	if len(back.Permissions)+len(back.Withheld) != 0 {
		t.Errorf("%+v", back)
	}
	for _, want := range []plugindiff.Change{{What: "capability", Old: "http"}, {What: "secret", Old: "key"},
		{What: "limit memory_mb", Old: "32", New: "16"}} {
		t.Run("back: "+want.What, func(t *testing.T) {
			if !slices.Contains(back.Changes, want) {
				t.Errorf("not there: %+v in %+v", want, back.Changes)
			}
		})
	}
	if same := plugindiff.Compare(infos[0], infos[0]); len(same.Permissions)+len(same.Changes) != 0 {
		t.Errorf("%+v", same)
	}
}

// TestDiffPermissions: each thing that a module may do newly is a permission,
// whatever the manifest calls it.
func TestDiffPermissions(t *testing.T) {
	features.Proves(t, "N6")
	r := newRuntime(t)
	info := func(wasm []byte, manifest string) runtime.Info {
		p, err := plugintest.Load(t.Context(), r, wasmtest.WithManifest(wasm, manifest), runtime.PluginOptions{})
		if err != nil {
			t.Fatal(err)
		}
		return p.Info()
	}
	plain := wasmtest.Nothing("pre_compact")
	old := info(plain, `{"name":"p","version":"1","abi":1,"limits":{"fuel":1000,"timeout_ms":100}}`)
	for why, c := range map[string]struct {
		new  runtime.Info
		want plugindiff.Permission
	}{
		"a role": {info(plain,
			`{"name":"p","version":"1","abi":1,"roles":["compactor"],"limits":{"fuel":1000,"timeout_ms":100}}`),
			plugindiff.Permission{Kind: plugindiff.KindRole, Name: "compactor"}},
		"an import": {info(wasmtest.Answer("pre_compact", `null`),
			`{"name":"p","version":"1","abi":1,"limits":{"fuel":1000,"timeout_ms":100}}`),
			plugindiff.Permission{Kind: plugindiff.KindImport, Name: abi.ImportModule + ".output_write (i32,i32)->i32"}},
		"another hook": {info(wasmtest.Nothing("turn_end"),
			`{"name":"p","version":"1","abi":1,"limits":{"fuel":1000,"timeout_ms":100}}`),
			plugindiff.Permission{Kind: plugindiff.KindHook, Name: "turn_end"}},
		"more time": {info(plain,
			`{"name":"p","version":"1","abi":1,"limits":{"fuel":1000,"timeout_ms":200}}`),
			plugindiff.Permission{Kind: plugindiff.KindLimit, Name: "timeout_ms", Old: "100", New: "200"}},
		"no bound on fuel": {info(plain, `{"name":"p","version":"1","abi":1,"limits":{"timeout_ms":100}}`),
			plugindiff.Permission{Kind: plugindiff.KindLimit, Name: "fuel", Old: "1000", New: "none"}},
		"the name of a control": {info(plain,
			`{"name":"p","version":"1","abi":1,"secrets":["k\u001b[2J"],"limits":{"fuel":1000,"timeout_ms":100}}`),
			plugindiff.Permission{Kind: plugindiff.KindSecret, Name: abi.Defuse("k\x1b[2J")}},
	} {
		t.Run(why, func(t *testing.T) {
			u := plugindiff.Compare(old, c.new)
			if !slices.Contains(u.Permissions, c.want) {
				t.Errorf("%+v", u.Permissions)
			}
			if raised := slices.DeleteFunc(u.Permissions,
				func(p plugindiff.Permission) bool {
					return p.Kind != plugindiff.KindLimit
				}); c.want.Kind != plugindiff.KindLimit && len(raised) > 0 {
				t.Errorf("limits that nobody raised: %+v", raised)
			}
		})
	}
	doc, err := json.Marshal(plugindiff.Compare(old, old))
	var back map[string]any
	if err == nil {
		err = json.Unmarshal(doc, &back)
	}
	if err != nil || !reflect.DeepEqual(back["permissions"], []any{}) {
		t.Errorf("%s, %v", doc, err)
	}
}
