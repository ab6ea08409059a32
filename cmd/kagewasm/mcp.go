package main

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/kagewasm/kagewasm/cmd/kagewasm/internal/state"
	"github.com/kagewasm/kagewasm/cmd/kagewasm/internal/toolserver"
	"github.com/kagewasm/kagewasm/cmd/kagewasm/internal/ui"
	"github.com/kagewasm/kagewasm/internal/lists"
	"github.com/kagewasm/kagewasm/store"
)

// mcpFlags are the flags of mcp. Of those of compact it has the ones about settings and plugins.
type mcpFlags struct {
	compactFlags
	only     string // session
	tokens   int
	readOnly bool
	tools    []string
}

func newMCP(e env) *cobra.Command {
	f := &mcpFlags{}
	cmd := &cobra.Command{
		Use:   "mcp",
		Short: "Give an agent the tools recall, lost, status and compact over stored sessions, by MCP",
		Long: `Speak the Model Context Protocol on standard input and output, for an agent that
starts this as one of its servers. Its tools work on the sessions in the state
folder: recall searches what compactions took away or shows a message, lost lists
what went, status what is stored and what waits for a person, and compact compacts
a stored session or a session file, below the threshold too. Where no session is
named it is the latest of the folder that the agent works in, and each answer says
which one that is.

The agent can read all sessions of the state folder: --session holds it to one,
--tools to some of the tools, and --read-only leaves compact out. It cannot undo,
approve or delete anything. What comes out of a session is marked as data. compact
goes by the configuration of the working directory, as kagewasm compact --force
does. What was asked before the input ends is answered.`,
		Example: `  kagewasm mcp
  kagewasm mcp --session s-0123456789ab --read-only
  kagewasm mcp --tools status,compact`,
		Args: exactArgs(),
		RunE: func(c *cobra.Command, _ []string) error {
			f.given = c.Flags().Changed
			return f.serve(c.Context(), e)
		},
	}
	fs := cmd.Flags()
	fs.StringVar(&f.only, "session", "", "`ID` of the only session that the agent may read and compact (default: all)")
	fs.IntVar(&f.tokens, "tokens", 2000, "`TOKENS` that an answer may cost, from 200")
	fs.StringSliceVar(&f.tools, "tools", nil, "`TOOLS` that the agent is given, with commas between: "+
		strings.Join(toolserver.Tools(), ", ")+" (default: all)")
	fs.BoolVar(&f.readOnly, "read-only", false, "leave out the tool compact")
	fs.IntVar(&f.window, "window", 0, "context window in `TOKENS` (default: the configuration's, else the model's)")
	fs.IntVar(&f.keep, "keep", 1000, "`MEGABYTES` of sessions that the state folder holds at most, as with compact")
	registerSettings(&f.compactFlags, e, cmd)
	complete(cmd, "tools", toolserver.Tools()...)
	return cmd
}

// serve answers until the agent closes the connection.
func (f *mcpFlags) serve(ctx context.Context, e env) error {
	opts, err := f.server(e)
	if err != nil {
		return err
	}
	if e.screen {
		e.say("speaking MCP on standard input: agents start this command by themselves, see kagewasm mcp --help")
	}
	err = toolserver.New(opts).Run(ctx, toolserver.Over(e.stdin, e.stdout))
	if errors.Is(err, io.EOF) {
		return nil // as agents end their servers
	}
	return err
}

// server are the options of the server.
func (f *mcpFlags) server(e env) (opts toolserver.Options, err error) {
	f.tools = lists.Map(f.tools, strings.TrimSpace)
	switch {
	case f.tokens < 200:
		return opts, ui.Usagef("--tokens %d: an answer needs 200", f.tokens)
	case f.given("window") && f.window <= 0:
		return opts, ui.Usagef("--window %d: give the context window in tokens", f.window)
	case f.given("tools") && len(f.tools) == 0:
		return opts, ui.Usagef("--tools: name at least one of %s", strings.Join(toolserver.Tools(), ", "))
	case f.readOnly && slices.Contains(f.tools, "compact"):
		return opts, ui.Usagef("--tools compact: --read-only leaves that out")
	case f.keep < 0:
		return opts, ui.Usagef("--keep %d: give the megabytes that stored sessions may take", f.keep)
	case f.state == state.InMemory:
		return opts, ui.Usagef("--state %s keeps nothing: give the folder of a state", f.state)
	}
	for _, tool := range f.tools {
		if !slices.Contains(toolserver.Tools(), tool) {
			return opts, ui.Usagef("--tools %s: there are %s", tool, strings.Join(toolserver.Tools(), ", "))
		}
	}
	opts = toolserver.Options{Version: readVersion().Version, Session: f.only, Tokens: f.tokens, Tools: f.tools,
		Open: func(ctx context.Context) (*store.Store, error) {
			return state.ReadSessions(ctx, f.state, e.stateHome, e.say)
		}}
	if opts.Dir, err = os.Getwd(); err != nil {
		return opts, err
	}
	if resolved, err := filepath.EvalSymlinks(opts.Dir); err == nil {
		opts.Dir = resolved
	}
	if !f.readOnly {
		c := mcpCompactions{f, e}
		opts.Stored, opts.File = c.stored, c.file
	}
	return opts, nil
}
