package host

import (
	"context"
	"errors"
	"fmt"

	"github.com/tetratelabs/wazero/sys"

	"github.com/kagewasm/kagewasm/abi"
)

// The entries of WASI: of a command, and of a reactor.
const (
	StartExport = "_start"
	InitExport  = "_initialize"
)

// Run makes the call. The output is as the guest wrote it; with an error there is
// none. The stats have no time.
func (c *Call) Run(caller context.Context, code Code) ([]byte, abi.CallStats, *abi.Error) {
	if e := c.fits(); e != nil {
		return nil, abi.CallStats{InputBytes: len(c.Input.Bytes)}, e
	}
	ctx, end := c.Context(caller)
	defer end()
	result, err := runCode(ctx, c, code)
	out, fail := ended(c, caller, ctx, code, result, err)
	stats := c.Stats()
	for _, s := range c.services {
		if s, ok := s.(closer); ok {
			s.close()
		}
	}
	c.extism.memory.reset()
	stats.OutputBytes = len(out)
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
	case c.answer.over:
		return nil, tooLong(c)
	case c.answer.err != "":
		c.Warn("it set an error text and returned 0: " + Shorten(c.answer.err, 200))
	}
	c.Phase = abi.PhaseOutput
	return c.Output(), nil
}

// exitedWell reports whether a guest ended itself with exit code 0.
func exitedWell(err error) bool {
	var exit *sys.ExitError
	return errors.As(err, &exit) && exit.ExitCode() == 0
}
