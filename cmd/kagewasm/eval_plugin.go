package main

import (
	"context"
	"fmt"
	"os"
	"strings"

	json "github.com/goccy/go-json"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/cmd/kagewasm/internal/ui"
	"github.com/kagewasm/kagewasm/internal/evidence"
	"github.com/kagewasm/kagewasm/runtime"
	"github.com/kagewasm/kagewasm/store/kv"
)

// measured is the plugin whose memory is measured. Each conversation is an
// agent of its own, over one folder of real files that is thrown away.
type measured struct {
	loader   *loader
	plugin   *runtime.Plugin
	counter  abi.Counter
	kv       *kv.Folder
	folder   string
	memories map[string]*evidence.Plugin // by agent
	text     map[string]int              // what there was to keep, by agent
}

func (f *evalFlags) openMeasured(ctx context.Context, e env, counter abi.Counter) (*measured, error) {
	folder, err := os.MkdirTemp("", "kagewasm-eval-")
	if err != nil {
		return nil, err
	}
	m := &measured{
		counter: counter, folder: folder, memories: make(map[string]*evidence.Plugin), text: make(map[string]int),
	}
	if err := m.open(ctx, e, f); err != nil {
		m.close(context.WithoutCancel(ctx))
		return nil, err
	}
	return m, nil
}

func (m *measured) open(ctx context.Context, e env, f *evalFlags) error {
	kv, err := kv.Open(m.folder, kv.Options{})
	if err != nil {
		return err
	}
	m.kv = kv
	m.loader, err = openLoaderOver(ctx, e, &f.pluginFlags, m.counter, nil, func(abi.KV) abi.KV { return kv })
	if err != nil {
		return err
	}
	module, err := m.loader.named.Open(f.plugin)
	if err == nil {
		m.plugin, err = m.loader.loadModule(ctx, module, runtime.PluginOptions{
			Config: widest(module.Manifest()), Grants: m.loader.grants, Limits: m.loader.limits,
		})
	}
	if err == nil {
		err = m.loader.unusedFlag()
	}
	if err != nil {
		return fmt.Errorf("%s: %w", f.plugin, err)
	}
	return nil
}

// widest turns up what bounds the tokens a plugin injects: the whole numbers
// that are named max…tokens. It is a rule of thumb that holds for the plugins of
// the project; --knob says it for others.
func widest(m *abi.Manifest) abi.Config {
	config := make(abi.Config)
	for name, k := range m.Knobs {
		if k.Type == abi.KnobIntRange && strings.Contains(name, "max") && strings.HasSuffix(name, "tokens") {
			config[name], _ = json.Marshal(int(k.Max))
		}
	}
	return config
}

// memory is the plugin as the memory of one conversation.
func (m *measured) memory(_ context.Context, d *evidence.Dataset) (evidence.Memory, error) {
	agent := fmt.Sprintf("eval/%d", len(m.memories))
	p := evidence.NewPlugin(m.plugin, m.counter, agent)
	m.memories[agent] = p
	m.text[agent] = d.TextBytes()
	return p, nil
}

// report sums up what the calls took and what was stored.
func (m *measured) report(ctx context.Context) (*ui.EvalPlugin, error) {
	r := &ui.EvalPlugin{Plugin: m.plugin.Manifest().Name, Version: m.plugin.Manifest().Version, Digest: m.plugin.Digest()}
	var retains, recalls []abi.CallStats
	for agent, memory := range m.memories {
		a, b := memory.Calls()
		retains, recalls = append(retains, a...), append(recalls, b...)
		ns, err := m.plugin.Namespace(ctx, agent)
		if err != nil {
			return nil, err
		}
		stored, err := evidence.StoredBytes(ctx, m.kv, ns)
		if err != nil {
			return nil, err
		}
		r.StoredBytes += stored
		r.TextBytes += m.text[agent]
		r.Unnamed += memory.Unnamed()
	}
	r.Retain, r.Recall = ui.EvalCallsOf(retains), ui.EvalCallsOf(recalls)
	return r, nil
}

func (m *measured) close(ctx context.Context) {
	m.loader.close(ctx)
	if m.kv != nil {
		m.kv.Close()
	}
	os.RemoveAll(m.folder)
}
