package runtime_test

import (
	"context"
	"github.com/kagewasm/kagewasm/internal/plugintest"
	"slices"
	"sync/atomic"
	"testing"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/features"
	"github.com/kagewasm/kagewasm/internal/wasmtest"
	"github.com/kagewasm/kagewasm/runtime"
)

// watched is a context that counts how often somebody asks whether it is over.
type watched struct {
	context.Context
	looks atomic.Int64
}

func (w *watched) Err() error {
	w.looks.Add(1)
	return nil
}

// host functions that move a lot look at the clock by what they
// move, however few their calls are: once for each megabyte.
func TestClockByBytes(t *testing.T) {
	features.Proves(t, "N1")
	const calls, size = 40, 1 << 20
	c32, c64, call := wasmtest.Const32, wasmtest.Const64, wasmtest.Call
	i32, i64 := []wasmtest.Type{wasmtest.I32}, []wasmtest.Type{wasmtest.I64}
	// bulk calls one of the bulk functions with that many numbers.
	bulk := func(name string, result []wasmtest.Type, args ...int32) []byte {
		return wasmtest.Build(func(m *wasmtest.Module) {
			f := m.Import(abi.ImportModule, name, slices.Repeat(i32, len(args)), result)
			m.Memory(32, -1, "memory")
			var code []byte
			for _, a := range args {
				code = append(code, c32(a)...)
			}
			if code = append(code, call(f)...); result != nil {
				code = append(code, wasmtest.Drop...)
			}
			m.Hook(pre, nil, wasmtest.Times(calls, code), c32(0))
		})
	}
	// variable keeps one, and then uses functions of the Extism ABI.
	variable := func(code func(alloc, free, get, set wasmtest.Func) []byte) []byte {
		return wasmtest.Build(func(m *wasmtest.Module) {
			alloc, free := m.Import(abi.ExtismModule, "alloc", i64, i64), m.Import(abi.ExtismModule, "free", i64, nil)
			get, set := m.Import(abi.ExtismModule, "var_get", i64, i64),
				m.Import(abi.ExtismModule, "var_set", slices.Repeat(i64, 2), nil)
			m.Hook(pre, nil, c64(8), call(alloc), c64(size), call(alloc), call(set),
				wasmtest.Times(calls, code(alloc, free, get, set)), c32(0))
		})
	}
	for name, wasm := range map[string][]byte{
		"input_read":   bulk("input_read", i32, 0, 0, size),
		"output_write": bulk("output_write", i32, 0, size),
		"error_write":  bulk("error_write", nil, 0, size),
		"var_get": variable(func(alloc, free, get, _ wasmtest.Func) []byte {
			return slices.Concat(c64(8), call(alloc), call(get), call(free))
		}),
		"var_set": variable(func(alloc, _, _, set wasmtest.Func) []byte {
			return slices.Concat(c64(8), call(alloc), c64(size), call(alloc), call(set))
		}),
		"alloc": variable(func(alloc, free, _, _ wasmtest.Func) []byte {
			return slices.Concat(c64(size), call(alloc), call(free))
		}),
	} {
		t.Run(name, func(t *testing.T) {
			p := plugintest.MustLoad(t, plugintest.New(t, runtime.Options{}), wasm,
				runtime.PluginOptions{Limits: abi.Limits{OutputBytes: calls * size, MemoryMB: 256}})
			caller := &watched{Context: context.Background()}
			if _, _, err := p.CallRaw(caller, pre, make([]byte, size)); err != nil {
				t.Fatal(err)
			}
			if n := caller.looks.Load(); n < calls {
				t.Errorf("%d looks at the clock in %d MiB", n, calls)
			}
		})
	}
}
