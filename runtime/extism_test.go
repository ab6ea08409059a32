package runtime_test

import (
	"context"
	"path/filepath"
	"testing"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/plugintest"
	"github.com/kagewasm/kagewasm/internal/wasmtest"
	"github.com/kagewasm/kagewasm/runtime"
)

// A guest that allocates and frees in a loop is what Extism's kernel is slow
// at; here it is done long before the default deadline.
func TestExtismAllocLoop(t *testing.T) {
	p, err := plugintest.LoadFile(context.Background(), plugintest.New(t, runtime.Options{}),
		filepath.Join(plugintest.SDKDir(t), "wasm", "alloc.wasm"), runtime.PluginOptions{AnyExport: true})
	if err != nil {
		t.Fatal(err)
	}
	if _, stats, err := p.CallRaw(context.Background(), "run_test", nil); err != nil || stats.MS > 5_000 {
		t.Errorf("%v ms, %v", stats.MS, err)
	}
}

func TestExtismBlocks(t *testing.T) {
	c64, c32, call := wasmtest.Const64, wasmtest.Const32, wasmtest.Call
	get, set := wasmtest.Get, wasmtest.Set
	type imp = func(string, string, string) wasmtest.Func
	for _, tc := range []struct {
		name string
		wasm []byte
		code abi.Code
		why  string
	}{
		{"alloc and free", wasmtest.ExtismGuest(func(m *wasmtest.Module, imp imp) {
			alloc, free := imp("alloc", "l", "l"), imp("free", "l", "")
			m.Hook(pre, []wasmtest.Type{wasmtest.I32, wasmtest.I64}, wasmtest.While(
				c64(1_000_000), call(alloc), set(1), get(1), wasmtest.Wrap64, wasmtest.IfZeroTrap, get(1), call(free),
				get(0), c32(1), wasmtest.Add32, set(0), get(0), c32(1000), wasmtest.LtU32), c32(0))
		}), "", "a gigabyte in all, a megabyte at a time, fits 8 MiB"},
		{"alloc without free", wasmtest.ExtismGuest(func(m *wasmtest.Module, imp imp) {
			alloc := imp("alloc", "l", "l")
			m.Hook(pre, nil, wasmtest.Forever(c64(100_000), call(alloc), wasmtest.Wrap64, wasmtest.IfZeroTrap))
		}), abi.CodeMemory, "that memory counts against the memory of the call"},
		{"tiny blocks", wasmtest.ExtismGuest(func(m *wasmtest.Module, imp imp) {
			alloc := imp("alloc", "l", "l")
			m.Hook(pre, nil, wasmtest.Forever(c64(1), call(alloc), wasmtest.Wrap64, wasmtest.IfZeroTrap))
		}), abi.CodeMemory, "what the host remembers of a block counts too"},
		{"alloc overflow", wasmtest.ExtismGuest(func(m *wasmtest.Module, imp imp) {
			alloc := imp("alloc", "l", "l")
			m.Hook(pre, nil, c64(-1), call(alloc), wasmtest.Wrap64, wasmtest.IfZeroTrap, c32(0))
		}), abi.CodeMemory, "2^64-1 bytes wrap nowhere"},
		{"alloc half of it", wasmtest.ExtismGuest(func(m *wasmtest.Module, imp imp) {
			alloc := imp("alloc", "l", "l")
			m.Hook(pre, nil, c64(-1<<63), call(alloc), wasmtest.Wrap64, wasmtest.IfZeroTrap, c32(0))
		}), abi.CodeMemory, "nor do 2^63"},
		{"load outside", wasmtest.ExtismGuest(func(m *wasmtest.Module, imp imp) {
			load8 := imp("load_u8", "l", "i")
			m.Hook(pre, nil, c64(1<<40), call(load8))
		}), abi.CodeTrap, "an address that nothing is at"},
		{"load across the end", wasmtest.ExtismGuest(func(m *wasmtest.Module, imp imp) {
			load64 := imp("load_u64", "l", "l")
			m.Hook(pre, nil, c64(-4), call(load64), wasmtest.Wrap64)
		}), abi.CodeTrap, "an address whose end wraps"},
		{"store at null", wasmtest.ExtismGuest(func(m *wasmtest.Module, imp imp) {
			store8 := imp("store_u8", "li", "")
			m.Hook(pre, nil, c64(0), c32(1), call(store8), c32(0))
		}), abi.CodeTrap, "nothing is at 0"},
		{"output outside", wasmtest.ExtismGuest(func(m *wasmtest.Module, imp imp) {
			output := imp("output_set", "ll", "")
			m.Hook(pre, nil, c64(-100), c64(200), call(output), c32(0))
		}), abi.CodeTrap, "an output whose end wraps"},
		{"output too long", wasmtest.ExtismGuest(func(m *wasmtest.Module, imp imp) {
			alloc, output := imp("alloc", "l", "l"), imp("output_set", "ll", "")
			m.Hook(pre, nil, c64(5<<20), call(alloc), c64(5<<20), call(output), c32(0))
		}), abi.CodeOutputLimit, "refused before it is copied"},
		{"variables", wasmtest.ExtismGuest(func(m *wasmtest.Module, imp imp) {
			alloc, varSet, store := imp("alloc", "l", "l"), imp("var_set", "ll", ""), imp("store_u64", "ll", "")
			m.Hook(pre, []wasmtest.Type{wasmtest.I64, wasmtest.I64}, wasmtest.Forever(
				get(0), c64(1), wasmtest.Add64, set(0),
				c64(8), call(alloc), set(1), get(1), get(0), call(store),
				get(1), c64(1_000_000), call(alloc), call(varSet)))
		}), abi.CodeMemory, "variables count against the memory of the call"},
		{"input_set", wasmtest.ExtismGuest(func(m *wasmtest.Module, imp imp) {
			inputSet := imp("input_set", "ll", "")
			m.Hook(pre, nil, c64(0), c64(0), call(inputSet), c32(0))
		}), abi.CodeDenied, "the input is the host's"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			p := plugintest.MustLoad(t, plugintest.New(t, runtime.Options{}), tc.wasm,
				runtime.PluginOptions{Limits: abi.Limits{MemoryMB: 8}})
			_, stats, err := p.CallRaw(context.Background(), pre, nil)
			if got := abi.CodeOf(err); got != tc.code {
				t.Errorf("code %q, want %q (%v): %s", got, tc.code, err, tc.why)
			}
			if stats.PeakMemoryBytes > 8<<20 {
				t.Errorf("peak %d", stats.PeakMemoryBytes)
			}
		})
	}
}

// Variables live as long as the call: nothing leaks into the next.
func TestExtismVariables(t *testing.T) {
	wasm := wasmtest.ExtismGuest(func(m *wasmtest.Module, imp func(string, string, string) wasmtest.Func) {
		alloc, length := imp("alloc", "l", "l"), imp("length", "l", "l")
		varGet, varSet := imp("var_get", "l", "l"), imp("var_set", "ll", "")
		c64, call := wasmtest.Const64, wasmtest.Call
		// A name of eight zero bytes; the length of the variable is the result.
		name := append(c64(8), call(alloc)...)
		m.Export("get", m.Func(nil, []wasmtest.Type{wasmtest.I32}, nil, name, call(varGet), call(length), wasmtest.Wrap64))
		m.Hook(pre, nil, name, c64(5), call(alloc), call(varSet), name, call(varGet), call(length), wasmtest.Wrap64,
			wasmtest.Const32(5), wasmtest.Sub32)
	})
	p := plugintest.MustLoad(t, plugintest.New(t, runtime.Options{}), wasm, runtime.PluginOptions{})
	for range 2 {
		if _, _, err := p.CallRaw(context.Background(), pre, nil); err != nil {
			t.Errorf("a variable is there for the rest of the call: %v", err)
		}
		if _, _, err := p.CallRaw(context.Background(), "get", nil); err != nil {
			t.Errorf("a variable of the call before: %v", err)
		}
	}
}
