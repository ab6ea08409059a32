package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/store"
	"github.com/kagewasm/kagewasm/store/folder"
)

// newMemory is called what the tools around it call what is kept between
// sessions; "state" is also compiled modules and what is trusted.
func newMemory(e env) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "memory",
		Short: "List, export and import what plugins keep between sessions",
		Long: `What a plugin keeps between sessions is text under keys, one folder of it for
each plugin and each agent. Export copies one to a folder of your own, import
reads a folder back: one that was exported, here or on another machine, or one
that Claude Code, OpenClaw, basic-memory or a person wrote.`,
		Args: cobra.ArbitraryArgs,
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) > 0 {
				return usagef("unknown command %q (see kagewasm memory --help)", args[0])
			}
			return c.Help()
		},
	}
	cmd.AddCommand(newMemoryList(e), newMemoryExport(e), newMemoryImport(e))
	return cmd
}

// memoryFlags say whose memory.
type memoryFlags struct {
	state  string
	agent  string
	asJSON bool
}

func (f *memoryFlags) register(c *cobra.Command) {
	c.Flags().StringVar(&f.state, "state", "", "`DIR` for what plugins keep (default: the platform's state folder)")
	c.Flags().BoolVar(&f.asJSON, "json", false, "print JSON")
}

func (f *memoryFlags) registerAgent(c *cobra.Command) {
	f.register(c)
	c.Flags().StringVar(&f.agent, "agent", "", "what it keeps for the agent of this `PATH`, as compact --agent had it, such as main/reviewer (default: the main one)")
}

// open opens the storage. Close the state.
func (f *memoryFlags) open(e env) (*state, *store.KV, error) {
	st, err := openState(f.state, e.stateHome)
	if err != nil {
		return nil, nil, err
	}
	kv, ok := st.kv.(*store.KV)
	if !ok {
		return nil, nil, usagef("--state %s keeps nothing: give the folder of a state", inMemory)
	}
	return st, kv, nil
}

// namespace is what PLUGIN names: a plugin, or what list shows.
func (f *memoryFlags) namespace(plugin string) (string, error) {
	ns := plugin
	if f.agent != "" && !strings.Contains(plugin, "@") {
		ns = abi.AgentNamespace(plugin, f.agent)
	}
	switch {
	case !abi.ValidNamespace(ns) || strings.HasPrefix(ns, "_"):
		return "", usagef("%s: no name of a plugin: give one, or a namespace as kagewasm memory list shows it", plugin)
	case f.agent != "" && ns == plugin:
		return "", usagef("--agent %s: %s names an agent already", f.agent, plugin)
	}
	return ns, nil
}

func newMemoryList(e env) *cobra.Command {
	f := &memoryFlags{}
	cmd := &cobra.Command{
		Use:   "list",
		Short: "Show which plugins keep something, for which agents, and how much",
		Args:  exactArgs(),
		RunE: func(c *cobra.Command, _ []string) error {
			st, kv, err := f.open(e)
			if err != nil {
				return err
			}
			defer st.Close()
			spaces, err := kv.Spaces(c.Context())
			if err != nil {
				return err
			}
			if f.asJSON {
				if spaces == nil {
					spaces = []store.Space{}
				}
				return printJSON(e.stdout, spaces)
			}
			p := printer{w: e.stdout, color: e.color}
			for _, s := range spaces {
				p.linef("%-32s %6s values  %10s", s.Name, number(s.Keys), bytesOf(s.Bytes))
			}
			if len(spaces) == 0 {
				p.linef("no plugin keeps anything here")
			}
			return nil
		},
	}
	f.register(cmd)
	return cmd
}

func newMemoryExport(e env) *cobra.Command {
	f, o := &memoryFlags{}, folder.ExportOptions{}
	cmd := &cobra.Command{
		Use:   "export PLUGIN DIR",
		Short: "Copy what a plugin keeps to a folder",
		Long: `Write each value that a plugin keeps as a file below DIR, byte for byte. DIR is
there as a whole or not at all. One that holds something already is refused;
with --force files of the same names are replaced, and all others stay.

PLUGIN is a plugin's name, or a namespace as kagewasm memory list shows it.`,
		Example: `  kagewasm memory export markdown notes
  kagewasm memory export markdown notes --agent main/reviewer`,
		Args: exactArgs("PLUGIN", "DIR"),
		RunE: func(c *cobra.Command, args []string) error {
			r, err := f.copy(c.Context(), e, args[0], func(ctx context.Context, kv *store.KV, ns string) (*folder.Report, error) {
				return folder.Export(ctx, kv, ns, args[1], o)
			}, func(r *folder.Report) string { return "exported " + r.Namespace + " to " + r.Dir })
			if err != nil {
				return err
			}
			if n := r.Count(folder.Skipped); n > 0 {
				return fmt.Errorf("memory export: %d of %d values could not be read", n, len(r.Files))
			}
			return nil
		},
	}
	f.registerAgent(cmd)
	cmd.Flags().BoolVar(&o.Force, "force", false, "write into a folder that holds something: replace files of the same names, leave the others")
	return cmd
}

func newMemoryImport(e env) *cobra.Command {
	f, o := &memoryFlags{}, folder.ImportOptions{}
	cmd := &cobra.Command{
		Use:   "import PLUGIN DIR",
		Short: "Read a folder into what a plugin keeps",
		Long: `Store every text file in DIR and below under its name, where the plugin finds it
as if it were its own. Where another text of that name is stored already, both
are kept, the imported one beside it, or with --replace the imported one. Hidden
files, links and what is not text are skipped. All is stored, or nothing.

PLUGIN is a plugin's name, or a namespace as kagewasm memory list shows it.`,
		Example: `  kagewasm memory import markdown notes --dry-run
  kagewasm memory import markdown ~/.claude/projects/-home-me-parcel/memory`,
		Args: exactArgs("PLUGIN", "DIR"),
		RunE: func(c *cobra.Command, args []string) error {
			_, err := f.copy(c.Context(), e, args[0], func(ctx context.Context, kv *store.KV, ns string) (*folder.Report, error) {
				return folder.Import(ctx, kv, ns, args[1], o)
			}, func(r *folder.Report) string {
				if r.DryRun {
					return "would import " + r.Dir + " into " + r.Namespace
				}
				return "imported " + r.Dir + " into " + r.Namespace
			})
			return err
		},
	}
	f.registerAgent(cmd)
	cmd.Flags().BoolVar(&o.Replace, "replace", false, "let files take the place of stored values of the same name")
	cmd.Flags().BoolVar(&o.DryRun, "dry-run", false, "store nothing, and say what would be")
	return cmd
}

// copy runs a copy and says what it did.
func (f *memoryFlags) copy(ctx context.Context, e env, plugin string, run func(context.Context, *store.KV, string) (*folder.Report, error), done func(*folder.Report) string) (*folder.Report, error) {
	ns, err := f.namespace(plugin)
	if err != nil {
		return nil, err
	}
	st, kv, err := f.open(e)
	if err != nil {
		return nil, err
	}
	defer st.Close()
	r, err := run(ctx, kv, ns)
	if err != nil {
		return nil, err
	}
	if f.asJSON {
		return r, printJSON(e.stdout, r)
	}
	showCopy(printer{w: e.stdout, color: e.color}, done(r), r)
	return r, nil
}

// actions are what a report counts, in the order in which it says it.
var actions = []struct {
	folder.Action
	word  string
	style style
}{
	{folder.Added, "added", green}, {folder.Replaced, "replaced", yellow}, {folder.KeptBoth, "kept both", yellow},
	{folder.Unchanged, "unchanged", dim}, {folder.Skipped, "skipped", red},
}

func showCopy(p printer, done string, r *folder.Report) {
	var counts []string
	for _, a := range actions {
		if n := r.Count(a.Action); n > 0 {
			counts = append(counts, number(n)+" "+a.word)
		}
	}
	if len(counts) == 0 {
		counts = []string{"no files"}
	}
	p.linef("%s: %s", abi.Defuse(done), strings.Join(counts, ", "))
	for _, f := range r.Files {
		for _, a := range actions {
			if f.Action != a.Action || f.Action == folder.Unchanged {
				continue
			}
			line := f.Name
			if f.Action == folder.KeptBoth {
				line += " as " + f.Key
			}
			if f.Why != "" {
				line += ": " + f.Why
			}
			p.linef("  %s  %s", p.paint(a.style, fmt.Sprintf("%-9s", a.word)), abi.Defuse(line))
		}
	}
}
