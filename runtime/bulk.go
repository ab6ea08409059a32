package runtime

import (
	"context"
	"fmt"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/runtime/internal/wasm"
)

// hostFunc is a function a guest may import. fn reads its parameters from the
// stack and writes its result there.
type hostFunc struct {
	name string
	sig  wasm.Signature
	fn   func(ctx context.Context, c *call, stack []uint64)
}

// bulkFuncs are the calls of abi.ImportModule. Pointers and lengths are of
// guest memory; one that is not all inside of it stops the guest.
var bulkFuncs = []hostFunc{
	{"input_length", "()->i32", func(ctx context.Context, c *call, stack []uint64) {
		c.tick(ctx)
		stack[0] = uint64(uint32(len(c.input)))
	}},
	{"input_read", "(i32,i32,i32)->i32", func(ctx context.Context, c *call, stack []uint64) {
		stack[0] = c.read(ctx, "input_read", c.input, stack)
	}},
	{"output_write", "(i32,i32)->i32", func(ctx context.Context, c *call, stack []uint64) {
		b := c.guest("output_write", stack[0], stack[1])
		c.moved(ctx, min(len(b), c.limits.OutputBytes))
		stack[0] = c.write(b)
	}},
	{"error_write", "(i32,i32)", func(ctx context.Context, c *call, stack []uint64) {
		text := c.guest("error_write", stack[0], stack[1])
		c.moved(ctx, len(text))
		c.setError(text)
	}},
	{"host_call", "(i32,i32,i32,i32)->i32", func(ctx context.Context, c *call, stack []uint64) {
		c.check(ctx)
		op, request := c.guest("host_call", stack[0], stack[1]), c.guest("host_call", stack[2], stack[3])
		c.response = c.hostCall(ctx, op, request)
		stack[0] = uint64(uint32(len(c.response)))
		c.check(ctx)
	}},
	{"response_read", "(i32,i32,i32)->i32", func(ctx context.Context, c *call, stack []uint64) {
		stack[0] = c.read(ctx, "response_read", c.response, stack)
	}},
}

// guest returns a range of guest memory.
func (c *call) guest(name string, ptr, n uint64) []byte {
	b, ok := c.inst.memory.view(uint32(ptr), uint32(n))
	if !ok {
		c.stop(abi.CodeTrap, fmt.Sprintf("%s: %d bytes at %d are not all inside the guest's memory of %d", name, uint32(n), uint32(ptr), c.inst.memory.size()), "")
	}
	return b
}

// read copies from src to guest memory: (ptr, offset, len) -> bytes copied.
func (c *call) read(ctx context.Context, name string, src []byte, stack []uint64) uint64 {
	to, from := c.guest(name, stack[0], stack[2]), src[min(uint64(uint32(stack[1])), uint64(len(src))):]
	c.moved(ctx, min(len(to), len(from)))
	return uint64(move(to, from))
}

// write appends to the output, or refuses where that is over the limit.
func (c *call) write(b []byte) uint64 {
	c.outputIn = false
	if len(b) > c.limits.OutputBytes-len(c.output) {
		c.overOutput = true
		return uint64(^uint32(0))
	}
	c.output = append(c.output, b...)
	return 0
}
