package runtime

import (
	"context"
	"encoding/binary"
	"fmt"
	"math"

	"github.com/kagewasm/kagewasm/abi"
)

// extismFuncs are the calls of the Extism ABI that stay with the call, as
// upstream's kernel and SDK define them, but that an access which is not inside
// the memory of the call stops the guest. The others are outwardFuncs.
var extismFuncs = []hostFunc{
	{"alloc", "(i64)->i64", func(ctx context.Context, c *call, stack []uint64) {
		c.moved(ctx, int(min(stack[0], uint64(c.memory.limit))))
		c.needInput()
		stack[0] = c.arena.alloc(stack[0])
	}},
	{"free", "(i64)", func(ctx context.Context, c *call, stack []uint64) {
		c.tick(ctx)
		c.arena.release(stack[0])
	}},
	{"length", "(i64)->i64", length},
	{"length_unsafe", "(i64)->i64", length},
	{"load_u8", "(i64)->i32", func(ctx context.Context, c *call, stack []uint64) {
		stack[0] = uint64(c.extism(ctx, "load_u8", stack[0], 1)[0])
	}},
	{"load_u64", "(i64)->i64", func(ctx context.Context, c *call, stack []uint64) {
		stack[0] = binary.LittleEndian.Uint64(c.extism(ctx, "load_u64", stack[0], 8))
	}},
	{"store_u8", "(i64,i32)", func(ctx context.Context, c *call, stack []uint64) {
		c.extism(ctx, "store_u8", stack[0], 1)[0] = byte(stack[1])
	}},
	{"store_u64", "(i64,i64)", func(ctx context.Context, c *call, stack []uint64) {
		binary.LittleEndian.PutUint64(c.extism(ctx, "store_u64", stack[0], 8), stack[1])
	}},
	{"input_length", "()->i64", func(ctx context.Context, c *call, stack []uint64) {
		c.tick(ctx)
		stack[0] = uint64(len(c.input))
	}},
	{"input_offset", "()->i64", func(ctx context.Context, c *call, stack []uint64) {
		c.tick(ctx)
		c.needInput()
		stack[0] = c.inputAt
	}},
	{"input_load_u8", "(i64)->i32", func(ctx context.Context, c *call, stack []uint64) {
		c.tick(ctx)
		at := stack[0]
		if stack[0] = 0; at < uint64(len(c.input)) {
			stack[0] = uint64(c.input[at])
		}
	}},
	{"input_load_u64", "(i64)->i64", func(ctx context.Context, c *call, stack []uint64) {
		c.tick(ctx)
		at := stack[0]
		if stack[0] = 0; len(c.input) >= 8 && at <= uint64(len(c.input)-8) {
			stack[0] = binary.LittleEndian.Uint64(c.input[at:])
		}
	}},
	{"input_set", "(i64,i64)", func(ctx context.Context, c *call, _ []uint64) {
		c.stop(abi.CodeDenied, "input_set: the input is the host's", "")
	}},
	{"output_set", "(i64,i64)", func(ctx context.Context, c *call, stack []uint64) {
		c.tick(ctx)
		c.setOutput(stack[0], stack[1])
	}},
	{"output_offset", "()->i64", func(ctx context.Context, c *call, stack []uint64) { stack[0] = c.outputAt }},
	{"output_length", "()->i64", func(ctx context.Context, c *call, stack []uint64) { stack[0] = c.outputLen }},
	{"error_set", "(i64)", func(ctx context.Context, c *call, stack []uint64) {
		text, _ := c.arena.block(stack[0])
		c.moved(ctx, len(text))
		c.setError(text)
	}},
	{"error_get", "()->i64", func(ctx context.Context, c *call, stack []uint64) {
		c.moved(ctx, len(c.errorText))
		stack[0] = c.arena.put([]byte(c.errorText))
	}},
	{"reset", "()", func(ctx context.Context, c *call, _ []uint64) {
		c.moved(ctx, len(c.arena.mem))
		c.arena.reset()
		c.input, c.inputAt, c.errorText = nil, 0, ""
		c.outputAt, c.outputLen, c.outputIn, c.output = 0, 0, false, nil
	}},
	{"memory_bytes", "()->i64", func(ctx context.Context, c *call, stack []uint64) { stack[0] = uint64(len(c.arena.mem)) }},
	{"config_get", "(i64)->i64", configGet},
	{"var_get", "(i64)->i64", varGet},
	{"var_set", "(i64,i64)", varSet},
}

// extism returns n bytes of the arena.
func (c *call) extism(ctx context.Context, name string, at, n uint64) []byte {
	c.tick(ctx)
	b, ok := c.arena.view(at, n)
	if !ok {
		c.stop(abi.CodeTrap, fmt.Sprintf("%s: %d bytes at %d are not all inside the memory of the call", name, n, at), "")
	}
	return b
}

// needInput puts the input into the arena, before anything else gets there:
// only guests that ask for its offset need it, and its offset must be stable.
func (c *call) needInput() {
	if c.inputAt != 0 || len(c.input) == 0 || !c.plugin.wantsInputOffset {
		return
	}
	if c.inputAt = c.arena.put(c.input); c.inputAt == 0 {
		c.stop(abi.CodeInputLimit, inputMessage(len(c.input), c.limits.MemoryMB), memoryHint)
	}
}

func length(ctx context.Context, c *call, stack []uint64) {
	c.tick(ctx)
	stack[0] = c.arena.length(stack[0])
}

// setOutput marks a range of the arena as the output. Nothing is copied.
func (c *call) setOutput(at, n uint64) {
	if n > uint64(c.limits.OutputBytes) {
		c.stop(abi.CodeOutputLimit, fmt.Sprintf("an output of %d bytes, %d allowed", n, c.limits.OutputBytes), outputHint)
	}
	if _, ok := c.arena.view(at, n); !ok && n > 0 {
		c.stop(abi.CodeTrap, fmt.Sprintf("output_set: %d bytes at %d are not all inside the memory of the call", n, at), "")
	}
	c.outputAt, c.outputLen, c.outputIn = at, n, true
}

// configGet answers with the value of a knob: the text, or the JSON of what is
// no text. 0 where there is none.
func configGet(ctx context.Context, c *call, stack []uint64) {
	name, _ := c.arena.block(stack[0])
	raw, ok := c.plugin.config[string(name)]
	c.moved(ctx, len(name)+len(raw))
	if !ok {
		stack[0] = 0
		return
	}
	stack[0] = c.arena.put([]byte(knobText(raw)))
}

func varGet(ctx context.Context, c *call, stack []uint64) {
	name, _ := c.arena.block(stack[0])
	value := c.vars[string(name)]
	c.moved(ctx, len(name)+len(value))
	c.arena.release(stack[0])
	stack[0] = c.arena.put(value)
}

// varSet keeps a variable until the end of the call, in the call's memory.
func varSet(ctx context.Context, c *call, stack []uint64) {
	nameBytes, _ := c.arena.block(stack[0])
	value, keeps := c.arena.block(stack[1])
	c.moved(ctx, len(nameBytes)+len(value))
	name := string(nameBytes)
	if old, ok := c.vars[name]; ok {
		c.memory.give(varCost(name, old))
		delete(c.vars, name)
	}
	if keeps {
		if !c.memory.take(varCost(name, value)) {
			c.stop(abi.CodeMemory, fmt.Sprintf("var_set: %d bytes do not fit the memory of the call", len(value)), memoryHint)
		}
		if c.vars == nil {
			c.vars = make(map[string][]byte)
		}
		kept := make([]byte, len(value))
		move(kept, value)
		c.vars[name] = kept
	}
	c.arena.release(stack[0])
	c.arena.release(stack[1])
}

func varCost(name string, value []byte) int64 {
	return int64(len(name)) + int64(len(value)) + 2*blockOverhead
}

// maxInput is the longest input: lengths cross as 32-bit numbers.
const maxInput = math.MaxInt32
