package check

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"maps"
	"slices"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/abi/abitest"
	"github.com/kagewasm/kagewasm/runtime"
	"github.com/kagewasm/kagewasm/store/kv"
)

// subject is the module under test. It is an abitest.Plugin: the runtime takes
// knobs from its options alone, so the module is loaded once for each
// configuration that an input has.
type subject struct {
	module   *runtime.Module
	opts     VerifyOptions
	runtime  *runtime.Runtime
	kv       *kv.Memory // emptied between calls that are compared
	manifest *abi.Manifest
	info     runtime.Info
	defaults abi.Config
	loaded   map[string]*runtime.Plugin // by configuration
	meter    meter
	failures map[string]string // of calls: the first rule that each broke
}

func newSubject(ctx context.Context, module *runtime.Module, o VerifyOptions) (*subject, error) {
	s := &subject{module: module, opts: o, kv: kv.NewMemory(kv.Options{}),
		loaded: make(map[string]*runtime.Plugin), failures: make(map[string]string)}
	var err error
	ro := o.Runtime
	ro.KV = s.kv
	if s.runtime, err = runtime.New(ctx, ro); err != nil {
		return nil, err
	}
	p, err := s.load(ctx, o.Plugin)
	if err == nil {
		s.info = p.Info()
		said := *p.Manifest()
		said.Hooks = s.info.Hooks // a manifest need not name those that the module exports
		s.manifest = &said
		s.defaults, err = s.manifest.Configure(nil)
	}
	if err != nil {
		return nil, errors.Join(err, s.runtime.Close(ctx))
	}
	return s, p.Close(ctx)
}

func (s *subject) close(ctx context.Context) { _ = s.runtime.Close(ctx) }

func (s *subject) load(ctx context.Context, o runtime.PluginOptions) (*runtime.Plugin, error) {
	return s.runtime.Load(ctx, s.module, o)
}

// Call answers a call by the module, loaded with the input's knobs.
func (s *subject) Call(ctx context.Context, in *abi.Input) (*abi.Output, abi.CallStats, error) {
	p, err := s.with(ctx, in.Config)
	if err != nil {
		return nil, abi.CallStats{}, err
	}
	return s.call(ctx, p, in)
}

// call calls a hook and notes what that used.
func (s *subject) call(ctx context.Context, p *runtime.Plugin, in *abi.Input) (*abi.Output, abi.CallStats, error) {
	out, stats, err := p.Call(ctx, in)
	s.meter.note(stats, err)
	s.meter.said(out)
	return out, stats, err
}

// raw calls a hook with a document as it is.
func (s *subject) raw(ctx context.Context, p *runtime.Plugin, hook abi.Hook, doc []byte) ([]byte, error) {
	out, stats, err := p.CallRaw(ctx, string(hook), doc)
	s.meter.note(stats, err)
	return out, err
}

// with is the module with the knobs of an input, and the operator's where that
// has the manifest's default.
func (s *subject) with(ctx context.Context, config abi.Config) (*runtime.Plugin, error) {
	values := maps.Clone(s.opts.Plugin.Config)
	for name, raw := range config {
		if !bytes.Equal(raw, s.defaults[name]) {
			if values == nil {
				values = make(abi.Config)
			}
			values[name] = raw
		}
	}
	key, err := json.Marshal(values)
	if err != nil {
		return nil, err
	}
	if p := s.loaded[string(key)]; p != nil {
		return p, nil
	}
	o := s.opts.Plugin
	o.Config = values
	p, err := s.load(ctx, o)
	if err == nil {
		s.loaded[string(key)] = p
	}
	return p, err
}

// handles returns why a rule about a hook is skipped, or nothing where the plugin
// has the hook.
func (s *subject) handles(h abi.Hook) string {
	if slices.Contains(s.info.Hooks, h) {
		return ""
	}
	return "the plugin has no hook " + string(h)
}

// input is a session of n exchanges as a dry run, so that calls can be
// compared.
func (s *subject) input(n int) *abi.Input {
	in := abitest.NewInput(s.manifest, abitest.Session(n), 0)
	in.Trigger.DryRun = true
	return in
}
