package runtime

import (
	"context"
	"encoding/json"
	"errors"
	goruntime "runtime"
	"strings"
	"time"

	extism "github.com/extism/go-sdk"
	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/experimental"
	"github.com/tetratelabs/wazero/sys"

	"github.com/kagewasm/kagewasm/abi"
)

// upstream is the engine of Extism's own SDK: its kernel keeps the memory of
// the Extism ABI, and it starts and calls the guest. The bulk calls and what
// leads out of the guest are ours.
//
// It counts memory and keeps the time limit where the guest lets it. It counts
// neither fuel nor the stack nor tables, and what it compiles was not measured
// before: it is for trusted plugins and for comparing answers.
type upstream struct{ code *extism.CompiledPlugin }

// compileExtism is compile for the engine of upstream.
func (r *Runtime) compileExtism(ctx context.Context, bin []byte, p *Plugin, anyExport bool) (engine, error) {
	if err := r.linker.vet(p.module, p.limits, anyExport); err != nil {
		return nil, err
	}
	config := wazero.NewRuntimeConfig()
	if r.interpreter {
		config = wazero.NewRuntimeConfigInterpreter()
	}
	code, err := extism.NewCompiledPlugin(ctx, sdkManifest(redirect(bin, p.module), p), extism.PluginConfig{EnableWasi: true, RuntimeConfig: config}, sdkFuncs())
	if err != nil {
		return nil, refusal("the engine refuses it: "+shorten(err.Error(), 500), "try --engine native")
	}
	return &upstream{code}, nil
}

// sdkManifest tells the SDK of the plugin. Variables have the memory of the
// call, as they do on the native engine.
func sdkManifest(bin []byte, p *Plugin) extism.Manifest {
	m := extism.Manifest{
		Wasm:    []extism.Wasm{extism.WasmData{Data: bin, Name: "main"}},
		Config:  make(map[string]string, len(p.config)),
		Timeout: uint64(p.limits.TimeoutMS),
		Memory:  &extism.ManifestMemory{MaxVarBytes: int64(p.limits.MemoryMB) << 20},
	}
	for name, raw := range p.config {
		m.Config[name] = knobText(raw)
	}
	return m
}

// sdkFuncs are the functions that the SDK gets from us.
func sdkFuncs() []extism.HostFunction {
	var funcs []extism.HostFunction
	for module, list := range map[string][]hostFunc{abi.ImportModule: bulkFuncs, outwardModule: outwardFuncs} {
		for _, f := range list {
			params, results := engineTypes(f.sig)
			h := extism.NewHostFunctionWithStack(f.name, func(ctx context.Context, p *extism.CurrentPlugin, stack []uint64) {
				c := callOf(ctx)
				c.blocks = kernel{p}
				f.fn(ctx, c, stack)
			}, params, results)
			h.SetNamespace(module)
			funcs = append(funcs, h)
		}
	}
	return funcs
}

func (u *upstream) run(ctx context.Context, c *call) (uint32, error) {
	i := &instance{world: newWorld()}
	i.bind(c)
	defer i.close()
	// The SDK takes an exit with code 0 for a return.
	var exit *sys.ExitError
	noteExit := experimental.CloseNotifyFunc(func(_ context.Context, code uint32) { exit = sys.NewExitError(code) })
	ctx = experimental.WithMemoryAllocator(ctx, i)
	config := extism.PluginInstanceConfig{ModuleConfig: i.world.config(wazero.NewModuleConfig())}
	inst, err := u.code.Instance(experimental.WithCloseNotifier(ctx, noteExit), config)
	if err != nil {
		return 0, err
	}
	defer inst.Close(context.WithoutCancel(ctx))
	inst.SetLogger(func(extism.LogLevel, string) {}) // of the SDK itself, to the process's log
	if err := c.fitsKernel(); err != nil {
		return 0, err
	}
	c.phase = abi.PhaseCall
	result, out, err := inst.CallWithContext(ctx, c.export, c.input)
	switch {
	case err != nil:
	case exit != nil && c.export != startExport:
		return 0, exit
	case late(ctx):
		return 0, ctx.Err()
	}
	if text := inst.GetErrorWithContext(context.WithoutCancel(ctx)); text != "" {
		c.setError([]byte(text))
		if err != nil && err.Error() == text {
			err = nil // the SDK makes an error of the text; the result decides
		}
	}
	if err != nil || result != 0 {
		c.recoverPanic(err)
		return result, err
	}
	if len(out) > 0 {
		c.output = nil
		c.write(out)
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
const kernelSlack = 2 * pageBytes

// fitsKernel refuses an input that the kernel has no room for: the SDK would
// run the guest on an empty one. It tells of limits that do not hold here.
func (c *call) fitsKernel() error {
	if c.limits.Fuel > 0 {
		c.warn("engine " + EngineExtism + " counts no fuel: its limit does not hold")
	}
	n := int64(len(c.input))
	if n == 0 || n+kernelSlack <= c.memory.limit-c.memory.used {
		return nil
	}
	c.cause = c.with(c.error(abi.CodeInputLimit, inputMessage(int(n), c.limits.MemoryMB)), memoryHint, nil)
	return errStopped
}

// recovered is what the engine adds to the panic of a host function.
const recovered = " (recovered by wazero)"

// recoverPanic turns the panic by which the SDK refuses something into the
// cause of the failure. Panics of Go itself are faults of the host.
func (c *call) recoverPanic(err error) {
	var fault goruntime.Error
	if err == nil || c.cause != nil || errors.Is(err, errStopped) || errors.As(err, &fault) {
		return
	}
	if text, _, ok := strings.Cut(err.Error(), recovered); ok && !strings.HasPrefix(text, enginePrefix) {
		c.cause = c.with(c.error(abi.CodeTrap, clean([]byte(text), c.limits.ErrorBytes, c.plugin.redact)), trapHint, err)
	}
}

func (u *upstream) close(ctx context.Context) error { return u.code.Close(ctx) }

// exitedWell reports whether a guest ended itself with exit code 0.
func exitedWell(err error) bool {
	var exit *sys.ExitError
	return errors.As(err, &exit) && exit.ExitCode() == 0
}

// knobText is the value of a knob as Extism's configuration has it: the text,
// or the JSON of what is no text.
func knobText(raw json.RawMessage) string {
	var text string
	if json.Unmarshal(raw, &text) != nil {
		return string(raw)
	}
	return text
}
