package main

import (
	"context"
	"fmt"
	"os"
	"strings"

	json "github.com/goccy/go-json"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/evidence"
	"github.com/kagewasm/kagewasm/kit/check"
	"github.com/kagewasm/kagewasm/runtime"
	"github.com/kagewasm/kagewasm/store"
)

// evalPlugin is what the calls of a plugin took.
type evalPlugin struct {
	Plugin  string    `json:"plugin"`
	Version string    `json:"version,omitempty"`
	Digest  string    `json:"digest"`
	Retain  evalCalls `json:"retain"` // a call is a session
	Recall  evalCalls `json:"recall"` // a call is a question
	// What it stored, keys included, and what text there was, in bytes.
	StoredBytes int `json:"stored_bytes"`
	TextBytes   int `json:"text_bytes"`
	// Unnamed is how many injections held no id of a message: what they recall
	// counts as nothing.
	Unnamed int `json:"unnamed,omitempty"`
}

type evalCalls struct {
	evidence.Used
	check.Times
}

func evalCallsOf(calls []abi.CallStats) evalCalls {
	used := evidence.UsedBy(calls)
	return evalCalls{Used: used, Times: check.TimesOf(used.MS)}
}

// measured is the plugin whose memory is measured. Each conversation is an
// agent of its own, over one folder of real files that is thrown away.
type measured struct {
	loader   *loader
	plugin   *runtime.Plugin
	counter  abi.Counter
	kv       *store.KV
	folder   string
	memories map[string]*evidence.Plugin // by agent
	text     map[string]int              // what there was to keep, by agent
}

func (f *evalFlags) openMeasured(ctx context.Context, e env, counter abi.Counter) (*measured, error) {
	folder, err := os.MkdirTemp("", "kagewasm-eval-")
	if err != nil {
		return nil, err
	}
	m := &measured{counter: counter, folder: folder, memories: make(map[string]*evidence.Plugin), text: make(map[string]int)}
	if err := m.open(ctx, e, f); err != nil {
		m.close(context.WithoutCancel(ctx))
		return nil, err
	}
	return m, nil
}

func (m *measured) open(ctx context.Context, e env, f *evalFlags) error {
	kv, err := store.OpenKV(m.folder, store.KVOptions{})
	if err != nil {
		return err
	}
	m.kv = kv
	m.loader, err = openLoaderOver(ctx, e, &f.pluginFlags, m.counter, nil, func(abi.KV) abi.KV { return kv })
	if err != nil {
		return err
	}
	module, err := runtime.OpenFile(f.plugin)
	if err == nil {
		m.plugin, err = m.loader.loadModule(ctx, module, runtime.PluginOptions{Config: widest(module.Manifest()), Grants: m.loader.grants, Engine: f.engine, Limits: m.loader.limits})
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

// report is what the calls took, and what was stored.
func (m *measured) report(ctx context.Context) (*evalPlugin, error) {
	r := &evalPlugin{Plugin: m.plugin.Manifest().Name, Version: m.plugin.Manifest().Version, Digest: m.plugin.Digest()}
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
	r.Retain, r.Recall = evalCallsOf(retains), evalCallsOf(recalls)
	return r, nil
}

func (m *measured) close(ctx context.Context) {
	if m.loader != nil {
		m.loader.close(ctx)
	}
	if m.kv != nil {
		m.kv.Close()
	}
	os.RemoveAll(m.folder)
}

func showMeasured(p printer, r *evalPlugin) {
	line := func(label string, c evalCalls) {
		p.field(label, "%s calls: %s; at most %s memory, %s host calls",
			number(c.Calls), timesLine(c.Times), bytesOf(c.PeakMemoryBytes), number(c.MostHostCalls))
	}
	line("retain", r.Retain)
	line("recall", r.Recall)
	if r.Unnamed > 0 {
		p.field("warning", "%s", p.paint(yellow, fmt.Sprintf("%s injections name no message: a plugin that is measured writes the id of each message beside what it recalls of it", number(r.Unnamed))))
	}
	p.field("stored", "%s for %s of text", bytesOf(r.StoredBytes), bytesOf(r.TextBytes))
}
