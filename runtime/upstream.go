package runtime

import (
	"context"
	"encoding/json"
	"errors"

	extism "github.com/extism/go-sdk"
	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/experimental"
	"github.com/tetratelabs/wazero/sys"

	"github.com/kagewasm/kagewasm/abi"
)

// upstream is the engine of Extism's own SDK, with our bulk calls added. It
// keeps the time limit and counts memory, and that is all it keeps: it is for
// trusted plugins and for comparing answers. It logs nothing of what an
// Extism plugin logs, because its log level is one for the whole process.
type upstream struct{ code *extism.CompiledPlugin }

// compileExtism is compile for the engine of upstream.
func (r *Runtime) compileExtism(ctx context.Context, bin []byte, p *Plugin, anyExport bool) (engine, error) {
	if err := r.linker.vet(p.module, p.limits, anyExport); err != nil {
		return nil, err
	}
	manifest := extism.Manifest{
		Wasm:    []extism.Wasm{extism.WasmData{Data: bin, Name: "main"}},
		Config:  make(map[string]string, len(p.config)),
		Timeout: uint64(p.limits.TimeoutMS),
	}
	for name, raw := range p.config {
		manifest.Config[name] = knobText(raw)
	}
	var funcs []extism.HostFunction
	for _, f := range bulkFuncs {
		params, results := engineTypes(f.sig)
		h := extism.NewHostFunctionWithStack(f.name, func(ctx context.Context, _ *extism.CurrentPlugin, stack []uint64) {
			f.fn(ctx, callOf(ctx), stack)
		}, params, results)
		h.SetNamespace(abi.ImportModule)
		funcs = append(funcs, h)
	}
	code, err := extism.NewCompiledPlugin(ctx, manifest, extism.PluginConfig{EnableWasi: true, RuntimeConfig: wazero.NewRuntimeConfig()}, funcs)
	if err != nil {
		return nil, refusal("the engine refuses it: "+shorten(err.Error(), 500), "try --engine native")
	}
	return &upstream{code}, nil
}

func (u *upstream) run(ctx context.Context, c *call) (uint32, error) {
	i := &instance{world: newWorld()}
	i.bind(c)
	defer i.close()
	ctx = experimental.WithMemoryAllocator(ctx, i)
	// The SDK takes an exit with code 0 for a return.
	var exit *sys.ExitError
	running := true
	closing := experimental.WithCloseNotifier(ctx, experimental.CloseNotifyFunc(func(_ context.Context, code uint32) {
		if running {
			exit = sys.NewExitError(code)
		}
	}))
	inst, err := u.code.Instance(closing, extism.PluginInstanceConfig{ModuleConfig: i.world.config(wazero.NewModuleConfig())})
	if err != nil {
		running = false
		return 0, err
	}
	defer inst.Close(context.WithoutCancel(ctx))
	c.phase = abi.PhaseCall
	result, out, err := inst.CallWithContext(ctx, c.export, c.input)
	if running = false; err == nil && exit != nil && c.export != startExport {
		return 0, exit
	}
	if text := inst.GetErrorWithContext(context.WithoutCancel(ctx)); text != "" {
		c.setError([]byte(text))
		if err != nil && err.Error() == text {
			err = nil // the SDK makes an error of the text; the result decides
		}
	}
	if err != nil || result != 0 {
		return result, err
	}
	if len(out) > 0 {
		c.output = nil
		if c.write(out) != 0 {
			return 0, nil
		}
	}
	return result, nil
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
