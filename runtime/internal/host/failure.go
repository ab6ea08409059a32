package host

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/tetratelabs/wazero/sys"

	"github.com/kagewasm/kagewasm/abi"
)

// What can be done against a failure.
const (
	StackHint = "let the plugin recurse less, or raise its stack (--limit stack_bytes=N)"
	TableHint = "a plugin needs a table element for each function it calls indirectly; " +
		"raise the limit (--limit table_elements=N)"
	FuelHint = "raise its fuel (--limit fuel=N), or let it do less at a time"

	deadlineHint = "raise its time limit (--timeout-ms), or let it do less at a time"
	memoryHint   = "raise its memory limit (--memory-mb), or let it use less"
	outputHint   = "raise its output limit (--limit output_bytes=N), or let it answer with references"
)

// error is an error of this call.
func (c *Call) error(code abi.Code, message, hint string, err error) *abi.Error {
	e := &abi.Error{
		Code: code, Op: "call", Plugin: c.Plugin.Manifest.Name, Phase: c.Phase, Message: message, Hint: hint, Err: err,
	}
	if h := abi.Hook(c.Export); h.Valid() {
		e.Hook = h
	}
	return e
}

// Trap is the error of a fault of the guest. A guest that aborts says why in its log, so the
// last error there belongs to it.
func (c *Call) Trap(text string, err error) *abi.Error {
	hint := "the fault is in the plugin: run it again with kagewasm run"
	for _, t := range trapHints {
		if strings.HasPrefix(text, t.trap) {
			hint = t.hint
			break
		}
	}
	if said := c.Logs.lastError(); said != "" && strings.HasPrefix(text, aborts) {
		text, hint = said+"; then: "+text, ""
	}
	return c.error(abi.CodeTrap, text, hint, err)
}

// aborts is how the text of a trap begins that a guest asks for.
const aborts = "unreachable"

// trapHints are what to do about a trap, by how its text begins.
var trapHints = []struct{ trap, hint string }{
	{aborts, "the plugin panicked or aborted: kagewasm run shows what it logged before"},
	{"out of bounds memory", "a pointer or a length is wrong in the function named: build it with bounds checks"},
	{"integer divide by zero", "a divisor was 0 in the function named: an input can be empty"},
	{"integer overflow", "a number is out of range in the function named: check it before converting or dividing"},
	{"invalid conversion to integer", "a number was not a number in the function named: check it before converting"},
	{"invalid table access", "a function pointer is wrong in the function named: was it set?"},
	{"indirect call type mismatch", "a function was called as another type than it has: build all of it again"},
}

// failure says why a guest ended that did not return. The cause is what the
// host recorded: what it stopped the guest for, or which context is done. Only
// where there is nothing of the kind does it look at the engine's error, and
// never at an exit code: a guest can end itself with any.
func failure(c *Call, caller, ctx context.Context, code Code, err error) *abi.Error {
	var exit *sys.ExitError
	exited := errors.As(err, &exit)
	text, trapped := trapText(err, code)
	ended := exited || trapped || err == ErrStopped // by the guest, or for it
	after := text
	if exited {
		after = fmt.Sprintf("exit code %d", exit.ExitCode())
	}
	switch {
	case c.cause != nil:
		c.cause.Message += where(err, code)
		return c.cause
	case ctx.Err() != nil && !trapped:
		e := stopped(c, caller)
		e.Message += where(err, code)
		return e
	case c.over:
		return tooLong(c)
	case c.denied() && ended:
		return outOfRoom(c, after)
	case exited:
		return c.error(
			abi.CodeExit, fmt.Sprintf("the guest ended itself with exit code %d", exit.ExitCode()),
			"a hook returns instead of exiting", err,
		)
	case trapped && strings.HasPrefix(text, "stack overflow"):
		return c.error(abi.CodeStack, "calls nested too deep: "+text, StackHint, err)
	case trapped:
		return c.Trap(text, err)
	}
	// The error says a lot about this process: it stays inside.
	return c.error(abi.CodeInternal, "a fault in the host while the plugin ran", "", err)
}

// stopped says whose time was up.
func stopped(c *Call, caller context.Context) *abi.Error {
	switch err := caller.Err(); {
	case errors.Is(err, context.DeadlineExceeded):
		return c.error(abi.CodeDeadline, "the caller's deadline passed", "", err)
	case err != nil:
		return c.error(abi.CodeCanceled, "the caller gave up", "", err)
	}
	return c.error(
		abi.CodeDeadline, fmt.Sprintf("it took longer than %d ms", c.Plugin.Limits.TimeoutMS),
		deadlineHint, context.DeadlineExceeded,
	)
}

func tooLong(c *Call) *abi.Error {
	return c.error(
		abi.CodeOutputLimit, fmt.Sprintf("an output of more than %d bytes", c.Plugin.Limits.OutputBytes), outputHint, nil,
	)
}

// outOfRoom is the failure of a guest that was denied, and ended with this text.
func outOfRoom(c *Call, after string) *abi.Error {
	if c.TablesDenied {
		return c.error(
			abi.CodeMemory,
			fmt.Sprintf("it wanted tables of more than %d elements, then: %s", c.Plugin.Limits.TableElements, after),
			TableHint, nil,
		)
	}
	return c.error(
		abi.CodeMemory, fmt.Sprintf("it wanted more than %d MiB of memory, then: %s", c.Plugin.Limits.MemoryMB, after),
		memoryHint, nil,
	)
}

// refusedItself is the failure of a hook that returned nonzero.
func refusedItself(c *Call, code uint32) *abi.Error {
	text := cmp.Or(c.err, fmt.Sprintf("it returned %d and no error text", int32(code)))
	switch {
	case c.over:
		return tooLong(c)
	case c.denied():
		return outOfRoom(c, text)
	}
	return c.error(abi.CodeExit, text, "", nil)
}

// outside says that a range is not all inside of something.
func outside(name string, n, at uint64, of string, args ...any) string {
	return fmt.Sprintf("%s: %d bytes at %d are not all inside ", name, n, at) + fmt.Sprintf(of, args...)
}
