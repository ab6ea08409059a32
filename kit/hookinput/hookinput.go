// Package hookinput makes the input of a plugin's hook from a session, as a
// compaction of it would.
package hookinput

import (
	"context"
	"fmt"

	kagewasm "github.com/kagewasm/kagewasm"
	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/hooks"
	"github.com/kagewasm/kagewasm/kit/internal/fail"
)

// Of is what a compaction gives the hook of a plugin: the pipeline runs with a
// stand-in in the plugin's place, which keeps its input and answers nothing.
// Where nothing is due the compaction is forced. The plugin is not called, no
// other plugin and no model takes part, and nothing is committed.
//
// The error is that of the options, of the request, or of code usage where the
// compaction does not come to the hook.
func Of(ctx context.Context, p hooks.Plugin, hook abi.Hook, o kagewasm.Options, req kagewasm.Request) (*abi.Input, error) {
	seen := &listener{Plugin: p, hook: hook}
	o.Plugins, o.Model = []hooks.Plugin{seen}, nil
	o.Policy.Strategy, o.Policy.Disabled = kagewasm.StrategyDrop, false
	c, err := kagewasm.New(o)
	if err != nil {
		return nil, err
	}
	req.Commit = nil
	for _, req.Force = range []bool{false, true} {
		if hook == abi.HookTurnEnd {
			_, err = c.TurnEnd(ctx, req)
		} else if _, err = c.Compact(ctx, req); abi.CodeOf(err) == abi.CodeExceedsWindow {
			err = nil
		}
		if err != nil || seen.in != nil {
			return seen.in, err
		}
	}
	return nil, fail.Usage("input", "", fmt.Sprintf("a compaction of this session does not come to %s", hook), "give a longer session, or an input document", nil)
}

// listener stands in for a plugin in one hook, and keeps the input.
type listener struct {
	hooks.Plugin
	hook abi.Hook
	in   *abi.Input
}

func (l *listener) Hooks() []abi.Hook { return []abi.Hook{l.hook} }

func (l *listener) Call(_ context.Context, in *abi.Input) (*abi.Output, abi.CallStats, error) {
	l.in = in
	return nil, abi.CallStats{}, nil
}
