package host

import (
	"context"
	"errors"
	"fmt"

	"github.com/tetratelabs/wazero/sys"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/strictjson"
)

// The entries of WASI: of a command, and of a reactor.
const (
	StartExport = "_start"
	InitExport  = "_initialize"
)

// Reader makes something of what a guest answered, within what the call has left of
// its time and memory.
type Reader func(output []byte, l strictjson.Limits) error

// Run makes the call, and has what it answers read where there is a reader: that is
// part of the call. The output is as the guest wrote it; with an error there is
// none. The stats have no time.
func (c *Call) Run(caller context.Context, code Code, read Reader) ([]byte, abi.CallStats, *abi.Error) {
	if e := c.fits(); e != nil {
		return nil, abi.CallStats{InputBytes: len(c.Input.Bytes)}, e
	}
	ctx, end := c.Context(caller)
	defer end()
	result, err := runCode(ctx, c, code)
	out, fail := ended(c, caller, ctx, code, result, err)
	if fail == nil && read != nil {
		fail = answered(c, caller, ctx, out, read)
	}
	stats := c.Stats()
	c.services.close()
	c.extism.memory.reset()
	if stats.OutputBytes = len(out); fail != nil {
		out = nil
	}
	return out, stats, fail
}

// runCode keeps a fault of the engine from ending the process.
func runCode(ctx context.Context, c *Call, code Code) (result uint32, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("engine: %v", r)
		}
	}()
	return code.Run(ctx, c)
}

// ended is what a call ended with: an output or an error.
func ended(c *Call, caller, ctx context.Context, code Code, result uint32, err error) ([]byte, *abi.Error) {
	if c.Export == StartExport && exitedWell(err) && c.cause == nil && ctx.Err() == nil {
		result, err = 0, nil
	}
	switch {
	case err != nil:
		return nil, failure(c, caller, ctx, code, err)
	case result != 0:
		return nil, refusedItself(c, result)
	case c.over:
		return nil, tooLong(c)
	case c.err != "":
		c.Warn("it set an error text and returned 0: " + Shorten(c.err, 200))
	}
	c.Phase = abi.PhaseOutput
	return c.Output(), nil
}

// answered has an answer read. What the host builds of it counts like the guest's
// memory, which is gone by then.
func answered(c *Call, caller, ctx context.Context, out []byte, read Reader) *abi.Error {
	l := c.reading(ctx)
	err := l.Take(int64(len(out)))
	if err == nil {
		err = read(out, l)
	}
	switch {
	case err == nil:
		return nil
	case errors.Is(err, errHostMemory):
		return c.error(abi.CodeMemory, fmt.Sprintf(
			"an answer of %d bytes that takes more than %d MiB of memory to read", len(out), c.Plugin.Limits.MemoryMB),
			memoryHint, nil)
	case errors.Is(err, ctx.Err()):
		e := stopped(c, caller)
		e.Message += ", of which the host was still reading its answer"
		return e
	}
	return c.error(abi.CodeBadOutput, c.Clean([]byte(err.Error())), "answer with null or an object as in the abi", err)
}

// exitedWell reports whether a guest ended itself with exit code 0.
func exitedWell(err error) bool {
	var exit *sys.ExitError
	return errors.As(err, &exit) && exit.ExitCode() == 0
}
