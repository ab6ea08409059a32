package runtime

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/runtime/internal/egress"
	"github.com/kagewasm/kagewasm/runtime/internal/wasm"
)

// Load loads a module, which is compiled here. What the options say is checked
// before.
//
// Errors are of code refused (the module), bad_input (a manifest of the options),
// usage (the options) or canceled.
func (r *Runtime) Load(ctx context.Context, m *Module, o PluginOptions) (*Plugin, error) {
	parsed := *m.wasm
	p := &Plugin{
		runtime: r, size: len(m.bin), module: &parsed, digest: m.digest, manifest: m.manifest, source: m.source,
		grants: o.Grants, tape: o.Tape, adopt: o.Adopt || o.Digest != "", done: make(chan struct{}),
	}
	if o.Digest != "" && !strings.EqualFold(o.Digest, p.digest) {
		return nil, refused("load", p.manifest.Name, refusal(fmt.Sprintf("its digest is %s, pinned is %s", p.digest, shorten(o.Digest, 80)), "if you trust the new module, pin its digest"))
	}
	if o.Manifest != nil {
		if err := o.Manifest.Validate(); err != nil {
			return nil, err
		}
		p.manifest, p.source = o.Manifest, manifestGiven
	}
	if err := p.configure(o); err != nil {
		return nil, err
	}
	if len(m.bin) > p.limits.ModuleBytes {
		return nil, refused("load", p.manifest.Name, refusal(fmt.Sprintf("%d bytes, %d allowed", len(m.bin), p.limits.ModuleBytes), "strip debug information, or raise the limit (--limit module_bytes=N)"))
	}
	if err := p.compile(ctx, m.bin, o); err != nil {
		return nil, err
	}
	p.module.Trim()
	if !r.remember(p) {
		_ = p.engine.close(ctx)
		return nil, p.usage("", "the runtime is closed")
	}
	return p, nil
}

// configure checks the options against the manifest.
func (p *Plugin) configure(o PluginOptions) (err error) {
	if p.limits, err = effectiveLimits(o.Limits, p.manifest, o.Grants); err != nil {
		return err
	}
	if p.config, err = p.manifest.Configure(o.Config); err != nil {
		return err
	}
	for name, value := range o.Secrets {
		switch {
		case !slices.Contains(p.manifest.Secrets, name):
			return p.usage("", fmt.Sprintf("secret %q: the manifest does not ask for it", shorten(name, 80)))
		case len(value) > maxSecretBytes:
			return p.usage("", fmt.Sprintf("secret %s: %d bytes, %d allowed", name, len(value), maxSecretBytes))
		}
	}
	p.redact = newRedactor(o.Secrets)
	p.wantsInputOffset = slices.ContainsFunc(p.module.Imports, func(i wasm.Import) bool {
		return i.Module == abi.ExtismModule && i.Name == "input_offset"
	})
	if p.web, err = egress.New(egress.Options{Grants: o.Grants.HTTP, Secrets: o.Secrets}); err != nil {
		return p.usage("", abi.AsError(err).Message)
	}
	exported := hooksOf(p.module)
	p.hooks = exported
	if len(p.manifest.Hooks) > 0 {
		p.hooks = nil
		for _, h := range abi.Hooks {
			if slices.Contains(p.manifest.Hooks, h) {
				p.hooks = append(p.hooks, h)
			}
		}
	}
	for _, h := range p.hooks {
		if !slices.Contains(exported, h) {
			return refused("load", p.manifest.Name, refusal(fmt.Sprintf("the manifest names the hook %s, which the module does not export", h), "export it, or take it out of the manifest"))
		}
	}
	if p.manifest.Has(abi.RoleCompactor) && !slices.Contains(p.hooks, abi.HookPreCompact) {
		return refused("load", p.manifest.Name, refusal("a compactor without the hook pre_compact", "export pre_compact, or take the role out of the manifest"))
	}
	return nil
}

func (p *Plugin) compile(ctx context.Context, bin []byte, o PluginOptions) (err error) {
	switch p.name = o.Engine; o.Engine {
	case "", EngineNative:
		p.name = EngineNative
		p.engine, err = p.runtime.compile(ctx, bin, p, o)
	case EngineExtism:
		p.engine, err = p.runtime.compileExtism(ctx, bin, p, o.AnyExport)
	default:
		return p.usage("", fmt.Sprintf("engine %q: use %s or %s", o.Engine, EngineNative, EngineExtism))
	}
	if err == nil {
		return nil
	}
	if e := ctx.Err(); e != nil {
		return &abi.Error{Code: abi.CodeCanceled, Op: "load", Plugin: p.manifest.Name, Phase: abi.PhaseLoad, Message: "the caller gave up", Err: e}
	}
	return refused("load", p.manifest.Name, err)
}
