package runtime_test

import (
	"context"
	"errors"
	"slices"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/abi/guest"
	"github.com/kagewasm/kagewasm/runtime/internal/host"
)

// inProcess runs a plugin's own handlers, compiled for this machine, in the process of the host: what a call takes
// without the sandbox. The host is the same one, asked through the same functions, and the module is not run.
type inProcess struct{ handlers guest.Plugin }

func (inProcess) Name() string { return "in-process" }

func (e inProcess) Compile(context.Context, []byte, *host.Plugin) (host.Code, error) { return e, nil }

func (e inProcess) Run(ctx context.Context, c *host.Call) (uint32, error) {
	c.Phase = abi.PhaseCall
	out, err := e.handlers.Serve(abi.Hook(c.Export), slices.Clone(c.Input.Bytes), &asking{ctx: ctx, call: c})
	if err != nil {
		c.SetError([]byte(err.Error()))
		return 1, nil
	}
	if len(out) > 0 {
		c.SetOutput(out)
	}
	return 0, nil
}

func (inProcess) FunctionName(name string) string { return name }

func (inProcess) Close(context.Context) error { return nil }

// asking is the guest's side of its host calls, and the memory that the host sees of it: what is read and written at
// the time, one behind the other.
type asking struct {
	ctx  context.Context
	call *host.Call
	seen []byte
}

func (a *asking) View(ptr, n uint32) ([]byte, bool) { return a.seen[ptr:][:n], true }

func (a *asking) Size() int { return len(a.seen) }

func (a *asking) HostCall(op abi.Op, request []byte) []byte {
	a.call.Linear = a
	a.seen = slices.Concat([]byte(op), request)
	n := a.host("host_call", 0, uint64(len(op)), uint64(len(op)), uint64(len(request)))
	a.seen = make([]byte, n)
	a.host("response_read", 0, 0, n)
	return a.seen
}

// host calls a function of the host.
func (a *asking) host(name string, stack ...uint64) uint64 {
	for i := range bulk {
		if f := &bulk[i]; f.Name == name {
			f.Call(a.ctx, stack)
			return stack[0]
		}
	}
	panic(errors.New("no host function " + name))
}

var bulk = host.Functions[abi.ImportModule]
