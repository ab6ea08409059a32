package sandbox

import (
	"context"
	"errors"
	"fmt"

	"github.com/kagewasm/kagewasm/runtime/internal/host"
	"github.com/kagewasm/kagewasm/runtime/internal/wasm"
)

// Describer takes modules as an [Engine] does, as far as that goes without compiling
// them. Calls of them fail.
type Describer struct{}

// Name implements [host.Engine].
func (Describer) Name() string { return Name }

// Compile implements [host.Engine].
func (Describer) Compile(_ context.Context, bin []byte, p *host.Plugin) (host.Code, error) {
	ready, err := prepare(bin, p.Module)
	if err == nil {
		err = checkStack(ready.stack, p)
	}
	return described{}, err
}

// checkStack refuses a module that takes more of the stack than a call has before
// anything counts.
func checkStack(stack uint32, p *host.Plugin) error {
	if int(stack) <= p.Limits.StackBytes {
		return nil
	}
	return &wasm.FormError{
		Message: fmt.Sprintf("a function takes %d bytes of stack, %d allowed", stack, p.Limits.StackBytes),
		Hint:    host.StackHint,
	}
}

// described is a module without its code.
type described struct{}

var errDescribed = errors.New("the module was loaded to be described, and has no code")

func (described) Run(context.Context, *host.Call) (uint32, error) { return 0, errDescribed }
func (described) FunctionName(string) string                      { return "" }
func (described) Close(context.Context) error                     { return nil }
