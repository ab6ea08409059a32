package meter

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/kagewasm/kagewasm/runtime/internal/wasm"
)

// function is the control flow of one function: its instructions, its blocks and
// where its branches go. It is used for one function after the other.
type function struct {
	module *module
	index  int // without the imported ones
	locals int // the parameters included
	code   wasm.Code
	// ref is, for an instruction that begins, splits or ends a block or that
	// branches, the block. Branches of a br_table are in tableRefs.
	ref       []int32
	tableRefs []int32
	blocks    []block
	open      []int32 // the blocks that are open, while walking
	jumps     []jump  // in the order of their instructions
	assigned  []int32 // by local, behind the instruction that last assigned it
}

// block is a block, loop or if, or the whole function.
type block struct {
	op         byte
	start      int32 // its instruction, -1 of the function
	els        int32 // the else, -1 where there is none
	end        int32 // -1 while it is open
	level      int32 // how many blocks are around it
	loops      int32 // how many of them, and itself, are loops
	params     int32
	results    int32
	assigns    int32 // how many locals are assigned in it
	branchedTo bool
	dispatch   *dispatch
	// editsBehind is how many edits there are behind the end; see charge.go.
	editsBehind int
	seen        uint32 // the br_table that was last found to branch there
}

const void = -64 // a block type: no parameters, no results

var errUnbalanced = errors.New("blocks that do not match")

// takes is how many operands a branch to the block takes along.
func (b *block) takes() int32 {
	if b.op == wasm.OpLoop {
		return b.params
	}
	return b.results
}

// typ is the type of the function.
func (f *function) typ() *wasm.FuncType { return f.module.bodyType(f.index) }

// targets are the blocks that a br_table branches to.
func (f *function) targets(in *wasm.Instr) []int32 { return f.tableRefs[in.A : in.A+in.B] }

// read decodes a function, checks its indices and finds where its branches go.
func (f *function) read(index int) error {
	f.index = index
	body := f.module.Bodies[index]
	if err := f.code.Decode(f.module.bytes, body); err != nil {
		return err
	}
	f.ref = zeroed(f.ref, len(f.code.List))
	f.tableRefs = zeroed(f.tableRefs, len(f.code.Targets))
	f.blocks, f.open, f.jumps = f.blocks[:0], f.open[:0], f.jumps[:0]
	f.locals = len(f.typ().Params)
	for _, l := range body.Locals {
		f.locals += int(l.N)
	}
	f.assigned = zeroed(f.assigned, f.locals)
	f.begin(block{start: -1, results: int32(len(f.typ().Results))})
	for i := range f.code.List {
		if err := f.step(int32(i)); err != nil {
			return fmt.Errorf("at byte %d: %w", f.code.List[i].Pos, err)
		}
	}
	if len(f.open) > 0 {
		return errUnbalanced
	}
	return f.checkNesting()
}

// step walks over one instruction.
func (f *function) step(i int32) error {
	if len(f.open) == 0 {
		return errUnbalanced // code behind the end of the function
	}
	in := &f.code.List[i]
	innermost := f.open[len(f.open)-1]
	b := &f.blocks[innermost]
	switch in.Op {
	case wasm.OpBlock, wasm.OpLoop, wasm.OpIf:
		return f.block(i, in)
	case wasm.OpElse:
		if b.op != wasm.OpIf || b.els >= 0 {
			return errUnbalanced
		}
		b.els, f.ref[i] = i, innermost
	case wasm.OpEnd:
		b.end, f.ref[i] = i, innermost
		if f.open = f.open[:len(f.open)-1]; len(f.open) > 0 {
			f.blocks[f.open[len(f.open)-1]].assigns += b.assigns
		}
	case wasm.OpBr, wasm.OpBrIf:
		id, err := f.target(in.A)
		if err != nil {
			return err
		}
		f.ref[i] = id
		f.noteJump(i, in)
	case wasm.OpBrTable:
		for k := in.A; k < in.A+in.B; k++ {
			id, err := f.target(f.code.Targets[k])
			if err != nil {
				return err
			}
			f.tableRefs[k] = id
		}
	default:
		if err := f.module.checkIndex(in, f.locals); err != nil {
			return err
		}
		if in.Op == wasm.OpLocalSet || in.Op == wasm.OpLocalTee {
			f.assign(i, in.A)
		}
	}
	return nil
}

// assign counts a local in the blocks that are open and do not assign it yet. Blocks
// add what is in them to those around them when they end, so it is counted in the
// innermost, and taken back in the first one that has it.
func (f *function) assign(i int32, local uint32) {
	last := f.assigned[local] - 1
	f.assigned[local] = i + 1
	f.blocks[f.open[len(f.open)-1]].assigns++
	has, _ := slices.BinarySearchFunc(f.open, last, func(id, last int32) int {
		return cmp.Compare(f.blocks[id].start, last)
	})
	if has > 0 && last >= 0 {
		f.blocks[f.open[has-1]].assigns--
	}
}

// begin opens a block and returns its number.
func (f *function) begin(b block) int32 {
	b.els, b.end, b.level = -1, -1, int32(len(f.open))
	if b.level > 0 {
		b.loops = f.blocks[f.open[b.level-1]].loops
	}
	if b.op == wasm.OpLoop {
		b.loops++
	}
	f.blocks = append(f.blocks, b)
	id := int32(len(f.blocks) - 1)
	f.open = append(f.open, id)
	return id
}

// block is the instruction that begins one.
func (f *function) block(i int32, in *wasm.Instr) error {
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
	f.ref[i] = f.begin(b)
	return nil
}

// target is the block that a branch out of so many blocks goes to.
func (f *function) target(depth uint32) (int32, error) {
	if uint64(depth) >= uint64(len(f.open)) {
		return 0, fmt.Errorf("a branch out of %d blocks, of %d", depth, len(f.open))
	}
	id := f.open[len(f.open)-1-int(depth)]
	f.blocks[id].branchedTo = true
	return id, nil
}
