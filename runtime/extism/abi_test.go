package extism_test

import (
	"context"
	"github.com/kagewasm/kagewasm/internal/plugintest"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	sdk "github.com/extism/go-sdk"
	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/wasmtest"
	"github.com/kagewasm/kagewasm/runtime"
	"github.com/kagewasm/kagewasm/runtime/internal/host"
)

// TestExtismABI: every function that upstream's kernel exports can be imported
// here with its signature, and so can every function that its SDK adds; there
// is none that upstream does not have.
func TestExtismABI(t *testing.T) {
	ctx := context.Background()
	wasm, err := os.ReadFile(filepath.Join(plugintest.SDKDir(t), "extism-runtime.wasm"))
	if err != nil {
		t.Fatal(err)
	}
	rt := wazero.NewRuntimeWithConfig(ctx, wazero.NewRuntimeConfigInterpreter())
	defer rt.Close(ctx)
	kernel, err := rt.CompileModule(ctx, wasm)
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{ // what the SDK adds in Go: it has no list to read
		"config_get": "(i64)->i64", "var_get": "(i64)->i64", "var_set": "(i64,i64)",
		"http_request": "(i64,i64)->i64", "http_status_code": "()->i32", "http_headers": "()->i64",
		"get_log_level": "()->i32", "log_trace": "(i64)", "log_debug": "(i64)", "log_info": "(i64)",
		"log_warn": "(i64)", "log_error": "(i64)",
	}
	for name, f := range kernel.ExportedFunctions() {
		want[name] = signature(f.ParamTypes(), f.ResultTypes())
	}
	got := extismABI()
	if !maps.Equal(got, want) {
		t.Errorf("functions of ours %v\nof kernel %s and SDK %v", got, sdk.RuntimeVersion(), want)
	}
	imports := wasmtest.Build(func(m *wasmtest.Module) {
		types := map[string]wasmtest.Type{"i32": wasmtest.I32, "i64": wasmtest.I64}
		list := func(s string) (out []wasmtest.Type) {
			for name := range strings.SplitSeq(strings.Trim(s, "()"), ",") {
				if name != "" {
					out = append(out, types[name])
				}
			}
			return out
		}
		for _, name := range slices.Sorted(maps.Keys(want)) {
			params, results, _ := strings.Cut(want[name], "->")
			m.Import(abi.ExtismModule, name, list(params), list(results))
		}
		m.Memory(1, -1, "memory")
		wasmtest.WithHook(m)
	})
	if r := stock(t, imports, sdkCase{export: pre}); r.err != nil {
		t.Errorf("stock: %v", r.err)
	}
	for _, engine := range engines {
		if _, _, err := plugintest.MustLoad(t, plugintest.New(t, runtime.Options{}), imports,
			runtime.PluginOptions{Engine: engineOf(engine)}).CallRaw(ctx, pre, nil); err != nil {
			t.Errorf("%s: %v", engine, err)
		}
	}
}

func signature(params, results []api.ValueType) string {
	names := func(types []api.ValueType) string {
		var list []string
		for _, typ := range types {
			list = append(list, api.ValueTypeName(typ))
		}
		return strings.Join(list, ",")
	}
	s := "(" + names(params) + ")"
	if len(results) > 0 {
		s += "->" + names(results)
	}
	return s
}

// extismABI are the functions of the Extism ABI with their signatures.
func extismABI() map[string]string {
	funcs := make(map[string]string)
	for _, f := range host.Functions[abi.ExtismModule] {
		funcs[f.Name] = string(f.Signature)
	}
	return funcs
}
