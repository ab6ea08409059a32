package meter_test

import (
	"bytes"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/kagewasm/kagewasm/internal/soak"
	"github.com/kagewasm/kagewasm/runtime/internal/meter"
	"github.com/kagewasm/kagewasm/runtime/internal/wasm"
)

// heavy are modules that are hard to rewrite, in sizes. Some would take too long
// to compile: that is found out after all of the work but writing.
var heavy = []struct {
	name   string
	module func(n int) sections // of about n KB
}{
	{"tiny functions", func(n int) sections {
		return void(slices.Repeat([][]byte{function()}, n*100)...)
	}},
	{"a chain of calls", func(n int) sections {
		all := make([][]byte, n*90)
		for i := range all {
			all[i] = function(idx(wasm.OpCall, min(i+1, len(all)-1)), idx(wasm.OpCall, min(i+1, len(all)-1)))
		}
		return void(all...)
	}},
	{"nops", func(n int) sections { return many(n, 128, function(bytes.Repeat([]byte{wasm.OpNop}, 128<<10))) }},
	{"constants on the stack, and calls", func(n int) sections {
		return many(n, 128, function(bytes.Repeat([]byte{wasm.OpI32Const, 0}, 25_000),
			bytes.Repeat([]byte{wasm.OpCall, 0}, 25_000), bytes.Repeat([]byte{wasm.OpDrop}, 25_000)))
	}},
	{"growing the memory", func(n int) sections {
		return many(n, 128, function([]byte{wasm.OpI32Const, 0}, bytes.Repeat([]byte{wasm.OpMemoryGrow, 0}, 64<<10),
			[]byte{wasm.OpDrop}))
	}},
	{"nested blocks", func(n int) sections {
		return many(n, 12, function(bytes.Repeat([]byte{wasm.OpBlock, 0x40}, 4_000), bytes.Repeat([]byte{wasm.OpEnd}, 4_000)))
	}},
	{"nested loops", func(n int) sections {
		return many(n, 28, function(bytes.Repeat([]byte{wasm.OpLoop, 0x40}, 4_000),
			bytes.Repeat([]byte{wasm.OpI32Const, 0, wasm.OpBrIf, 0, wasm.OpEnd}, 4_000)))
	}},
	{"loops in a row", func(n int) sections {
		return many(n, 35, function(bytes.Repeat(
			[]byte{wasm.OpLoop, 0x40, wasm.OpI32Const, 0, wasm.OpBrIf, 0, wasm.OpEnd}, 5_000)))
	}},
	{"a branch table out of nested dispatches", func(n int) sections {
		dispatch := []byte{wasm.OpLoop, 0x40, wasm.OpBlock, 0x40, wasm.OpLocalGet, 0, wasm.OpBrTable, 0, 0, wasm.OpEnd}
		table := wasm.AppendU32([]byte{wasm.OpLocalGet, 0, wasm.OpBrTable}, 80_000)
		for i := range 80_001 {
			table = wasm.AppendU32(table, uint32(i%1_300))
		}
		code := slices.Concat(bytes.Repeat(dispatch, 1_300), table, bytes.Repeat([]byte{wasm.OpEnd}, 1_300))
		body := append([]byte{1, 1, byte(wasm.I32)}, append(code, wasm.OpEnd)...)
		return many(n, 170, append(wasm.AppendU32(nil, uint32(len(body))), body...))
	}},
	{"jumps, then tiny functions", func(n int) sections {
		jump := []byte{wasm.OpI32Const, 0, wasm.OpLocalSet, 0, wasm.OpBr, 0}
		code := slices.Concat([]byte{wasm.OpLoop, 0x40, wasm.OpBlock, 0x40, wasm.OpLocalGet, 0, wasm.OpBrTable, 0, 0,
			wasm.OpEnd}, bytes.Repeat(jump, 20_000), []byte{wasm.OpEnd})
		body := append([]byte{1, 1, byte(wasm.I32)}, append(code, wasm.OpEnd)...)
		first := append(wasm.AppendU32(nil, uint32(len(body))), body...)
		return void(append([][]byte{first}, slices.Repeat([][]byte{function()}, n*90)...)...)
	}},
	{"locals that live everywhere", func(n int) sections {
		turn := func(i int) []byte {
			return slices.Concat(idx(wasm.OpLocalGet, i), []byte{wasm.OpBrIf, 0}, idx(wasm.OpLocalGet, i+1),
				idx(wasm.OpLocalSet, i))
		}
		code := slices.Concat([]byte{wasm.OpLoop, 0x40}, each(4_000, turn), []byte{wasm.OpEnd})
		body := slices.Concat([]byte{1}, wasm.AppendU32(nil, 4_096), []byte{byte(wasm.I32)}, code, []byte{wasm.OpEnd})
		return many(n, len(body)>>10, append(wasm.AppendU32(nil, uint32(len(body))), body...))
	}},
	{"elements", func(n int) sections {
		elements := append(wasm.AppendU32([]byte{1, 0, wasm.OpI32Const, 0, wasm.OpEnd}, uint32(n<<10)),
			make([]byte, n<<10)...)
		return void(function()).with(sections{wasm.SectionElement: elements})
	}},
}

// many is a module of n KB, of a function of size KB.
func many(n, size int, f []byte) sections { return void(slices.Repeat([][]byte{f}, n/size)...) }

// TestLinear: twice the module takes no more than about twice the memory, and
// no more than so many times its length becomes of it.
func TestLinear(t *testing.T) {
	for _, h := range soak.Sample(heavy, 3, len(heavy)) {
		var took [2]uint64
		for i, n := range []int{384, 768} {
			t.Run(fmt.Sprintf("%s of %d KB", h.name, n), func(t *testing.T) {
				module := h.module(n).bytes()
				var before, after runtime.MemStats
				runtime.ReadMemStats(&before)
				m, err := wasm.Parse(module)
				if err != nil {
					t.Fatal(err)
				}
				out, _, err := meter.Rewrite(module, m, meter.Options{})
				if err != nil && !strings.Contains(err.Error(), " to compile: ") {
					t.Fatal(err)
				}
				runtime.ReadMemStats(&after)
				took[i] = (after.TotalAlloc - before.TotalAlloc) / uint64(len(module))
				if len(out) > maxGrowth*len(module)+2_000 {
					t.Errorf("%s: %d bytes became %d", h.name, len(module), len(out))
				}
			})
		}
		if took[1] > 2*took[0]+100 {
			t.Errorf("%s: %d bytes a byte, then %d", h.name, took[0], took[1])
		}
	}
}

// BenchmarkRewrite shows that the time for a byte does not grow.
func BenchmarkRewrite(b *testing.B) {
	for _, h := range heavy {
		for _, n := range []int{384, 768} {
			b.Run(fmt.Sprintf("%s/%d", h.name, n), func(b *testing.B) {
				module := h.module(n).bytes()
				b.SetBytes(int64(len(module)))
				for b.Loop() {
					m, err := wasm.Parse(module)
					if err != nil {
						b.Fatal(err)
					}
					_, _, _ = meter.Rewrite(module, m, meter.Options{}) // or refused, for compiling
				}
			})
		}
	}
}
