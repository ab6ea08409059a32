package runtime_test

import (
	"context"
	"encoding/json"
	"errors"
	"github.com/kagewasm/kagewasm/internal/plugintest"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/wasmtest"
	"github.com/kagewasm/kagewasm/runtime"
)

// keeper is a module that stores its own version under "v". Two versions have
// two digests and one name.
func keeper(version string) []byte {
	return wasmtest.HostCall(pre, string(abi.OpKVSet), `{"key":"v","value":"`+version+`"}`)
}

func keeperOptions() runtime.PluginOptions {
	return runtime.PluginOptions{Manifest: plugintest.AsksAll, Grants: runtime.Grants{KV: true}}
}

// storeOnce runs one call of a version and returns the warnings.
func storeOnce(t *testing.T, kv abi.KV, version string, o runtime.PluginOptions, in *abi.Input) []string {
	t.Helper()
	doc, _ := json.Marshal(in)
	p := plugintest.MustLoad(t, plugintest.New(t, runtime.Options{KV: kv}), keeper(version), o)
	out, stats, err := p.CallRaw(context.Background(), pre, doc)
	if err != nil || string(out) != "{}" {
		t.Fatalf("%s, %v", out, err)
	}
	return stats.Warnings
}

// where returns the namespaces that hold a version.
func where(kv *plugintest.KV, version string) []string {
	var found []string
	for _, k := range slices.Sorted(maps.Keys(kv.Data)) {
		if ns, key, _ := strings.Cut(k, " "); key == "v" && kv.Data[k] == version {
			found = append(found, ns)
		}
	}
	return found
}

// SECURITY: reading another plugin's data. A module that takes another's name
// does not get its data; a version that the operator adopts does.
func TestLineage(t *testing.T) {
	kv := plugintest.Owned("asks", map[string]string{"asks v": "0"}) // that was imported
	if w := storeOnce(t, kv, "1", keeperOptions(), plugintest.HookInput()); len(w) > 0 || kv.Data["asks v"] != "1" {
		t.Errorf("the first module owns the name: %v, %q", kv.Data, w)
	}
	w := storeOnce(t, kv, "2", keeperOptions(), plugintest.HookInput())
	foreign := where(kv, "2")
	if kv.Data["asks v"] != "1" || len(foreign) != 1 || !strings.HasPrefix(foreign[0], "asks+") ||
		!abi.ValidNamespace(foreign[0]) {
		t.Errorf("a stranger of that name: %v", kv.Data)
	}
	if len(w) != 1 || !strings.Contains(w[0], foreign[0]) || !strings.Contains(w[0], "--adopt asks") {
		t.Errorf("it is told: %q", w)
	}
	adopted := keeperOptions()
	adopted.Adopt = true
	if w := storeOnce(t, kv, "3", adopted, plugintest.HookInput()); len(w) > 0 || kv.Data["asks v"] != "3" {
		t.Errorf("an adopted version: %v, %q", kv.Data, w)
	}
	if w := storeOnce(t, kv, "3", keeperOptions(), plugintest.HookInput()); len(w) > 0 ||
		!slices.Equal(where(kv, "3"), []string{"asks"}) {
		t.Errorf("adopted once is adopted: %v, %q", kv.Data, w)
	}
	pinned := keeperOptions()
	pinned.Digest = plugintest.MustLoad(t, plugintest.New(t, runtime.Options{}), keeper("4"), keeperOptions()).Digest()
	if w := storeOnce(t, kv, "4", pinned, plugintest.HookInput()); len(w) > 0 || kv.Data["asks v"] != "4" {
		t.Errorf("a pinned digest is the operator's word: %v, %q", kv.Data, w)
	}
	if w := storeOnce(t, kv, "1", keeperOptions(), plugintest.HookInput()); len(w) > 0 || kv.Data["asks v"] != "1" {
		t.Errorf("back to the first: %v, %q", kv.Data, w)
	}
}

// TestLineageOfDryRun: a dry run claims nothing, and sees what it would.
func TestLineageOfDryRun(t *testing.T) {
	kv := plugintest.Owned("asks", map[string]string{"asks a": "1"})
	in := plugintest.HookInput()
	in.Trigger.DryRun = true
	doc, _ := json.Marshal(in)
	p := plugintest.MustLoad(t, plugintest.New(t, runtime.Options{KV: kv}),
		wasmtest.HostCall(pre, string(abi.OpKVGet), `{"key":"a"}`), keeperOptions())
	out, _, err := p.CallRaw(context.Background(), pre, doc)
	if err != nil || !strings.Contains(string(out), `"1"`) || len(kv.Data) != 2 {
		t.Errorf("%s, %v, %v", out, err, kv.Data)
	}
}

// TestLineageIsOutOfReach: no name and no key leads a plugin to the record.
func TestLineageIsOutOfReach(t *testing.T) {
	if abi.ValidName("_lineage") {
		t.Error("a plugin could be called _lineage")
	}
}

// SECURITY: state that is empty, gone or damaged. Where nobody can tell whose the
// data is, no module of the name gets it, the owner neither: each is told what to
// do. One that is adopted goes on with it.
func TestLineageLost(t *testing.T) {
	const record, agentRecord = "_lineage asks.json", "_lineage asks@a-b-c14cddc033f6.json"
	agent := plugintest.HookInput()
	agent.Session.AgentPath = "a/b"
	for name, damage := range map[string]func(data map[string]string){
		"gone":    func(data map[string]string) { delete(data, record) },
		"empty":   func(data map[string]string) { data[record] = "" },
		"cut":     func(data map[string]string) { data[record] = data[record][:20] },
		"changed": func(data map[string]string) { data[record] = strings.Replace(data[record], "sha256:", "sha256:0", 1) },
		"of an agent gone": func(data map[string]string) {
			delete(data, agentRecord)
		},
		"all but the data of an agent gone": func(data map[string]string) {
			delete(data, record)
			delete(data, "asks v")
		},
	} {
		t.Run(name, func(t *testing.T) {
			kv := &plugintest.KV{Data: make(map[string]string)}
			storeOnce(t, kv, "1", keeperOptions(), plugintest.HookInput())
			storeOnce(t, kv, "1", keeperOptions(), agent)
			if len(kv.Data) != 4 || kv.Data[agentRecord] == "" {
				t.Fatalf("%v", kv.Data)
			}
			damage(kv.Data)
			before := maps.Clone(kv.Data)
			adopted := keeperOptions()
			adopted.Adopt = true
			for _, try := range []struct {
				version string
				o       runtime.PluginOptions
				ok      bool
			}{{"1", keeperOptions(), false}, {"2", keeperOptions(), false}, {"2", adopted, true}, {"2", keeperOptions(), true}} {
				in := plugintest.HookInput()
				if strings.Contains(name, "agent") {
					in = agent
				}
				if name == "of an agent gone" && try.version == "2" && !try.ok {
					continue // the line is known, and it is a stranger
				}
				doc, _ := json.Marshal(in)
				p := plugintest.MustLoad(t, plugintest.New(t, runtime.Options{KV: kv}), keeper(try.version), try.o)
				out, stats, err := p.CallRaw(t.Context(), pre, doc)
				if err != nil || try.ok != (string(out) == "{}") || try.ok != (stats.Unstored == nil) {
					t.Fatalf("version %s, adopted %v: %s, %v, %v", try.version, try.o.Adopt, out, stats.Unstored, err)
				}
				if try.ok {
					continue
				}
				if u := stats.Unstored; u.Code != abi.CodeState || !strings.Contains(u.Hint, "kagewasm memory repair") {
					t.Errorf("%+v", u)
				}
				if strings.HasPrefix(name, "all") {
					delete(kv.Data, record) // whoever comes begins a new line, which is not the agent's
				}
				if !maps.Equal(kv.Data, before) {
					t.Errorf("version %s changed\n%v\nto\n%v", try.version, before, kv.Data)
				}
			}
			if got := kv.Data["asks@a-b-c14cddc033f6 v"]; strings.Contains(name, "agent") && got != "2" {
				t.Errorf("the agent's data is %q", got)
			}
		})
	}
}

// TestLineageOfBefore: a record without a checksum is one that an earlier version
// wrote, when agents had none.
func TestLineageOfBefore(t *testing.T) {
	digest := plugintest.MustLoad(t, plugintest.New(t, runtime.Options{}), keeper("1"), keeperOptions()).Digest()
	agent := plugintest.HookInput()
	agent.Session.AgentPath = "a/b"
	kv := &plugintest.KV{Data: map[string]string{"_lineage asks.json": `{"digests":["` + digest + `"]}`, "asks v": "0",
		"asks@a-b-c14cddc033f6 v": "0"}}
	if w := storeOnce(t, kv, "1", keeperOptions(), agent); len(w) > 0 ||
		!strings.Contains(kv.Data["_lineage asks.json"], `"sum"`) {
		t.Errorf("%q, %v", w, kv.Data)
	}
	if w := storeOnce(t, kv, "2", keeperOptions(), agent); len(w) != 1 || kv.Data["asks@a-b-c14cddc033f6 v"] != "1" {
		t.Errorf("a stranger: %q, %v", w, kv.Data)
	}
}

// TestLineageRace: of several modules that claim a name at once, one has it.
func TestLineageRace(t *testing.T) {
	kv := &plugintest.KV{Data: make(map[string]string)}
	r := plugintest.New(t, runtime.Options{KV: kv})
	var wg sync.WaitGroup
	for _, version := range []string{"1", "2", "3", "4", "5", "6"} {
		t.Run(version, func(t *testing.T) {
			p := plugintest.MustLoad(t, r, keeper(version), keeperOptions())
			wg.Go(func() {
				for range 3 {
					if _, _, err := p.CallRaw(context.Background(), pre, nil); err != nil {
						t.Error(err)
					}
				}
			})
		})
	}
	wg.Wait()
	spaces := make(map[string]int)
	for _, version := range []string{"1", "2", "3", "4", "5", "6"} {
		for _, ns := range where(kv, version) {
			spaces[ns]++
		}
	}
	if len(spaces) != 6 || spaces["asks"] != 1 {
		t.Errorf("they share: %v", kv.Data)
	}
}

// TestAgentsAreSeparate: every agent's data lies apart, in whatever way its
// path is written, and the only agent's where it always was.
func TestAgentsAreSeparate(t *testing.T) {
	kv := &plugintest.KV{Data: make(map[string]string)}
	paths := []string{"", "main/reviewer", "main/Reviewer", "main-reviewer", "../..", "@", strings.Repeat("long/", 300),
		"プラン"}
	for _, path := range paths {
		in := plugintest.HookInput()
		in.Session.AgentPath = path
		storeOnce(t, kv, "1", keeperOptions(), in)
	}
	found := where(kv, "1")
	if len(found) != len(paths) || found[0] != "asks" {
		t.Errorf("%d namespaces for %d agents: %q", len(found), len(paths), found)
	}
	for _, ns := range found {
		if !abi.ValidNamespace(ns) {
			t.Errorf("%q is no namespace", ns)
		}
	}
	if !slices.ContainsFunc(found, func(ns string) bool { return strings.HasPrefix(ns, "asks@main-reviewer-") }) {
		t.Errorf("a person cannot tell whose it is: %q", found)
	}
}

// TestNamespace: whoever stores what a plugin retains finds the same place as
// the plugin, and a stranger's call says that it is another.
func TestNamespace(t *testing.T) {
	kv := &plugintest.KV{Data: make(map[string]string)}
	r := plugintest.New(t, runtime.Options{KV: kv})
	first, second := plugintest.MustLoad(t, r, keeper("1"), keeperOptions()),
		plugintest.MustLoad(t, r, wasmtest.Answer(pre, `{"retain":["x"]}`), keeperOptions())
	ns, err := first.Namespace(context.Background(), "a/b")
	if err != nil || ns != abi.AgentNamespace("asks", "a/b") {
		t.Errorf("%q, %v", ns, err)
	}
	_, stats, err := second.Call(context.Background(), plugintest.HookInput())
	if err != nil || len(stats.Warnings) != 1 || !strings.Contains(stats.Warnings[0], "asks+") {
		t.Errorf("%q, %v", stats.Warnings, err)
	}
	ns, err = second.Namespace(context.Background(), "")
	if err != nil || ns != abi.NamespaceOf("asks", second.Digest()) {
		t.Errorf("%q, %v", ns, err)
	}
	kv.Fail = errors.New("on fire")
	if _, err := plugintest.MustLoad(t, r, keeper("3"), keeperOptions()).Namespace(context.Background(), ""); err == nil {
		t.Error("a storage that fails tells nobody's line")
	}
	if ns, err := plugintest.MustLoad(t, plugintest.New(t, runtime.Options{}), keeper("1"), keeperOptions()).Namespace(
		context.Background(), ""); ns != "asks" || err != nil {
		t.Errorf("without storage: %q, %v", ns, err)
	}
}
