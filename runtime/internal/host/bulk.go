package host

import "context"

// bulkFuncs are the calls of abi.ImportModule. Pointers and lengths are of
// guest memory; one that is not all inside of it stops the guest.
var bulkFuncs = []Func{
	{"input_length", "()->i32", func(ctx context.Context, c *Call, stack []uint64) {
		c.clock.tick(ctx)
		stack[0] = uint64(uint32(len(c.Input.Bytes)))
	}},
	{"input_read", "(i32,i32,i32)->i32", func(ctx context.Context, c *Call, stack []uint64) {
		stack[0] = read(c, ctx, "input_read", c.Input.Bytes, stack)
	}},
	{"output_write", "(i32,i32)->i32", func(ctx context.Context, c *Call, stack []uint64) {
		b := c.view("output_write", stack[0], stack[1])
		c.clock.moved(ctx, min(len(b), c.Plugin.Limits.OutputBytes))
		if stack[0] = 0; !c.write(b) {
			stack[0] = uint64(^uint32(0))
		}
	}},
	{"error_write", "(i32,i32)", func(ctx context.Context, c *Call, stack []uint64) {
		text := c.view("error_write", stack[0], stack[1])
		c.clock.moved(ctx, len(text))
		c.SetError(text)
	}},
	{"host_call", "(i32,i32,i32,i32)->i32", func(ctx context.Context, c *Call, stack []uint64) {
		Check(ctx)
		op, request := c.view("host_call", stack[0], stack[1]), c.view("host_call", stack[2], stack[3])
		stack[0] = uint64(uint32(len(c.hostCall(ctx, op, request))))
		Check(ctx)
	}},
	{"response_read", "(i32,i32,i32)->i32", func(ctx context.Context, c *Call, stack []uint64) {
		stack[0] = read(c, ctx, "response_read", c.traffic.response, stack)
	}},
}

// read copies from src to guest memory: (ptr, offset, len) -> bytes copied.
func read(c *Call, ctx context.Context, name string, src []byte, stack []uint64) uint64 {
	to, from := c.view(name, stack[0], stack[2]), src[min(uint64(uint32(stack[1])), uint64(len(src))):]
	c.clock.moved(ctx, min(len(to), len(from)))
	return uint64(move(to, from))
}
