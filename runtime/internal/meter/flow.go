package meter

import (
	"errors"
	"fmt"
	"slices"

	"github.com/kagewasm/kagewasm/runtime/internal/wasm"
)

// flow is the control flow of one function: its instructions and where they
// branch to. It is used for one function after the other.
type flow struct {
	module *view
	code   wasm.Code
	// ref is, for an instruction that begins, splits or ends a block or that
	// branches, the block. Branches of a br_table are in tableRefs.
	ref       []int32
	tableRefs []int32
	blocks    []block
	jumps     []jump // in the order of their instructions

	locals int     // the parameters included
	stack  []int32 // the blocks that are open, while walking
}

// block is a block, loop or if, or the whole function.
type block struct {
	op         byte
	start      int32 // its instruction, -1 of the function
	els        int32 // the else, -1 where there is none
	end        int32 // -1 while it is open
	level      int32 // how many blocks are around it
	params     int32
	results    int32
	branchedTo bool
	dispatch   *dispatch
	// editsBehind is how many edits there are behind the end; see paths.
	editsBehind int
	seen        uint32 // the br_table that was last found to branch there
}

// dispatch is what compilers write for functions with jumps: a loop that begins
// with blocks around one br_table on a local. Setting the local and branching to
// the loop is a jump to behind the end of one of the blocks.
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

const void = -64 // a block type: no parameters, no results

var errUnbalanced = errors.New("blocks that do not match")

// read decodes a function and finds where its branches go.
func (f *flow) read(index int) error {
	body := f.module.Bodies[index]
	if err := f.code.Decode(f.module.bytes, body); err != nil {
		return err
	}
	f.ref = append(f.ref[:0], make([]int32, len(f.code.List))...)
	f.tableRefs = append(f.tableRefs[:0], make([]int32, len(f.code.Targets))...)
	f.blocks, f.stack = f.blocks[:0], f.stack[:0]
	f.jumps = f.jumps[:0]
	typ, err := f.module.typeOf(f.module.Funcs[index])
	if err != nil {
		return err
	}
	f.locals = len(typ.Params)
	for _, l := range body.Locals {
		f.locals += int(l.N)
	}
	f.open(block{start: -1, results: int32(len(typ.Results))})
	for i := range f.code.List {
		if err := f.step(int32(i)); err != nil {
			return fmt.Errorf("at byte %d: %w", f.code.List[i].Pos, err)
		}
	}
	if len(f.stack) > 0 {
		return errUnbalanced
	}
	return f.vet()
}

func (f *flow) open(b block) int32 {
	b.els, b.end, b.level = -1, -1, int32(len(f.stack))
	f.blocks = append(f.blocks, b)
	id := int32(len(f.blocks) - 1)
	f.stack = append(f.stack, id)
	return id
}

// step walks over one instruction.
func (f *flow) step(i int32) error {
	if len(f.stack) == 0 {
		return errUnbalanced // code behind the end of the function
	}
	in := &f.code.List[i]
	switch in.Op {
	case wasm.OpBlock, wasm.OpLoop, wasm.OpIf:
		return f.begin(i, in)
	case wasm.OpElse:
		id := f.stack[len(f.stack)-1]
		b := &f.blocks[id]
		if b.op != wasm.OpIf || b.els >= 0 {
			return errUnbalanced
		}
		b.els, f.ref[i] = i, id
	case wasm.OpEnd:
		id := f.stack[len(f.stack)-1]
		f.stack = f.stack[:len(f.stack)-1]
		f.blocks[id].end, f.ref[i] = i, id
	case wasm.OpBr, wasm.OpBrIf:
		return f.branch(i, in)
	case wasm.OpBrTable:
		for k := in.A; k < in.A+in.B; k++ {
			id, err := f.target(f.code.Targets[k])
			if err != nil {
				return err
			}
			f.tableRefs[k] = id
		}
	case wasm.OpCall, wasm.OpCallIndirect:
		_, err := f.module.calleeType(in)
		return err
	default:
		return f.module.checkIndex(in, f.locals)
	}
	return nil
}

func (f *flow) begin(i int32, in *wasm.Instr) error {
	b := block{op: in.Op, start: i}
	switch {
	case in.Value >= 0:
		typ, err := f.module.typeOf(uint32(in.Value))
		if err != nil {
			return err
		}
		b.params, b.results = int32(len(typ.Params)), int32(len(typ.Results))
	case in.Value != void:
		b.results = 1
	}
	if b.op == wasm.OpLoop && in.Value == void {
		b.dispatch = f.dispatchAt(i)
	}
	f.ref[i] = f.open(b)
	return nil
}

// dispatchAt recognizes a dispatch behind the loop at i.
func (f *flow) dispatchAt(i int32) *dispatch {
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

func (f *flow) target(depth uint32) (int32, error) {
	if uint64(depth) >= uint64(len(f.stack)) {
		return 0, fmt.Errorf("a branch out of %d blocks, of %d", depth, len(f.stack))
	}
	id := f.stack[len(f.stack)-1-int(depth)]
	f.blocks[id].branchedTo = true
	return id, nil
}

func (f *flow) branch(i int32, in *wasm.Instr) error {
	id, err := f.target(in.A)
	if err != nil {
		return err
	}
	f.ref[i] = id
	if d := f.blocks[id].dispatch; d != nil && in.Op == wasm.OpBr {
		if to := f.jumpTarget(i, d); to >= 0 {
			f.jumps = append(f.jumps, jump{from: i, to: to, forward: f.blocks[to].end < 0, depth: uint32(int32(len(f.stack)) - 1 - f.blocks[to].level)})
		}
	}
	return nil
}

// jumpTarget is the block behind which a branch to a dispatch goes on, where
// the two instructions before it say so, else -1.
func (f *flow) jumpTarget(i int32, d *dispatch) int32 {
	list := f.code.List
	if i < 2 || list[i-1].Op != wasm.OpLocalSet || list[i-1].A != d.local || list[i-2].Op != wasm.OpI32Const {
		return -1
	}
	k := min(uint64(uint32(list[i-2].Value)), uint64(len(d.targets)-1))
	depth := d.targets[k]
	if depth >= uint32(d.blocks) {
		return -1 // the loop itself, or something around it
	}
	return d.first + d.blocks - 1 - int32(depth)
}

// jumpAt is the jump of a branch to a dispatch, nil where its target is not
// known.
func (f *flow) jumpAt(i int32) *jump {
	k, known := slices.BinarySearchFunc(f.jumps, i, func(j jump, from int32) int { return int(j.from - from) })
	if !known {
		return nil
	}
	return &f.jumps[k]
}
