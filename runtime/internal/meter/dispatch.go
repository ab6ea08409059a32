package meter

import (
	"slices"

	"github.com/kagewasm/kagewasm/runtime/internal/wasm"
)

// dispatch is what compilers write for functions with jumps: a loop that begins
// with blocks around one br_table on a local. Setting the local and branching to
// the loop is a jump to behind the end of one of the blocks. A jump forward can
// as well be a branch to where it leads, and then needs no check.
type dispatch struct {
	local   uint32
	blocks  int32 // how many
	first   int32 // the outermost of them
	targets []uint32
}

// jump is a branch to a dispatch loop whose target is known.
type jump struct {
	from    int32 // its instruction
	to      int32 // the block behind which it goes on
	forward bool
	depth   uint32 // of that block, where it is forward
}

// dispatchAt recognizes a dispatch behind the loop at i.
func (f *function) dispatchAt(i int32) *dispatch {
	list := f.code.List[i+1:]
	n := 0
	for n < len(list) && list[n].Op == wasm.OpBlock && list[n].Value == void {
		n++
	}
	if n == 0 || n+1 >= len(list) || list[n].Op != wasm.OpLocalGet || list[n+1].Op != wasm.OpBrTable {
		return nil
	}
	t := &list[n+1]
	return &dispatch{
		local: list[n].A, blocks: int32(n), first: int32(len(f.blocks)) + 1,
		targets: f.code.Targets[t.A : t.A+t.B],
	}
}

// noteJump notes a branch to a dispatch where the two instructions before it
// say to which of the blocks.
func (f *function) noteJump(i int32, in *wasm.Instr) {
	d, list := f.blocks[f.ref[i]].dispatch, f.code.List
	if d == nil || in.Op != wasm.OpBr || i < 2 || list[i-2].Op != wasm.OpI32Const ||
		list[i-1].Op != wasm.OpLocalSet || list[i-1].A != d.local {
		return
	}
	k := min(uint64(uint32(list[i-2].Value)), uint64(len(d.targets)-1))
	depth := d.targets[k]
	if depth >= uint32(d.blocks) {
		return // the loop itself, or something around it
	}
	to := d.first + d.blocks - 1 - int32(depth)
	b := &f.blocks[to]
	out := uint32(int32(len(f.open)) - 1 - b.level)
	f.jumps = append(f.jumps, jump{from: i, to: to, forward: b.end < 0, depth: out})
}

// jumpAt is the jump of a branch to a dispatch, nil where its target is not
// known.
func (f *function) jumpAt(i int32) *jump {
	k, known := slices.BinarySearchFunc(f.jumps, i, func(j jump, from int32) int { return int(j.from - from) })
	if !known {
		return nil
	}
	return &f.jumps[k]
}
