package main

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"slices"

	"github.com/spf13/cobra"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/cmd/kagewasm/internal/trust"
	"github.com/kagewasm/kagewasm/cmd/kagewasm/internal/ui"
	"github.com/kagewasm/kagewasm/config"
)

func newConfig(e env) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "config",
		Short: "Check and explain the configuration",
	}
	return group(cmd, newConfigCheck(e), newConfigExplain(e), newConfigSchema(e), newConfigTrust(e))
}

// configFlag is the flag of every command that reads a configuration.
type configFlag struct {
	path string
	off  bool
	// trial is set where nothing is to be written: a dry run, a plugin that is tried out.
	trial bool
}

func (f *configFlag) register(c *cobra.Command) {
	c.Flags().StringVar(&f.path, "config", "",
		"configuration `FILE` (default: "+config.FileName+" here or in a folder above)")
}

// registerUsed is for commands that do what it says.
func (f *configFlag) registerUsed(c *cobra.Command) {
	f.register(c)
	c.Flags().BoolVar(&f.off, "no-config", false, "read no configuration, as if there were none")
}

// find is the file that was named, or the nearest one.
func (f *configFlag) find() (string, error) {
	if f.path != "" {
		return f.path, nil
	}
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	return config.Find(dir)
}

// load reads the configuration, and writes nothing: it may not be trusted.
func (f *configFlag) load() (*config.Config, error) {
	path, err := f.find()
	if err != nil {
		return nil, err
	}
	return config.Load(path)
}

// manifestOf is the manifest of a plugin's module, nil where it cannot be read.
func (e env) manifestOf(p config.Plugin) *abi.Manifest {
	m, err := e.named().Open(p.Path)
	if err != nil {
		return nil
	}
	return m.Manifest()
}

// opens is an error where the module of a plugin cannot be read: what runs with the configuration goes on without it.
func (e env) opens(c *config.Config) error {
	for _, name := range slices.Sorted(maps.Keys(c.Plugins)) {
		if _, err := e.named().Open(c.Plugins[name].Path); err != nil {
			return fmt.Errorf("%s: plugin %s: %w", c.File, name, err)
		}
	}
	return nil
}

func newConfigCheck(e env) *cobra.Command {
	f := &configFlag{}
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "check [FILE]",
		Short: "Say what is wrong with a configuration, and where",
		Args:  oneArgOrNone("FILE"),
		RunE: func(_ *cobra.Command, args []string) error {
			f.path = argOr(args, f.path)
			c, err := f.load()
			if err == nil {
				err = c.CheckManifests(e.manifestOf)
			}
			if err == nil {
				err = e.opens(c)
			}
			if asJSON {
				return printCheck(e, c, err)
			}
			if err != nil {
				return err
			}
			e.out().Linef("%s: all is well (models %d, plugins %d, agents %d)", c.File, len(c.Models), len(c.Plugins),
				len(c.Agents())-1)
			borrows(e, c)
			if widens(e, c); f.path == "" && len(c.Widens()) > 0 {
				if err := (trust.List{Dir: e.stateHome}).Check(c); err != nil {
					e.out().Linef("  it is not used until kagewasm config trust: %s", abi.AsError(err).Message)
				} else {
					e.out().Linef("  it is used as it is: nothing says that it is somebody else's, or it was trusted")
				}
			}
			return nil
		},
	}
	f.register(cmd)
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

// borrows prints which agents write summaries with the model of another one, as they name none.
func borrows(e env, c *config.Config) {
	all := c.Agents()
	for _, path := range all {
		if path == "" && slices.Contains(all, "main") {
			continue // which is the same one
		}
		if w := c.Agent(path).Writer; w.Agent != path && w.Model == "" {
			e.out().Linef("  agent %s names no model: it writes the summaries of %s with that one's own", w.Agent,
				cmp.Or(path, "the main agent"))
		}
	}
}

// widens prints the settings that need "kagewasm config trust".
func widens(e env, c *config.Config) {
	for _, setting := range c.Widens() {
		e.out().Linef("  takes trust: %s", setting)
	}
}

// printCheck prints what is wrong as data; the exit code says it as well.
func printCheck(e env, c *config.Config, err error) error {
	out := struct {
		File     string          `json:"file,omitempty"`
		OK       bool            `json:"ok"`
		Problems config.Problems `json:"problems"`
		Widens   []string        `json:"widens,omitempty"`
	}{OK: err == nil, Problems: config.ProblemsOf(err)}
	if c != nil {
		out.File, out.Widens = c.File, c.Widens()
	}
	if perr := ui.JSON(e.stdout, out); perr != nil {
		return perr
	}
	return err
}

func newConfigExplain(e env) *cobra.Command {
	f := &configFlag{}
	var asJSON bool
	var agent string
	var sets []string
	cmd := &cobra.Command{
		Use:   "explain [AGENT]",
		Short: "Show what holds for an agent, and where each value comes from",
		Long: `Show every setting of an agent as it holds: from the file with line and column,
inherited from an agent above it, from a profile, from a flag, or by default.
AGENT is its path, such as main/reviewer; without one it is the main agent. Where
there is no file it is what holds then.`,
		Example: `  kagewasm config explain main/reviewer
  kagewasm config explain --set compaction.upper_threshold=0.7 --json`,
		Args: oneArgOrNone("AGENT"),
		RunE: func(_ *cobra.Command, args []string) error {
			if len(args) > 0 && agent != "" {
				return ui.Usagef("config explain: give AGENT or --agent, not both")
			}
			path, err := f.find()
			none := argOr(args, agent) == "" && errors.Is(err, fs.ErrNotExist)
			var c *config.Config
			switch {
			case none:
				c, err = config.None(".")
			case err == nil:
				c, err = config.Load(path)
			}
			if err != nil {
				return err
			}
			x, err := c.Explain(argOr(args, agent), sets...)
			if err != nil {
				return err
			}
			if none {
				x.File = ""
			}
			return show(e, asJSON, x, ui.Explanation)
		},
	}
	f.register(cmd)
	cmd.Flags().StringArrayVar(&sets, "set", nil, "put a setting on top of the file for this time: `FIELD=VALUE`")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	cmd.Flags().StringVar(&agent, "agent", "", "the same as AGENT: the `PATH` of an agent, as other commands have it")
	completeParts(cmd, "set", f.settings)
	cmd.ValidArgsFunction = completeFirst(f.agents)
	return cmd
}

func newConfigSchema(e env) *cobra.Command {
	return &cobra.Command{
		Use:   "schema",
		Short: "Print the JSON Schema of " + config.FileName + ", for editors",
		Args:  exactArgs(),
		RunE: func(*cobra.Command, []string) error {
			_, err := e.stdout.Write(config.Schema())
			return err
		},
	}
}

func newConfigTrust(e env) *cobra.Command {
	return &cobra.Command{
		Use:   "trust [FILE]",
		Short: "Let a configuration that is found here use the models and plugins it names",
		Long: `A configuration may come with somebody's repository or archive, and says where
sessions and keys are sent, which plugins run and what is protected. One that may
be somebody else's, and is found, not named with --config, is used as it is only
where it does no more than narrow what happens: compact earlier, keep more, take
out more secrets. Any other is used after you have looked at it and trusted it: as
it is, so a change of the file or of a prompt that it names is asked about again.
The modules themselves are held by the digest that stands with a plugin, where one
does. kagewasm config check says which settings take trust.`,
		Args: oneArgOrNone("FILE"),
		RunE: func(cmd *cobra.Command, args []string) error {
			f := configFlag{path: argOr(args, "")}
			c, err := f.load()
			if err != nil {
				return err
			}
			if err := (trust.List{Dir: e.stateHome}).Add(cmd.Context(), c); err != nil {
				return err
			}
			e.out().Linef("trusted %s", c.File)
			widens(e, c)
			return nil
		},
	}
}
