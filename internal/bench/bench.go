package bench

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"time"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/abi/abitest"
	"github.com/kagewasm/kagewasm/runtime"
	"github.com/kagewasm/kagewasm/store/kv"
)

// Options say what is measured.
type Options struct {
	// Runtime configures the host. Its KV is replaced by one in memory.
	Runtime runtime.Options
	// Plugin says how the module is loaded; its Warm is set for each series.
	Plugin runtime.PluginOptions
	// Hook to call. Default: pre_compact, or the first that the plugin has.
	Hook abi.Hook
	// Inputs to call it with. Default: generated sessions of three sizes.
	Inputs []Input
	// N is the number of calls of each kind on each input. Default: 50.
	N int
	// Progress, if set, hears of every input before it is measured.
	Progress func(input string)
}

// Input is one input of the measured hook: an input of the ABI, which reaches the
// plugin as it does in a compaction, or a document as it is.
type Input struct {
	Name string // tells it from the other inputs
	In   *abi.Input
	Doc  []byte
}

// document returns the bytes that identify the input.
func (in *Input) document() ([]byte, error) {
	if in.In == nil {
		return in.Doc, nil
	}
	return json.Marshal(in.In)
}

func (in *Input) call(ctx context.Context, p *runtime.Plugin, hook abi.Hook) (abi.CallStats, error) {
	if in.In != nil {
		_, stats, err := p.Call(ctx, in.In)
		return stats, err
	}
	_, stats, err := p.CallRaw(ctx, string(hook), in.Doc)
	return stats, err
}

// Figures are the result of [Run].
type Figures struct {
	Plugin  string        `json:"plugin"`
	Version string        `json:"version,omitempty"`
	Digest  string        `json:"digest"`
	Engine  string        `json:"engine"`
	Hook    abi.Hook      `json:"hook"`
	N       int           `json:"n"`
	Inputs  []Measurement `json:"inputs"`
}

// Measurement sums up the calls on one input.
type Measurement struct {
	Input string `json:"input"`
	// Digest of the document: what has another is not compared.
	Digest string `json:"digest"`
	Bytes  int    `json:"bytes"`
	// FirstMS is of the first call after the module is loaded, in which it
	// starts itself. Cold calls have an instance made for them; warm ones get
	// one that was waiting, as a host has it that calls a plugin now and then.
	FirstMS float64 `json:"first_ms"`
	Cold    Times   `json:"cold"`
	Warm    Times   `json:"warm"`
	// What follows is the most of any call but the first, HostCalls those of the
	// last. Varies: not all calls took the same fuel, so the plugin depends on
	// something beside its input.
	Fuel            int64          `json:"fuel"`
	Varies          bool           `json:"varies,omitempty"`
	PeakMemoryBytes int64          `json:"peak_memory_bytes"`
	StackBytes      int64          `json:"stack_bytes"`
	OutputBytes     int            `json:"output_bytes"`
	HostCalls       map[abi.Op]int `json:"host_calls,omitempty"`
	HostCallBytes   int64          `json:"host_call_bytes,omitempty"`
}

// sizes are the generated sessions, in exchanges of 8 messages.
var sizes = []int{10, 100, 400}

// Run measures the calls of a module. The error is of a module that cannot be
// loaded, of a hook it does not have (code usage), or of a call that failed.
func Run(ctx context.Context, module *runtime.Module, o Options) (*Figures, error) {
	if o.N <= 0 {
		o.N = 50
	}
	if o.Runtime.CacheDir == "" { // it is loaded twice for each input
		dir, err := os.MkdirTemp("", "kagewasm-bench-")
		if err != nil {
			return nil, err
		}
		defer os.RemoveAll(dir)
		o.Runtime.CacheDir = dir
	}
	var err error
	b := &series{module: module, opts: o, kv: kv.NewMemory(kv.Options{})}
	o.Runtime.KV = b.kv
	if b.runtime, err = runtime.New(ctx, o.Runtime); err != nil {
		return nil, err
	}
	defer b.runtime.Close(context.WithoutCancel(ctx))
	p, err := b.runtime.Load(ctx, module, o.Plugin)
	if err != nil {
		return nil, err
	}
	info := p.Info()
	r := &Figures{Plugin: info.Name, Version: info.Version, Digest: info.Digest, Engine: info.Engine,
		Hook: hookOf(o.Hook, info.Hooks), N: o.N}
	inputs := o.Inputs
	if inputs == nil {
		inputs = generated(p.Manifest(), r.Hook)
	}
	if err := p.Close(ctx); err != nil {
		return nil, err
	}
	for _, in := range inputs {
		if o.Progress != nil {
			o.Progress(in.Name)
		}
		m, err := b.measure(ctx, r.Hook, in)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", in.Name, err)
		}
		r.Inputs = append(r.Inputs, m)
	}
	return r, nil
}

func hookOf(asked abi.Hook, has []abi.Hook) abi.Hook {
	if asked == "" && len(has) > 0 {
		return has[0] // pre_compact is the first of all hooks
	}
	return asked
}

// generated are sessions of three sizes as inputs of a hook.
func generated(m *abi.Manifest, hook abi.Hook) []Input {
	var list []Input
	for _, n := range sizes {
		in := abitest.NewInput(m, abitest.Session(n), 0)
		in.Hook = hook
		if hook == abi.HookPostCompact {
			in.Record = &abi.Record{ID: "r1", ReasonCode: abi.ReasonNothingToSupersede, Failures: []*abi.Error{}}
		}
		list = append(list, Input{Name: fmt.Sprintf("%d messages", len(in.Messages)), In: in})
	}
	return list
}

type series struct {
	module  *runtime.Module
	opts    Options
	runtime *runtime.Runtime
	kv      *kv.Memory // emptied before each call
}

// measure measures one input: with a plugin that keeps no instances and with one
// that does, in turn, so that what else the machine does falls on both.
func (b *series) measure(ctx context.Context, hook abi.Hook, in Input) (Measurement, error) {
	doc, err := in.document()
	if err != nil {
		return Measurement{}, err
	}
	sum := sha256.Sum256(doc)
	m := Measurement{Input: in.Name, Digest: "sha256:" + hex.EncodeToString(sum[:]), Bytes: len(doc)}
	var loaded [2]*runtime.Plugin
	for i, keep := range []int{-1, 0} {
		o := b.opts.Plugin
		o.Warm = keep
		if loaded[i], err = b.runtime.Load(ctx, b.module, o); err != nil {
			return m, err
		}
		defer loaded[i].Close(context.WithoutCancel(ctx))
	}
	var ms [2][]float64
	for n := range b.opts.N + 1 {
		for i, p := range loaded {
			b.kv.Clear()
			stats, err := in.call(ctx, p, hook)
			if err != nil {
				return m, err
			}
			if n == 0 {
				m.FirstMS = max(m.FirstMS, stats.MS)
				continue
			}
			ms[i] = append(ms[i], stats.MS)
			m.add(stats)
		}
		time.Sleep(refill)
	}
	m.Cold, m.Warm = TimesOf(ms[0]), TimesOf(ms[1])
	return m, nil
}

// refill is more than a host needs to have an instance ready again.
const refill = 2 * time.Millisecond

// add takes in the figures of a call.
func (m *Measurement) add(s abi.CallStats) {
	m.Varies = m.Varies || m.Fuel != 0 && m.Fuel != s.Fuel
	m.Fuel = max(m.Fuel, s.Fuel)
	m.PeakMemoryBytes = max(m.PeakMemoryBytes, s.PeakMemoryBytes)
	m.StackBytes = max(m.StackBytes, s.StackBytes)
	m.OutputBytes = max(m.OutputBytes, s.OutputBytes)
	m.HostCallBytes = max(m.HostCallBytes, s.HostCallBytes)
	m.HostCalls = s.HostCalls
}
