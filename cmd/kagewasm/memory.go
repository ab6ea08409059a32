package main

import (
	"cmp"
	"context"
	"strings"

	"github.com/spf13/cobra"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/cmd/kagewasm/internal/state"
	"github.com/kagewasm/kagewasm/cmd/kagewasm/internal/ui"
	"github.com/kagewasm/kagewasm/internal/folder"
)

// newMemory is called what the tools around it call what is kept between
// sessions; "state" is also compiled modules and what is trusted.
func newMemory(e env) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "memory",
		Short: "List, export, import, delete and repair what plugins keep between sessions",
		Long: `What a plugin keeps between sessions is text under keys, a namespace of it for
each plugin and each agent. Export copies one to a folder of your own, import
reads a folder back: one that was exported, here or on another machine, or one
that Claude Code, OpenClaw, basic-memory or a person wrote. Delete forgets. Check says what is
missing or damaged, and repair does something about it.`,
	}
	list := newMemoryList(e)
	group(cmd, list, newMemoryExport(e), newMemoryImport(e), newMemoryDelete(e), newMemoryCheck(e), newMemoryRepair(e))
	return byItself(cmd, list)
}

// memoryFlags say whose memory.
type memoryFlags struct {
	state    string
	database string
	agent    string
	asJSON   bool
}

func (f *memoryFlags) register(c *cobra.Command) {
	c.Flags().StringVar(&f.state, "state", "", "`DIR` for what plugins keep (default: the platform's state folder)")
	c.Flags().BoolVar(&f.asJSON, "json", false, "print JSON")
}

// registerDatabase is register for commands that reach the database of a server too.
func (f *memoryFlags) registerDatabase(c *cobra.Command) {
	f.register(c)
	c.Flags().StringVar(&f.database, "database", "", "`ADDRESS` of a PostgreSQL, where serve --database keeps it there")
}

func (f *memoryFlags) registerAgent(c *cobra.Command) {
	f.registerDatabase(c)
	c.Flags().StringVar(&f.agent, "agent", "", "what it keeps for the agent of this `PATH`, as compact --agent had "+
		"it, such as main/reviewer (default: the main one)")
}

// dir is the folder of the state.
func (f *memoryFlags) dir(e env) (string, error) {
	switch dir := cmp.Or(f.state, e.stateHome); dir {
	case state.InMemory:
		return "", ui.Usagef("--state %s keeps nothing: give the folder of a state", state.InMemory)
	case "":
		return "", state.NoHome()
	default:
		return dir, nil
	}
}

// read opens what is kept to look at it, and makes nothing. Where nothing is
// there the error is fs.ErrNotExist. Close the storage.
func (f *memoryFlags) read(ctx context.Context, e env) (state.Memory, error) {
	if f.database != "" {
		return state.OpenTables(ctx, f.database)
	}
	dir, err := f.dir(e)
	if err != nil {
		return nil, err
	}
	return state.LookAtMemory(ctx, dir)
}

// open opens what is kept to change it, and makes it where it is not there.
func (f *memoryFlags) open(ctx context.Context, e env) (state.Memory, error) {
	if f.database != "" {
		return state.OpenTables(ctx, f.database)
	}
	dir, err := f.dir(e)
	if err != nil {
		return nil, err
	}
	return state.OpenMemory(dir, e.stateHome, e.say)
}

// namespace resolves the argument PLUGIN: the name of a plugin, or a namespace as
// list shows it.
func (f *memoryFlags) namespace(plugin string) (string, error) {
	ns := plugin
	if f.agent != "" && !strings.Contains(plugin, "@") {
		ns = abi.AgentNamespace(plugin, f.agent)
	}
	switch {
	case !abi.ValidNamespace(ns) || strings.HasPrefix(ns, "_"):
		return "", ui.Usagef("%s: no name of a plugin: give one, or a namespace as kagewasm memory list shows it", plugin)
	case f.agent != "" && ns == plugin:
		return "", ui.Usagef("--agent %s: %s names an agent already", f.agent, plugin)
	}
	return ns, nil
}

// showCopy says what a copy did.
func (f *memoryFlags) showCopy(e env, done string, r *folder.Report) error {
	return show(e, f.asJSON, r, func(p ui.Printer, r *folder.Report) { ui.Copied(p, done, r) })
}
