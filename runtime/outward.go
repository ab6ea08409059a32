package runtime

import (
	"context"

	"github.com/kagewasm/kagewasm/abi"
)

// outwardFuncs are the calls of the Extism ABI that lead out of the guest: to
// the log, and to where the operator grants HTTP. They are the same on every
// engine: what leaves the sandbox leaves it through this package.
var outwardFuncs = []hostFunc{
	{"http_request", "(i64,i64)->i64", httpRequest},
	{"http_status_code", "()->i32", httpStatus},
	{"http_headers", "()->i64", httpHeaders},
	{"get_log_level", "()->i32", func(ctx context.Context, c *call, stack []uint64) { stack[0] = extismDebug }},
	{"log_trace", "(i64)", logAt(abi.LogDebug)},
	{"log_debug", "(i64)", logAt(abi.LogDebug)},
	{"log_info", "(i64)", logAt(abi.LogInfo)},
	{"log_warn", "(i64)", logAt(abi.LogWarn)},
	{"log_error", "(i64)", logAt(abi.LogError)},
}

// blocks is the memory that texts of the Extism ABI cross in, whoever keeps
// it. A block is named by its offset; 0 is none.
type blocks interface {
	// block returns the bytes of a block, valid until the next put.
	block(at uint64) ([]byte, bool)
	// put makes a block of these bytes. It returns 0 where there are none or
	// no room for them.
	put(b []byte) uint64
	// release frees a block; offsets of none are ignored.
	release(at uint64)
}

// extismDebug is the log level debug in the numbers of the Extism ABI.
const extismDebug = 1

func logAt(level abi.LogLevel) func(context.Context, *call, []uint64) {
	return func(ctx context.Context, c *call, stack []uint64) {
		text, _ := c.blocks.block(stack[0])
		c.moved(ctx, len(text))
		c.logs.add(level, text)
		c.blocks.release(stack[0])
	}
}
