package runtime

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/runtime/internal/egress"
	"github.com/kagewasm/kagewasm/runtime/internal/host"
)

// Load loads a module, which is compiled here. What the options say is checked
// before.
//
// Errors are of code refused (the module), bad_input (a manifest of the options),
// usage (the options) or canceled.
func (r *Runtime) Load(ctx context.Context, m *Module, o PluginOptions) (*Plugin, error) {
	if m == nil {
		return nil, &abi.Error{Code: abi.CodeUsage, Op: "load", Message: "no module: give the one that Open returned"}
	}
	parsed := *m.wasm
	p := &Plugin{
		runtime: r, size: len(m.bin), source: m.source, grants: o.Grants, engine: o.Engine, done: make(chan struct{}),
	}
	p.shared = host.Plugin{
		Module: &parsed, Digest: m.digest, Manifest: m.manifest, Allows: o.Grants.Allows,
		Adopt: o.Adopt || o.Digest != "", Cassette: o.Cassette, Services: r.services, Warm: o.Warm,
	}
	if p.engine == nil {
		p.engine = r.sandbox
	}
	if o.Digest != "" && !strings.EqualFold(o.Digest, m.digest) {
		return nil, refused("load", m.manifest.Name, refusal(
			fmt.Sprintf("its digest is %s, pinned is %s", m.digest, host.Shorten(o.Digest, 80)),
			"if you trust the new module, pin its digest"))
	}
	if o.Manifest != nil {
		if err := o.Manifest.Validate(); err != nil {
			return nil, err
		}
		p.shared.Manifest, p.source = o.Manifest, manifestGiven
	}
	if err := p.configure(o); err != nil {
		return nil, err
	}
	if err := p.compile(ctx, m.bin, o.AnyExport); err != nil {
		return nil, err
	}
	parsed.Trim()
	if !r.remember(p) {
		_ = p.code.Close(ctx)
		return nil, p.usage("", "the runtime is closed")
	}
	return p, nil
}

// configure checks the options against the manifest.
func (p *Plugin) configure(o PluginOptions) (err error) {
	s := &p.shared
	if s.Limits, err = effectiveLimits(o.Limits, s.Manifest, o.Grants); err != nil {
		return err
	}
	if s.Config, err = s.Manifest.Configure(o.Config); err != nil {
		return err
	}
	for name, value := range o.Secrets {
		switch {
		case !slices.Contains(s.Manifest.Secrets, name):
			return p.usage("", fmt.Sprintf("secret %q: the manifest does not ask for it", host.Shorten(name, 80)))
		case len(value) > host.MaxSecretBytes:
			return p.usage("", fmt.Sprintf("secret %s: %d bytes, %d allowed", name, len(value), host.MaxSecretBytes))
		}
	}
	if s.Web, err = egress.New(egress.Options{
		Grants: o.Grants.HTTP, Asked: s.Manifest.Capabilities[abi.CapHTTP].Hosts, Secrets: o.Secrets,
	}); err != nil {
		return p.usage("", abi.AsError(err).Message)
	}
	s.Finish(o.Secrets)
	return p.takePart()
}

// takePart finds the hooks that the plugin takes part in, which the module has to
// export.
func (p *Plugin) takePart() error {
	m := p.shared.Manifest
	exported := hooksOf(p.shared.Module)
	p.hooks = exported
	if len(m.Hooks) > 0 {
		p.hooks = slices.DeleteFunc(slices.Clone(abi.Hooks), func(h abi.Hook) bool { return !slices.Contains(m.Hooks, h) })
	}
	for _, h := range p.hooks {
		if !slices.Contains(exported, h) {
			e := refused("load", m.Name, refusal(
				fmt.Sprintf("the manifest names the hook %s, which the module does not export", h),
				"export it, or take it out of the manifest"))
			e.Hook = h
			return e
		}
	}
	if m.Has(abi.RoleCompactor) && !slices.Contains(p.hooks, abi.HookPreCompact) {
		return refused("load", m.Name, refusal(
			"a compactor without the hook pre_compact", "export pre_compact, or take the role out of the manifest",
		))
	}
	return nil
}

// compile vets the module, and compiles it then: in this order and nowhere else.
func (p *Plugin) compile(ctx context.Context, bin []byte, anyExport bool) error {
	name, limits := p.shared.Manifest.Name, p.shared.Limits
	if len(bin) > limits.ModuleBytes {
		return refused("load", name, refusal(
			fmt.Sprintf("%d bytes, %d allowed", len(bin), limits.ModuleBytes),
			"strip debug information, or raise the limit (--limit module_bytes=N)"))
	}
	err := p.runtime.linker.vet(p.shared.Module, limits, anyExport)
	if err == nil {
		p.code, err = p.engine.Compile(ctx, bin, &p.shared)
	}
	if e := ctx.Err(); err != nil && e != nil {
		return &abi.Error{
			Code: abi.CodeCanceled, Op: "load", Plugin: name, Phase: abi.PhaseLoad, Message: "the caller gave up", Err: e,
		}
	}
	if err != nil {
		return refused("load", name, err)
	}
	return nil
}
