// Package guesttest tests plugins natively: wrap the plugin in a [Plugin], which abi/abitest runs its
// rules over. The handlers of a [guest.Plugin] run in the test's own process, over a host in memory.
//
//	p := &guesttest.Plugin{Plugin: memory.Plugin}
//	abitest.Run(t, manifest, p)
//
// What passes here can still fail in a module (memory, time, the fixed clock); the same rules run over
// the built module through the runtime.
package guesttest

import (
	"cmp"
	"context"
	"encoding/json"
	"maps"
	"sync"
	"time"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/abi/guest"
	"github.com/kagewasm/kagewasm/abi/guest/internal/memhost"
	"github.com/kagewasm/kagewasm/internal/strictjson"
)

// Host is a host in memory: stored data in a map, log lines and compaction
// requests recorded, tokens estimated, any op made to fail. The zero value is
// ready and grants everything but the network and a model.
type Host = memhost.Host

// Plugin calls the handlers of a guest.Plugin as a host would: the input goes
// in as JSON and the output comes out as JSON, so that neither side shares
// memory with the other. Calls run one after the other.
type Plugin struct {
	guest.Plugin
	// Host answers the host calls, and keeps what was stored from call to
	// call. Default: a new one, made by the first call.
	Host *Host

	mu sync.Mutex
}

// Call runs one hook. The output is nil where the plugin has nothing to say.
// What a handler returns as its error comes back as an [abi.Error] of CodeExit.
// The stats hold what a native call has: time, bytes, host calls and logs.
func (p *Plugin) Call(ctx context.Context, in *abi.Input) (*abi.Output, abi.CallStats, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	fail := func(code abi.Code, phase abi.Phase, err error) *abi.Error {
		return &abi.Error{Code: code, Hook: in.Hook, Phase: phase, Message: err.Error(), Err: err}
	}
	var stats abi.CallStats
	if err := ctx.Err(); err != nil {
		return nil, stats, fail(abi.CodeCanceled, abi.PhaseCall, err)
	}
	doc, err := json.Marshal(in)
	if err != nil {
		return nil, stats, fail(abi.CodeBadInput, abi.PhaseCall, err)
	}
	p.Host = cmp.Or(p.Host, new(Host))
	p.Host.Messages = in.Messages
	calls, logs, start := maps.Clone(p.Host.Calls), len(p.Host.Logs), time.Now()
	answer, err := p.Plugin.Serve(in.Hook, doc, p.Host)
	stats = abi.CallStats{
		MS:         float64(time.Since(start)) / float64(time.Millisecond),
		InputBytes: len(doc), OutputBytes: len(answer),
		HostCalls: since(p.Host.Calls, calls), Logs: p.Host.Logs[logs:],
	}
	if err != nil {
		return nil, stats, fail(abi.CodeExit, abi.PhaseCall, err)
	}
	if len(answer) == 0 {
		return nil, stats, nil
	}
	var out abi.Output
	if err := strictjson.Decode(answer, &out); err != nil {
		return nil, stats, fail(abi.CodeBadOutput, abi.PhaseOutput, err)
	}
	return &out, stats, nil
}

// since is how many calls of each op came after before.
func since(now, before map[abi.Op]int) map[abi.Op]int {
	d := make(map[abi.Op]int)
	for op, n := range now {
		if n > before[op] {
			d[op] = n - before[op]
		}
	}
	return d
}
