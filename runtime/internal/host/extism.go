package host

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"

	"github.com/kagewasm/kagewasm/abi"
)

// extism is what the Extism ABI knows of a call.
type extism struct {
	memory    blockMemory
	texts     Blocks // the memory, but where an engine has its own
	inputAt   uint64 // of the input in the memory; 0 until it is there
	outputAt  uint64
	outputLen uint64
	vars      map[string][]byte
	status    int // of the last HTTP response
	headers   map[string]string
}

// UseBlocks is called by an engine that keeps the memory of the Extism ABI
// itself.
func (c *Call) UseBlocks(b Blocks) { c.extism.texts = b }

// blockFuncs are the calls of the Extism ABI that stay with the call, as
// upstream's kernel and SDK define them, but that an access which is not inside
// the memory of the call stops the guest. The others are ExtismHostFuncs.
var blockFuncs = []Func{
	{"alloc", "(i64)->i64", func(ctx context.Context, c *Call, stack []uint64) {
		c.clock.moved(ctx, int(min(stack[0], uint64(c.Memory.Limit))))
		needInput(c)
		stack[0] = c.extism.memory.alloc(stack[0])
	}},
	{"free", "(i64)", func(ctx context.Context, c *Call, stack []uint64) {
		c.clock.tick(ctx)
		c.extism.memory.Release(stack[0])
	}},
	{"length", "(i64)->i64", length},
	{"length_unsafe", "(i64)->i64", length},
	{"load_u8", "(i64)->i32", func(ctx context.Context, c *Call, stack []uint64) {
		stack[0] = uint64(blockBytes(c, ctx, "load_u8", stack[0], 1)[0])
	}},
	{"load_u64", "(i64)->i64", func(ctx context.Context, c *Call, stack []uint64) {
		stack[0] = binary.LittleEndian.Uint64(blockBytes(c, ctx, "load_u64", stack[0], 8))
	}},
	{"store_u8", "(i64,i32)", func(ctx context.Context, c *Call, stack []uint64) {
		blockBytes(c, ctx, "store_u8", stack[0], 1)[0] = byte(stack[1])
	}},
	{"store_u64", "(i64,i64)", func(ctx context.Context, c *Call, stack []uint64) {
		binary.LittleEndian.PutUint64(blockBytes(c, ctx, "store_u64", stack[0], 8), stack[1])
	}},
	{"input_length", "()->i64", func(ctx context.Context, c *Call, stack []uint64) {
		c.clock.tick(ctx)
		stack[0] = uint64(len(c.Input.Bytes))
	}},
	{"input_offset", "()->i64", func(ctx context.Context, c *Call, stack []uint64) {
		c.clock.tick(ctx)
		needInput(c)
		stack[0] = c.extism.inputAt
	}},
	{"input_load_u8", "(i64)->i32", func(ctx context.Context, c *Call, stack []uint64) {
		c.clock.tick(ctx)
		at := stack[0]
		if stack[0] = 0; at < uint64(len(c.Input.Bytes)) {
			stack[0] = uint64(c.Input.Bytes[at])
		}
	}},
	{"input_load_u64", "(i64)->i64", func(ctx context.Context, c *Call, stack []uint64) {
		c.clock.tick(ctx)
		at, in := stack[0], c.Input.Bytes
		if stack[0] = 0; len(in) >= 8 && at <= uint64(len(in)-8) {
			stack[0] = binary.LittleEndian.Uint64(in[at:])
		}
	}},
	{"input_set", "(i64,i64)", func(_ context.Context, c *Call, _ []uint64) {
		c.Stop(abi.CodeDenied, "input_set: the input is the host's", "")
	}},
	{"output_set", "(i64,i64)", setOutput},
	{"output_offset", "()->i64", func(_ context.Context, c *Call, stack []uint64) { stack[0] = c.extism.outputAt }},
	{"output_length", "()->i64", func(_ context.Context, c *Call, stack []uint64) { stack[0] = c.extism.outputLen }},
	{"error_set", "(i64)", func(ctx context.Context, c *Call, stack []uint64) {
		text, _ := c.extism.memory.Block(stack[0])
		c.clock.moved(ctx, len(text))
		c.SetError(text)
	}},
	{"error_get", "()->i64", func(ctx context.Context, c *Call, stack []uint64) {
		c.clock.moved(ctx, len(c.err))
		stack[0] = c.extism.memory.Put([]byte(c.err))
	}},
	{"reset", "()", func(ctx context.Context, c *Call, _ []uint64) {
		x := &c.extism
		c.clock.moved(ctx, len(x.memory.mem))
		x.memory.reset()
		x.inputAt, x.outputAt, x.outputLen = 0, 0, 0
		c.IO.reset()
	}},
	{
		"memory_bytes", "()->i64",
		func(_ context.Context, c *Call, stack []uint64) { stack[0] = uint64(len(c.extism.memory.mem)) },
	},
	{"config_get", "(i64)->i64", configGet},
	{"var_get", "(i64)->i64", varGet},
	{"var_set", "(i64,i64)", varSet},
}

// blockBytes returns n bytes of the ABI's memory.
func blockBytes(c *Call, ctx context.Context, name string, at, n uint64) []byte {
	c.clock.tick(ctx)
	b, ok := c.extism.memory.view(at, n)
	if !ok {
		c.Stop(abi.CodeTrap, outside(name, n, at, "the memory of the call"), "")
	}
	return b
}

// needInput puts the input into the ABI's memory, before anything else gets
// there: only guests that ask for its offset need it, and its offset must be
// stable.
func needInput(c *Call) {
	x := &c.extism
	if x.inputAt != 0 || len(c.Input.Bytes) == 0 || !c.Plugin.inBlocks {
		return
	}
	if x.inputAt = x.memory.Put(c.Input.Bytes); x.inputAt == 0 {
		e := c.TooLarge(c.Memory.Limit)
		c.Stop(e.Code, e.Message, e.Hint)
	}
}

func length(ctx context.Context, c *Call, stack []uint64) {
	c.clock.tick(ctx)
	stack[0] = c.extism.memory.length(stack[0])
}

// setOutput marks a range of the ABI's memory as the output, which is copied once
// the guest has returned.
func setOutput(ctx context.Context, c *Call, stack []uint64) {
	c.clock.tick(ctx)
	at, n, x := stack[0], stack[1], &c.extism
	if limit := c.Plugin.Limits.OutputBytes; n > uint64(limit) {
		c.Stop(abi.CodeOutputLimit, fmt.Sprintf("an output of %d bytes, %d allowed", n, limit), outputHint)
	}
	if _, ok := x.memory.view(at, n); !ok && n > 0 {
		c.Stop(abi.CodeTrap, outside("output_set", n, at, "the memory of the call"), "")
	}
	x.outputAt, x.outputLen = at, n
	c.late = func() []byte {
		b, _ := x.memory.view(at, n)
		return b
	}
}

// configGet answers with the value of a knob, 0 where there is none.
func configGet(ctx context.Context, c *Call, stack []uint64) {
	name, _ := c.extism.memory.Block(stack[0])
	raw, ok := c.Plugin.Config[string(name)]
	c.clock.moved(ctx, len(name)+len(raw))
	if stack[0] = 0; ok {
		stack[0] = c.extism.memory.Put([]byte(KnobText(raw)))
	}
}

// KnobText is the value of a knob as Extism's configuration has it: the text, or
// the JSON of what is no text.
func KnobText(raw json.RawMessage) string {
	var text string
	if json.Unmarshal(raw, &text) != nil {
		return string(raw)
	}
	return text
}

func varGet(ctx context.Context, c *Call, stack []uint64) {
	x := &c.extism
	name, _ := x.memory.Block(stack[0])
	value := x.vars[string(name)]
	c.clock.moved(ctx, len(name)+len(value))
	x.memory.Release(stack[0])
	stack[0] = x.memory.Put(value)
}

// varSet keeps a variable until the end of the call, in the call's memory.
func varSet(ctx context.Context, c *Call, stack []uint64) {
	x := &c.extism
	nameBytes, _ := x.memory.Block(stack[0])
	value, keeps := x.memory.Block(stack[1])
	c.clock.moved(ctx, len(nameBytes)+len(value))
	name := string(nameBytes)
	if old, ok := x.vars[name]; ok {
		c.Memory.Give(varBytes(name, old))
		delete(x.vars, name)
	}
	if keeps {
		if !c.Memory.Take(varBytes(name, value)) {
			c.Stop(abi.CodeMemory, fmt.Sprintf("var_set: %d bytes do not fit the memory of the call", len(value)), memoryHint)
		}
		if x.vars == nil {
			x.vars = make(map[string][]byte)
		}
		kept := make([]byte, len(value))
		move(kept, value)
		x.vars[name] = kept
	}
	x.memory.Release(stack[0])
	x.memory.Release(stack[1])
}

func varBytes(name string, value []byte) int64 {
	return int64(len(name)) + int64(len(value)) + 2*blockOverhead
}
