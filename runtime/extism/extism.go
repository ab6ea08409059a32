package extism

import (
	"context"
	"errors"
	goruntime "runtime"
	"strings"
	"time"

	sdk "github.com/extism/go-sdk"
	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/experimental"
	"github.com/tetratelabs/wazero/sys"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/runtime/internal/host"
	"github.com/kagewasm/kagewasm/runtime/internal/sandbox"
	"github.com/kagewasm/kagewasm/runtime/internal/wasm"
)

// Name is the engine's name.
const Name = "extism"

// Engine is upstream's go-sdk as an engine of package runtime. It is safe for
// concurrent use.
type Engine struct {
	// Interpreter runs guests without compiling them.
	Interpreter bool
}

// Name implements runtime.Engine.
func (Engine) Name() string { return Name }

// Compile implements runtime.Engine. What the sandbox refuses before it compiles is
// refused here too: this engine's compiler has no bounds of its own.
func (e Engine) Compile(ctx context.Context, bin []byte, p *host.Plugin) (host.Code, error) {
	if _, err := (sandbox.Describer{}).Compile(ctx, bin, p); err != nil {
		return nil, err
	}
	config := wazero.NewRuntimeConfig()
	if e.Interpreter {
		config = wazero.NewRuntimeConfigInterpreter()
	}
	compiled, err := sdk.NewCompiledPlugin(ctx, manifest(redirect(bin, p.Module), p),
		sdk.PluginConfig{EnableWasi: true, RuntimeConfig: config}, functions())
	if err != nil {
		return nil, &wasm.FormError{
			Message: "the engine refuses it: " + host.Shorten(err.Error(), 500), Hint: "try --engine native",
		}
	}
	return &code{compiled, p}, nil
}

// manifest tells the SDK of the plugin. Variables have the memory of the call,
// as they do on the native engine.
func manifest(bin []byte, p *host.Plugin) sdk.Manifest {
	m := sdk.Manifest{
		Wasm:    []sdk.Wasm{sdk.WasmData{Data: bin, Name: "main"}},
		Config:  make(map[string]string, len(p.Config)),
		Timeout: uint64(p.Limits.TimeoutMS),
		Memory:  &sdk.ManifestMemory{MaxVarBytes: int64(p.Limits.MemoryMB) << 20},
	}
	for name, raw := range p.Config {
		m.Config[name] = host.KnobText(raw)
	}
	return m
}

// functions are those that the SDK gets from us.
func functions() []sdk.HostFunction {
	var funcs []sdk.HostFunction
	modules := map[string][]host.Func{abi.ImportModule: host.Functions[abi.ImportModule], hostModule: host.ExtismHostFuncs}
	for module, list := range modules {
		for _, f := range list {
			params, results := f.Types()
			h := sdk.NewHostFunctionWithStack(f.Name, func(ctx context.Context, p *sdk.CurrentPlugin, stack []uint64) {
				host.CallOf(ctx).UseBlocks(kernel{p})
				f.Call(ctx, stack)
			}, params, results)
			h.SetNamespace(module)
			funcs = append(funcs, h)
		}
	}
	return funcs
}

// code is a module that the SDK has compiled.
type code struct {
	compiled *sdk.CompiledPlugin
	plugin   *host.Plugin
}

// Run implements host.Code.
func (u *code) Run(ctx context.Context, c *host.Call) (uint32, error) {
	wasi, guest := host.NewWASI(), &memories{budget: &c.Memory}
	wasi.Bind(c)
	c.Linear = guest
	// The SDK takes an exit with code 0 for a return.
	var exit *sys.ExitError
	noteExit := experimental.CloseNotifyFunc(func(_ context.Context, code uint32) { exit = sys.NewExitError(code) })
	ctx = experimental.WithMemoryAllocator(ctx, guest)
	config := sdk.PluginInstanceConfig{ModuleConfig: wasi.Config(wazero.NewModuleConfig())}
	inst, err := u.compiled.Instance(experimental.WithCloseNotifier(ctx, noteExit), config)
	if err != nil {
		return 0, err
	}
	defer inst.Close(context.WithoutCancel(ctx))
	inst.SetLogger(func(sdk.LogLevel, string) {}) // of the SDK itself, to the process's log
	if err := fitsKernel(c); err != nil {
		return 0, err
	}
	c.Phase = abi.PhaseCall
	result, out, err := inst.CallWithContext(ctx, c.Export, c.Input.Bytes)
	switch {
	case err != nil:
	case exit != nil && c.Export != host.StartExport:
		return 0, exit
	case late(ctx):
		return 0, ctx.Err()
	}
	if text := inst.GetErrorWithContext(context.WithoutCancel(ctx)); text != "" {
		c.SetError([]byte(text))
		if err != nil && err.Error() == text {
			err = nil // the SDK makes an error of the text; the result decides
		}
	}
	if err != nil || result != 0 {
		recoverPanic(c, err)
		return result, err
	}
	if len(out) > 0 {
		c.SetOutput(out)
	}
	return result, nil
}

// late reports whether the time of a call is up: code without loops runs on past
// it, and keeps the timer from running while it has the processor.
func late(ctx context.Context) bool {
	if end, ok := ctx.Deadline(); ok && !time.Now().Before(end) {
		<-ctx.Done()
	}
	return ctx.Err() != nil
}

// kernelSlack is what the kernel takes beside an input, at most, in bytes: it
// grows by whole pages.
const kernelSlack = 2 << 16

// fitsKernel refuses an input that the kernel has no room for: the SDK would
// run the guest on an empty one. It tells of limits that do not hold here.
func fitsKernel(c *host.Call) error {
	if c.Plugin.Limits.Fuel > 0 {
		c.Warn("engine " + Name + " counts no fuel: its limit does not hold")
	}
	n := int64(len(c.Input.Bytes))
	if n == 0 || n+kernelSlack <= c.Memory.Left() {
		return nil
	}
	c.SetCause(c.TooLarge(c.Memory.Limit))
	return host.ErrStopped
}

// recovered is what the engine adds to the panic of a host function.
const recovered = " (recovered by wazero)"

// recoverPanic turns the panic by which the SDK refuses something into the
// cause of the failure. Panics of Go itself are faults of the host.
func recoverPanic(c *host.Call, err error) {
	var fault goruntime.Error
	if err == nil || errors.Is(err, host.ErrStopped) || errors.As(err, &fault) {
		return
	}
	if text, _, ok := strings.Cut(err.Error(), recovered); ok && !strings.HasPrefix(text, host.TrapPrefix) {
		c.SetCause(c.Trap(c.Clean([]byte(text)), err))
	}
}

// FunctionName implements host.Code.
func (u *code) FunctionName(name string) string {
	if redirected, ok := strings.CutPrefix(name, hostModule); ok {
		return abi.ExtismModule + redirected
	}
	return u.plugin.FunctionName(name, 0)
}

// Close implements host.Code.
func (u *code) Close(ctx context.Context) error { return u.compiled.Close(ctx) }
