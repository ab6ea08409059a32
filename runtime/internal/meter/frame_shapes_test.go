package meter_test

import (
	"bytes"
	"fmt"
	"slices"

	"github.com/kagewasm/kagewasm/runtime/internal/wasm"
)

// joinShapes are functions in which it is hard to say which values need a place
// in the frame.
func joinShapes() []frameShape {
	var all []frameShape
	for _, n := range []int{2, 12, 40} {
		all = append(all, shapesOf(wasm.I64, n)...)
	}
	all = append(all, shapesOf(wasm.F64, 12)...)
	all = append(all, shapesOf(wasm.V128, 12)...)
	all = append(all, shapesOf(wasm.V128, 40)...)
	return all
}

var (
	end    = []byte{wasm.OpEnd}
	iff    = []byte{wasm.OpIf, 0x40}
	els    = []byte{wasm.OpElse}
	blk    = []byte{wasm.OpBlock, 0x40}
	lp     = []byte{wasm.OpLoop, 0x40}
	weight = bytes.Repeat([]byte{wasm.OpI32Const, 0, wasm.OpDrop}, 100) // a long path
)

// shapesOf are the shapes with n locals of a type, and one of i32 behind them.
func shapesOf(t wasm.ValueType, n int) []frameShape {
	get := func(i int) []byte { return idx(wasm.OpLocalGet, i%n) }
	set := func(i int) []byte { return idx(wasm.OpLocalSet, i%n) }
	fill := each(n, func(i int) []byte { return slices.Concat(load(t, 16*i), set(i)) })
	use := slices.Concat([]byte{wasm.OpI32Const, 0}, get(0), each(n-1, func(i int) []byte {
		return slices.Concat(get(i+1), plus(t))
	}), store(t))
	bump := func(i int) []byte { return slices.Concat(get(i), load(t, 16*i+7), plus(t), set(i)) }
	turn := each(n, func(i int) []byte { return get(i + 1) }) // each local becomes the next
	for i := n - 1; i >= 0; i-- {
		turn = append(turn, set(i)...)
	}
	when := func(k int) []byte { return load(wasm.I32, 3000+4*k) }
	again := func(depth int) []byte { return slices.Concat(when(7), idx(wasm.OpBrIf, depth)) }
	loop := func(code ...[]byte) []byte { return slices.Concat(lp, slices.Concat(code...), again(0), end) }
	many := min(n, 12)
	pc := func(op byte) []byte { return idx(op, n) }
	jump := func(to, depth int) []byte {
		return slices.Concat([]byte{wasm.OpI32Const, byte(to)}, pc(wasm.OpLocalSet), idx(wasm.OpBr, depth))
	}

	dispatch := slices.Concat(lp, bytes.Repeat(blk, 4), pc(wasm.OpLocalGet), []byte{wasm.OpBrTable, 3, 0, 1, 2, 3}, end,
		fill, when(1), iff, jump(2, 4), end, bump(0), end,
		bump(1), when(2), iff, jump(3, 3), end, weight, end,
		use, fill, when(3), iff, jump(1, 2), end, end,
		use, when(4), iff, jump(0, 1), end, end, self, use)
	typed := func(op byte) []byte { return []byte{op, 2} }
	multi := slices.Concat(turn[:len(turn)/2], typed(wasm.OpBlock), when(1), idx(wasm.OpBrIf, 0), self, end,
		turn[len(turn)/2:])
	around := slices.Concat(turn[:len(turn)/2], typed(wasm.OpLoop), turn[len(turn)/2:], bump(0), turn[:len(turn)/2],
		again(0), end, turn[len(turn)/2:])

	shapes := map[string][]byte{
		"around a loop with a check": slices.Concat(
			fill, loop(weight, blk, when(1), idx(wasm.OpBrIf, 0), self, end), use, self),
		"across calls, changed one by one": slices.Concat(fill, each(3*n, func(i int) []byte {
			return slices.Concat(self, bump(i))
		}), use),
		"changed on one way": slices.Concat(fill, each(many, func(i int) []byte {
			return slices.Concat(when(i), iff, bump(i), end)
		}), self, use),
		"changed on both ways": slices.Concat(fill, each(many, func(i int) []byte {
			return slices.Concat(when(i), iff, bump(i), els, bump(i+1), end)
		}), self, use),
		"a call on one way": slices.Concat(fill, each(many, func(i int) []byte {
			return slices.Concat(when(i), iff, bump(i), self, end, bump(i+1))
		}), use, self),
		"exchanged on one way": slices.Concat(fill, each(many, func(i int) []byte {
			return slices.Concat(when(i), iff, turn, end)
		}), use, self),
		"exchanged in a loop":            slices.Concat(fill, loop(turn), use, self),
		"exchanged in a loop that calls": slices.Concat(fill, loop(turn, when(1), iff, self, end), use, self),
		"exchanged in a loop with many heads": slices.Concat(fill, lp, each(many, func(i int) []byte {
			return slices.Concat(turn, bump(i), when(i), idx(wasm.OpBrIf, 0))
		}), end, use, self),
		"loops in loops": slices.Concat(
			fill, loop(bump(0), loop(bump(1), loop(bump(2), turn), bump(0)), turn), use, self),
		"tight loops in a row": slices.Concat(fill, each(many, func(i int) []byte {
			return loop(bump(i), bump(i+1))
		}), use, self),
		"tight loops that are left": slices.Concat(fill, blk, each(many, func(i int) []byte {
			return loop(bump(i), when(i), idx(wasm.OpBrIf, 1), turn)
		}), end, use, self),
		"a branch table": slices.Concat(fill, bytes.Repeat(blk, many), when(0), []byte{wasm.OpBrTable, byte(many - 1)},
			each(many, func(i int) []byte { return []byte{byte(i)} }),
			each(many, func(i int) []byte { return slices.Concat(end, bump(i), bump(i+1)) }), self, use),
		"a dispatch loop":     dispatch,
		"results of blocks":   slices.Concat(fill, multi, use, self),
		"parameters of loops": slices.Concat(fill, around, use, self, around, use),
		"constants": slices.Concat(each(n, func(i int) []byte {
			return slices.Concat(zeros(times(1, t)), set(i))
		}), each(n, func(int) []byte { return zeros(times(1, t)) }), self,
			bytes.Repeat(plus(t), n-1), set(0), use),
		"only in dead code":   slices.Concat(fill, self, blk, idx(wasm.OpBr, 0), use, end),
		"shifted and divided": slices.Concat(fill, shifts(many), use, self),
		"pressure and joins": slices.Concat(fill, each(many, func(i int) []byte {
			return slices.Concat(use, when(i), iff, fill, end, bump(i))
		}), use, self),
		"addresses": slices.Concat(fill, when(1), pc(wasm.OpLocalSet), each(3*n, func(i int) []byte {
			return slices.Concat(pc(wasm.OpLocalGet), get(i), store(t), when(i), pc(wasm.OpLocalTee), get(i+1), store(t))
		}), use, self),
	}
	var list []frameShape
	for name, code := range shapes {
		list = append(list, frameShape{
			name: fmt.Sprintf("%s, %d %s", name, n, t), locals: append(times(n, t), wasm.I32, wasm.I32), code: code,
			block: times(n, t),
		})
	}
	slices.SortFunc(list, func(a, b frameShape) int { return bytes.Compare([]byte(a.name), []byte(b.name)) })
	return list
}

// shifts are shifts and divisions by unknown numbers, of one i32.
func shifts(n int) []byte {
	return slices.Concat([]byte{wasm.OpI32Const, 0}, load(wasm.I32, 8), each(n, func(i int) []byte {
		return slices.Concat(load(wasm.I32, 12+i), []byte{[]byte{0x74, 0x75, 0x76, 0x77, 0x78}[i%5], wasm.OpI32Const},
			[]byte{5}, load(wasm.I32, 70+i), []byte{wasm.OpI32Const, 1, 0x72, 0x6d, 0x6a})
	}), store(wasm.I32))
}
