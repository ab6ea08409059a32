package runtime

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/tetratelabs/wazero/sys"

	"github.com/kagewasm/kagewasm/abi"
)

const (
	deadlineHint = "raise its time limit (--timeout-ms), or let it do less at a time"
	memoryHint   = "raise its memory limit (--memory-mb), or let it use less"
	fuelHint     = "raise its fuel (--limit fuel=N), or let it do less at a time"
	stackHint    = "let the plugin recurse less, or raise its stack (--limit stack_bytes=N)"
	tableHint    = "a plugin needs a table element for each function it calls indirectly; raise the limit (--limit table_elements=N)"
	outputHint   = "raise its output limit (--limit output_bytes=N), or let it answer with references"
	trapHint     = "the fault is in the plugin: run it again with kagewasm run"
)

// failure says why a guest ended that did not return. The cause is what the
// host recorded: what it stopped the guest for, or which context is done. Only
// where there is nothing of the kind does it look at the engine's error, and
// never at an exit code: a guest can end itself with any.
func (c *call) failure(caller, ctx context.Context, err error) *abi.Error {
	var exit *sys.ExitError
	exited := errors.As(err, &exit)
	text, trapped := c.trapText(err)
	switch {
	case c.cause != nil:
		c.cause.Message += c.where(err)
		return c.cause
	case ctx.Err() != nil && !trapped:
		e := c.stopped(caller)
		e.Message += c.where(err)
		return e
	case c.overOutput:
		return c.tooLong()
	case c.gauge.refused && (exited || trapped || err == errStopped):
		return c.outOfTables(c.plain(exit, text))
	case c.memory.denied && (exited || trapped || err == errStopped):
		return c.outOfMemory(c.plain(exit, text))
	case exited:
		return c.with(c.error(abi.CodeExit, fmt.Sprintf("the guest ended itself with exit code %d", exit.ExitCode())), "a hook returns instead of exiting", err)
	case trapped && strings.HasPrefix(text, "stack overflow"):
		return c.with(c.error(abi.CodeStack, "calls nested too deep: "+text), stackHint, err)
	case trapped:
		return c.with(c.error(abi.CodeTrap, text), trapHint, err)
	}
	// The error says a lot about this process: it stays inside.
	return c.with(c.error(abi.CodeInternal, "a fault in the host while the plugin ran"), "", err)
}

// stopped says whose time was up.
func (c *call) stopped(caller context.Context) *abi.Error {
	switch err := caller.Err(); {
	case errors.Is(err, context.DeadlineExceeded):
		return c.with(c.error(abi.CodeDeadline, "the caller's deadline passed"), "", err)
	case err != nil:
		return c.with(c.error(abi.CodeCanceled, "the caller gave up"), "", err)
	}
	return c.with(c.error(abi.CodeDeadline, fmt.Sprintf("it took longer than %d ms", c.limits.TimeoutMS)), deadlineHint, context.DeadlineExceeded)
}

func (c *call) tooLong() *abi.Error {
	return c.with(c.error(abi.CodeOutputLimit, fmt.Sprintf("an output of more than %d bytes", c.limits.OutputBytes)), outputHint, nil)
}

func (c *call) outOfMemory(after string) *abi.Error {
	return c.with(c.error(abi.CodeMemory, fmt.Sprintf("it wanted more than %d MiB of memory, then: %s", c.limits.MemoryMB, after)), memoryHint, nil)
}

func (c *call) outOfTables(after string) *abi.Error {
	return c.with(c.error(abi.CodeMemory, fmt.Sprintf("it wanted tables of more than %d elements, then: %s", c.limits.TableElements, after)), tableHint, nil)
}

// refusedItself is the failure of a hook that returned nonzero.
func (c *call) refusedItself(code uint32) *abi.Error {
	text := c.errorText
	if text == "" {
		text = fmt.Sprintf("it returned %d and no error text", int32(code))
	}
	switch {
	case c.overOutput:
		return c.tooLong()
	case c.gauge.refused:
		return c.outOfTables(text)
	case c.memory.denied:
		return c.outOfMemory(text)
	}
	return c.error(abi.CodeExit, text)
}

func (c *call) with(e *abi.Error, hint string, err error) *abi.Error {
	e.Hint, e.Err = hint, err
	return e
}

func (c *call) plain(exit *sys.ExitError, text string) string {
	if exit != nil {
		return fmt.Sprintf("exit code %d", exit.ExitCode())
	}
	return text
}
