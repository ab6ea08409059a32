package meter

import (
	"fmt"

	"github.com/kagewasm/kagewasm/runtime/internal/wasm"
)

// What a rewritten module imports and exports beside its own. Nothing of a
// guest's may have these names.
const (
	// Module and Tick name the imported function (reason, value i32) -> i32
	// that the guest calls for one of the reasons below.
	Module = "kagewasm:meter"
	Tick   = "tick"
	// Prefix is what the names of added exports begin with.
	Prefix = "kagewasm."
	// Fuel, Depth and Mark name the added globals, mutable i32. Fuel is what is
	// left, negative where more is used. Depth is how many bytes of the stack are
	// left, Mark how few may be left without a tick. The host sets them before a
	// call.
	Fuel  = Prefix + "fuel"
	Depth = Prefix + "depth"
	Mark  = Prefix + "mark"
	// Whole names an added function () -> i32 that returns 1, and 0 in a module
	// that [Stub] made.
	Whole = Prefix + "whole"
)

// The reasons for a tick.
const (
	// ReasonFuel: the fuel is used up. The value is what is left, negative
	// where more was used than there was; the answer is what there is from now
	// on.
	ReasonFuel = iota
	// ReasonStack: the stack is deeper than it was at any tick before. The
	// value is how many bytes are left; the answer is how few of them may be
	// left without another tick.
	ReasonStack
	// ReasonTable: a table is to grow by as many elements as the value says;
	// the answer is 0 where it must not.
	ReasonTable
	// ReasonMemory: the memory could not grow by as many pages as the value
	// says. The answer means nothing.
	ReasonMemory
	// ReasonReturn: an imported function has returned, which may have taken
	// any time. The value and the answer are those of ReasonFuel.
	ReasonReturn
)

// Options say how a module is rewritten. The zero value is the strictest.
type Options struct {
	// TickAfter reports whether a tick follows each call of an imported
	// function. Nil: always. A host that looks at the clock in a function of
	// its own can do without.
	TickAfter func(module, name string) bool
}

// Info is what the meter found out about a module.
type Info struct {
	// Stack is the most that a call of a function from outside takes of the
	// stack before anything counts, in bytes.
	Stack uint32
	// Segments: the code looks at segments after they were applied, or changes
	// a table. What an instance is then is more than its memory and globals.
	Segments bool
	// Scratch is about how much memory an engine takes meanwhile to compile the
	// function that takes most, in bytes: at most [MaxScratch].
	Scratch int
}

// Rewrite returns a module that does the same and can be stopped. m is what
// [wasm.Parse] says of the bytes; the result shares nothing with them. It takes
// time and memory in proportion to the length of the module. The error is a
// *wasm.FormError.
func Rewrite(bytes []byte, m *wasm.Module, o Options) ([]byte, *Info, error) {
	mod, err := newModule(bytes, m, o)
	if err != nil {
		return nil, nil, refused(err)
	}
	calls, err := analyse(mod)
	if err != nil {
		return nil, nil, refused(err)
	}
	return newWriter(mod, calls).write(), &calls.info, nil
}

func refused(err error) error {
	const hint = "build the plugin again, for WebAssembly 2.0 without further proposals, and with smaller functions"
	return &wasm.FormError{Message: err.Error(), Hint: hint}
}

// functionError says which function an error is about.
type functionError struct {
	index uint32
	err   error
}

func (e *functionError) Error() string { return fmt.Sprintf("function %d: %v", e.index, e.err) }
func (e *functionError) Unwrap() error { return e.err }
