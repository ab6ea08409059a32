package main

import (
	"context"
	"errors"
	"io/fs"

	"github.com/spf13/cobra"

	kagewasm "github.com/kagewasm/kagewasm"
	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/cmd/kagewasm/internal/named"
	"github.com/kagewasm/kagewasm/cmd/kagewasm/internal/ui"
	"github.com/kagewasm/kagewasm/hooks"
	"github.com/kagewasm/kagewasm/internal/lists"
	"github.com/kagewasm/kagewasm/internal/rerun"
	"github.com/kagewasm/kagewasm/runtime"
	"github.com/kagewasm/kagewasm/store"
)

func newAuditRerun(e env) *cobra.Command {
	f, found := &storeFlags{}, &modules{shelf: e.named()}
	cmd := &cobra.Command{
		Use:   "rerun ID",
		Short: "Make a recorded compaction again, and show that the same comes of it",
		Long: `Compact again what a compaction was made of: the messages as they were, with the
policy, the request and the time that the log has, and with what models answered then;
none is asked. The modules of plugins are run again where one of the same digest is found:
among those that a kagewasm.yaml here or in a folder above names, those of --plugin, and
those that stand by a name. They have the knobs and limits of then, and their host calls
(storage, network, models, search) are answered as they were; nothing is stored or sent.
Where there is no such module, or what it was answered took more than 1 MiB, its recorded
answer stands for it, which is said.

ID is the compaction's, or that of a session, of which the last one in force is meant. The
exit code is 1 where anything comes out otherwise. Nothing is stored.`,
		Args: exactArgs("ID"),
		RunE: func(c *cobra.Command, args []string) error {
			return f.with(c.Context(), e, func(s *store.Store) error {
				key, compaction, err := judged(c.Context(), s, args[0])
				if err != nil {
					return err
				}
				defer found.close(context.WithoutCancel(c.Context()))
				if err := found.configure(e); err != nil {
					return err
				}
				r, err := rerun.Run(c.Context(), s, key, compaction, found.load)
				if err != nil {
					return err
				}
				if err := show(e, f.asJSON, r, ui.Rerun); err != nil {
					return err
				}
				if n := len(r.Differences); n > 0 {
					return &abi.Error{Code: abi.CodeState, Op: "audit rerun", Message: "it comes out otherwise: " +
						ui.Plural(n, "difference")}
				}
				return nil
			})
		},
	}
	f.register(cmd)
	e.pluginFlag(cmd, &found.refs, "look for modules in this `FILE`, or by this name")
	found.configFlag.registerUsed(cmd)
	return cmd
}

// modules finds those of plugins by their digests, and runs them without any services: what
// they ask is answered from a recording.
type modules struct {
	configFlag
	refs    []string
	shelf   named.Shelf
	runtime *runtime.Runtime
}

// configure adds the plugins that a configuration names, where there is one that is trusted.
func (m *modules) configure(e env) error {
	if m.off {
		return nil
	}
	c, err := m.configFlag.load()
	if m.path == "" && err != nil { // it is not what holds for the recorded compaction
		if !errors.Is(err, fs.ErrNotExist) {
			e.say("the configuration is not looked at: " + err.Error())
		}
		return nil
	}
	if err != nil {
		return err
	}
	for _, p := range c.Plugins {
		m.refs = append(m.refs, p.Path)
	}
	return nil
}

// load implements rerun.Load.
func (m *modules) load(
	ctx context.Context, heard *kagewasm.Heard, config abi.Config, limits abi.Limits,
) (hooks.Plugin, error) {
	for _, ref := range append(m.refs, m.shelf.Names()...) {
		module, err := m.shelf.Open(ref)
		if err != nil || module.Digest() != heard.Digest {
			continue // it is another one, or none any more
		}
		if m.runtime == nil {
			if m.runtime, err = runtime.New(ctx, runtime.Options{}); err != nil {
				return nil, err
			}
		}
		opts := runtime.PluginOptions{Manifest: heard.Plugin, Digest: heard.Digest, Config: config, Limits: limits}
		for _, c := range lists.Filter(heard.Granted, func(c abi.Capability) bool { return c != abi.CapHTTP }) {
			if err := opts.Grants.Grant(c); err != nil {
				return nil, err
			}
		}
		return m.runtime.Load(ctx, module, opts)
	}
	return nil, nil
}

func (m *modules) close(ctx context.Context) {
	if m.runtime != nil {
		m.runtime.Close(ctx)
	}
}
