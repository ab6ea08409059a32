package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	kagewasm "github.com/kagewasm/kagewasm"
	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/kit/hookinput"
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

// hookInput is what a compaction of the session in a file gives the hook of a
// plugin.
func (f *sessionFlags) hookInput(ctx context.Context, e env, conf configured, path string, hook abi.Hook, p *runtime.Plugin) (*abi.Input, error) {
	c := &compactFlags{format: f.format, window: f.window, given: func(flag string) bool { return flag == "window" && f.window > 0 }}
	session, err := c.read(ctx, e, path)
	if err != nil {
		return nil, err
	}
	model := c.resolve(session, conf)
	counter, err := tokens.New(model.Encoding, tokens.Options{})
	if err != nil {
		return nil, err
	}
	tools, err := counter.Tools(ctx, session.Tools)
	if err != nil {
		return nil, err
	}
	opts := kagewasm.Options{Counter: counter, Policy: conf.policy(), Lookup: conf.resolve}
	in, err := hookinput.Of(ctx, p, hook, opts, c.request(path, session, model, tools.Tokens, nil))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return in, nil
}

// hookNamed is a hook of a plugin, for a session.
func hookNamed(name string, p *runtime.Plugin) (abi.Hook, error) {
	for _, h := range p.Hooks() {
		if string(h) == name {
			return h, nil
		}
	}
	return "", usagef("--session: %s has no hook %q: it has %s", p.Manifest().Name, name, joined(p.Hooks()))
}
