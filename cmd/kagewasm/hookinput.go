package main

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	kagewasm "github.com/kagewasm/kagewasm"
	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/abi/abitest"
	"github.com/kagewasm/kagewasm/cmd/kagewasm/internal/ui"
	"github.com/kagewasm/kagewasm/hooks"
	"github.com/kagewasm/kagewasm/runtime"
	"github.com/kagewasm/kagewasm/tokens"
	"github.com/kagewasm/kagewasm/transcript"
)

// sessionFlags say which session a hook is called for.
type sessionFlags struct {
	format string
	window int
}

func (f *sessionFlags) register(c *cobra.Command) {
	c.Flags().StringVar(&f.format, "format", string(transcript.Auto), "format of a session: auto, "+formatNames())
	c.Flags().IntVar(&f.window, "window", 0, "context window of a session's model, in `TOKENS` (default: as for compact)")
}

// hookInput makes the input that a compaction of the session in a file would give
// to a hook of the plugin, and what judges an answer to it as that compaction would.
func (f *sessionFlags) hookInput(
	ctx context.Context, e env, conf configured, path string, hook abi.Hook, p *runtime.Plugin,
) (in *abi.Input, judge func(answer []byte) []string, err error) {
	c := &compactFlags{format: f.format, window: f.window}
	c.given = func(flag string) bool { return flag == "window" && f.window > 0 }
	run, err := c.read(ctx, e, path)
	if err != nil {
		return nil, nil, err
	}
	session := run.File
	model := c.resolve(session, conf)
	counter, err := tokens.New(model.Encoding, tokens.Options{})
	if err != nil {
		return nil, nil, err
	}
	tools, err := counter.Tools(ctx, session.Tools)
	if err != nil {
		return nil, nil, err
	}
	opts := kagewasm.Options{Counter: counter, Policy: conf.policy(), Lookup: conf.resolve}
	req := c.request(path, session, model, tools.Tokens, nil)
	if in, err = inputOf(ctx, p, hook, opts, req); err != nil {
		return nil, nil, fmt.Errorf("%s: %w", path, err)
	}
	return in, func(answer []byte) []string { return refusals(ctx, p, in, answer, opts, req) }, nil
}

// refusals are what a compaction says of a plugin's answer to an input: why it is refused, and what has no effect.
// Nothing is committed, and no model asked.
func refusals(
	ctx context.Context, p hooks.Plugin, in *abi.Input, answer []byte, o kagewasm.Options, req kagewasm.Request,
) (says []string) {
	var out *abi.Output
	if in.Hook != abi.HookPreCompact || json.Unmarshal(answer, &out) != nil || out == nil {
		return nil // what is no answer is told already
	}
	o.Plugins, o.Model = []hooks.Plugin{&speaker{Plugin: p, out: out}}, nil
	o.Policy.Strategy, o.Policy.Disabled = kagewasm.StrategyDrop, false
	compactor, err := kagewasm.New(o)
	if err != nil {
		return nil
	}
	req.Commit, req.DryRun, req.Force = nil, true, true
	result, err := compactor.Compact(ctx, req)
	if result == nil {
		return nil
	}
	for _, h := range result.Report.Hooks {
		if h.Hook == in.Hook {
			says = append(says, h.Warnings...)
		}
	}
	for _, f := range result.Report.Failures {
		if f.Plugin == p.Manifest().Name || err == nil && f.Code == abi.CodeRefused {
			says = append(says, fmt.Sprintf("a compaction refuses this answer (%s): %s", f.Code, f.Message))
		}
	}
	return says
}

// judgeOf is what judges answers to a document that somebody wrote for a hook, by the rules of the conformance kit:
// no session stands behind it that could be compacted. Messages without units are put together by their calls.
func judgeOf(m *abi.Manifest, hook abi.Hook, input []byte) func(answer []byte) []string {
	var in abi.Input
	if json.Unmarshal(input, &in) != nil || hook != abi.HookPreCompact || len(in.Messages) == 0 {
		return func([]byte) []string { return nil }
	}
	if !slices.ContainsFunc(in.Messages, func(m abi.InputMessage) bool { return m.Unit != 0 }) {
		units, _ := abi.Units(in.Plain())
		for n, u := range units {
			for _, i := range u {
				in.Messages[i].Unit = n
			}
		}
	}
	return func(answer []byte) []string {
		var out *abi.Output
		if json.Unmarshal(answer, &out) != nil || out == nil {
			return nil // what is no answer is told already
		}
		if err := abitest.CheckOutput(m, &in, out); err != nil {
			return []string{"a compaction of these messages would not take all of this answer: " +
				strings.ReplaceAll(err.Error(), "\n", "; ")}
		}
		return nil
	}
}

// speaker stands in for a plugin, and says what that has said.
type speaker struct {
	hooks.Plugin
	out *abi.Output
}

func (s *speaker) Hooks() []abi.Hook { return []abi.Hook{abi.HookPreCompact} }

func (s *speaker) Call(context.Context, *abi.Input) (*abi.Output, abi.CallStats, error) {
	return s.out, abi.CallStats{}, nil
}

// hookNamed is a hook of a plugin, for a session.
func hookNamed(name string, p *runtime.Plugin) (abi.Hook, error) {
	for _, h := range p.Hooks() {
		if string(h) == name {
			return h, nil
		}
	}
	return "", ui.Usagef("%s has no hook %q: it has %s", p.Manifest().Name, name, ui.Joined(p.Hooks()))
}

// inputOf makes the input that a compaction would give to a hook of the plugin. The
// pipeline runs with a stand-in for the plugin, which keeps its input and answers
// nothing. Where nothing is due the compaction is forced. The plugin is not called,
// no other plugin and no model takes part, and nothing is committed.
//
// The error is that of the options or of the request, or of code usage where the
// compaction does not call the hook.
func inputOf(
	ctx context.Context, p hooks.Plugin, hook abi.Hook, o kagewasm.Options, req kagewasm.Request,
) (*abi.Input, error) {
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
	return nil, &abi.Error{
		Code: abi.CodeUsage, Op: "input", Message: fmt.Sprintf("a compaction of this session does not come to %s", hook),
		Hint: "give a longer session, or an input document",
	}
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
