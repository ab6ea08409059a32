package main

import (
	"bytes"
	"fmt"
	"os"

	json "github.com/goccy/go-json"
	"github.com/spf13/cobra"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/config"
)

func newConfig(e env) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "config",
		Short: "Check and explain the configuration",
		Args:  cobra.ArbitraryArgs,
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) > 0 {
				return usagef("config: unknown command %q: use check, explain, schema or trust", args[0])
			}
			return c.Help()
		},
	}
	cmd.AddCommand(newConfigCheck(e), newConfigExplain(e), newConfigSchema(e), newConfigTrust(e))
	return cmd
}

// configFlag is the flag of every command that reads a configuration.
type configFlag struct {
	path string
	off  bool
}

func (f *configFlag) register(c *cobra.Command) {
	c.Flags().StringVar(&f.path, "config", "", "configuration `FILE` (default: "+config.FileName+" here or in a folder above)")
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
	return config.Load(path, config.Options{ReadOnly: true})
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
			if asJSON {
				return printCheck(e, c, err)
			}
			if err != nil {
				return err
			}
			p := printer{w: e.stdout}
			p.linef("%s: all is well (models %d, plugins %d, agents %d)", c.File, len(c.Models), len(c.Plugins), len(c.Agents())-1)
			return nil
		},
	}
	f.register(cmd)
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

// printCheck prints what is wrong as data; the exit code says it as well.
func printCheck(e env, c *config.Config, err error) error {
	out := struct {
		File     string          `json:"file,omitempty"`
		OK       bool            `json:"ok"`
		Problems config.Problems `json:"problems"`
	}{OK: err == nil, Problems: config.ProblemsOf(err)}
	if c != nil {
		out.File = c.File
	}
	if perr := printJSON(e.stdout, out); perr != nil {
		return perr
	}
	return err
}

func newConfigExplain(e env) *cobra.Command {
	f := &configFlag{}
	var asJSON bool
	var sets []string
	cmd := &cobra.Command{
		Use:   "explain [AGENT]",
		Short: "Show what holds for an agent, and where each value comes from",
		Long: `Show every setting of an agent as it holds: from the file with line and column,
inherited from an agent above it, from a profile, from a flag, or by default.
AGENT is its path, such as main/reviewer; without one it is the main agent.`,
		Example: `  kagewasm config explain main/reviewer
  kagewasm config explain --set compaction.upper_threshold=0.7 --json`,
		Args: oneArgOrNone("AGENT"),
		RunE: func(_ *cobra.Command, args []string) error {
			c, err := f.load()
			if err != nil {
				return err
			}
			x, err := explainWith(c, argOr(args, ""), sets)
			if err != nil {
				return err
			}
			if asJSON {
				return printJSON(e.stdout, x)
			}
			var text bytes.Buffer
			showExplanation(printer{w: &text}, x)
			_, err = e.stdout.Write(text.Bytes())
			return err
		},
	}
	f.register(cmd)
	cmd.Flags().StringArrayVar(&sets, "set", nil, "put a setting on top of the file for this time: `FIELD=VALUE`")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	cmd.ValidArgsFunction = func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		c, err := f.load()
		if err != nil {
			return nil, cobra.ShellCompDirectiveError
		}
		return c.Agents(), cobra.ShellCompDirectiveNoFileComp
	}
	return cmd
}

func explainWith(c *config.Config, agent string, flags []string) (config.Explanation, error) {
	var sets []config.Set
	for _, s := range flags {
		set, err := config.ParseSet(s, "--set")
		if err != nil {
			return config.Explanation{}, err
		}
		sets = append(sets, set)
	}
	return c.Explain(agent, sets...)
}

func showExplanation(p printer, x config.Explanation) {
	p.linef("%s", heading(x))
	p.linef("  summaries: %s", writerLine(x.Writer))
	if len(x.Plugins) > 0 {
		p.linef("  plugins: %s", joined(x.Plugins))
	}
	p.linef("")
	rows := make([][2]string, len(x.Settings))
	var wide [2]int
	for i, s := range x.Settings {
		rows[i] = [2]string{s.Name, valueText(s.Value)}
		wide[0], wide[1] = max(wide[0], len(s.Name)), max(wide[1], min(len(rows[i][1]), 40))
	}
	for i, s := range x.Settings {
		p.linef("%-*s  %-*s  %s", wide[0], rows[i][0], wide[1], rows[i][1], s.Source)
	}
}

func heading(x config.Explanation) string {
	name := "the main agent"
	if x.Agent != "" {
		name = "agent " + abi.Defuse(x.Agent)
	}
	switch {
	case x.Known == x.Agent:
	case x.Known == "":
		name += " (not in the file: as its top says)"
	default:
		name += " (as " + x.Known + ")"
	}
	return name + ", by " + x.File
}

func writerLine(w config.Writer) string {
	model := "its own model"
	if w.Model != "" {
		model = "model " + w.Model
	}
	line := fmt.Sprintf("%s with %s", model, w.Prompt)
	switch {
	case w.PruneOnly:
		return "none: this agent's sessions are only pruned"
	case w.By == config.ByAgent:
		return fmt.Sprintf("by agent %s, %s", w.Agent, line)
	case w.By == config.ByDefaultAgent:
		return fmt.Sprintf("by the default agent %s, %s", w.Agent, line)
	}
	return line
}

// valueText is a value for a person; "-" is none.
func valueText(v any) string {
	switch v := v.(type) {
	case nil:
		return "-"
	case string:
		return abi.Defuse(v)
	}
	b, err := json.MarshalWithOption(v, json.DisableHTMLEscape())
	if err != nil {
		return fmt.Sprint(v)
	}
	return abi.Defuse(string(b))
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
