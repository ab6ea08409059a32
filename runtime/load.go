package runtime

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/abi/pluginyaml"
	"github.com/kagewasm/kagewasm/runtime/internal/egress"
	"github.com/kagewasm/kagewasm/runtime/internal/wasm"
)

// Load loads a module. Where neither the options nor the module have a
// manifest, it becomes an observer of the hooks it exports, named after its
// digest.
//
// Errors are of code refused (the module), bad_input (its manifest), usage
// (the options) or canceled.
func (r *Runtime) Load(ctx context.Context, bin []byte, o PluginOptions) (*Plugin, error) {
	return r.load(ctx, bin, o, "")
}

// LoadFile loads the module in a file. A module without a manifest has it
// beside, in NAME.plugin.yaml for NAME.wasm; where there is none either, it is
// an observer named after the file.
func (r *Runtime) LoadFile(ctx context.Context, path string, o PluginOptions) (*Plugin, error) {
	bin, err := readLimited(path, wasm.MaxBytes)
	if err != nil {
		return nil, &abi.Error{Code: abi.CodeUsage, Op: "load", Phase: abi.PhaseLoad, Message: err.Error(), Hint: "name a .wasm file that can be read", Err: err}
	}
	base := strings.TrimSuffix(path, filepath.Ext(path))
	if o.Manifest == nil {
		if m, err := wasm.Parse(bin); err == nil && len(m.Custom(bin, abi.ManifestSection)) == 0 {
			if o.Manifest, err = readSidecar(base + abi.SidecarSuffix); err != nil {
				return nil, err
			}
		}
	}
	return r.load(ctx, bin, o, fileName(filepath.Base(base)))
}

// readSidecar returns nil where there is no such file.
func readSidecar(path string) (*abi.Manifest, error) {
	data, err := readLimited(path, pluginyaml.MaxBytes)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, &abi.Error{Code: abi.CodeBadInput, Op: "manifest", Phase: abi.PhaseLoad, Message: err.Error(), Err: err}
	}
	return pluginyaml.Parse(path, data)
}

// readLimited reads a file, and one byte more than allowed at most: what is
// too long is refused with a better word later.
func readLimited(path string, limit int64) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil {
		return nil, err
	} else if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s: not a regular file", path)
	}
	return io.ReadAll(io.LimitReader(f, limit+1))
}

// fileName turns a file's name into a plugin's.
func fileName(base string) string {
	name := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' || r == '-' || r == '_' {
			return r
		}
		return '-'
	}, strings.ToLower(base))
	name = strings.TrimLeft(name, "-_")
	return name[:min(len(name), 64)]
}

func (r *Runtime) load(ctx context.Context, bin []byte, o PluginOptions, name string) (*Plugin, error) {
	p := &Plugin{runtime: r, size: len(bin), grants: o.Grants, tape: o.Tape, adopt: o.Adopt || o.Digest != "", done: make(chan struct{})}
	sum := sha256.Sum256(bin)
	p.digest = "sha256:" + hex.EncodeToString(sum[:])
	if o.Digest != "" && !strings.EqualFold(o.Digest, p.digest) {
		return nil, refused("load", name, refusal(fmt.Sprintf("its digest is %s, pinned is %s", p.digest, shorten(o.Digest, 80)), "if you trust the new module, pin its digest"))
	}
	if err := p.describe(bin, o, name); err != nil {
		return nil, err
	}
	if err := p.configure(o); err != nil {
		return nil, err
	}
	if len(bin) > p.limits.ModuleBytes {
		return nil, refused("load", p.manifest.Name, refusal(fmt.Sprintf("%d bytes, %d allowed", len(bin), p.limits.ModuleBytes), "strip debug information, or raise the limit (--limit module_bytes=N)"))
	}
	if err := p.compile(ctx, bin, o); err != nil {
		return nil, err
	}
	p.module.Trim()
	if !r.remember(p) {
		_ = p.engine.close(ctx)
		return nil, p.usage("", "the runtime is closed")
	}
	return p, nil
}

// describe parses the module and finds its manifest.
func (p *Plugin) describe(bin []byte, o PluginOptions, name string) error {
	m, err := wasm.Parse(bin)
	if err != nil {
		return refused("load", name, err)
	}
	p.module = m
	p.wantsInputOffset = slices.ContainsFunc(m.Imports, func(i wasm.Import) bool {
		return i.Module == abi.ExtismModule && i.Name == "input_offset"
	})
	switch manifest, found, err := sectionManifest(bin, m); {
	case o.Manifest != nil:
		p.manifest, p.source = o.Manifest, ManifestGiven
		return o.Manifest.Validate()
	case err != nil:
		return err
	case found:
		p.manifest, p.source = manifest, ManifestInside
	default:
		if name == "" {
			name = "plugin-" + p.digest[len("sha256:"):][:12]
		}
		p.source = ManifestNone
		p.manifest = &abi.Manifest{Name: name, ABI: abi.Version, Roles: []abi.PluginRole{abi.RoleObserver}, Hooks: hooksOf(m)}
	}
	return nil
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
