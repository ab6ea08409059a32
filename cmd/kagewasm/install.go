package main

import (
	"cmp"
	"context"
	"errors"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/cmd/kagewasm/internal/daemon"
	"github.com/kagewasm/kagewasm/cmd/kagewasm/internal/files"
	"github.com/kagewasm/kagewasm/cmd/kagewasm/internal/named"
	"github.com/kagewasm/kagewasm/cmd/kagewasm/internal/plug"
	"github.com/kagewasm/kagewasm/cmd/kagewasm/internal/state"
	"github.com/kagewasm/kagewasm/cmd/kagewasm/internal/ui"
	"github.com/kagewasm/kagewasm/internal/lists"
)

// plugFlags are the flags of the commands that plug kagewasm into agents.
type plugFlags struct {
	state   string
	plugins []string
	bare    bool // no plugins, not those that were chosen before either
	listen  string
	shrink  int
	dryRun  bool
	yes     bool
	asJSON  bool
}

func (f *plugFlags) registerState(c *cobra.Command) {
	c.Flags().StringVar(&f.state, "state", "", "`DIR` where sessions, and what was installed, are kept (default: the "+
		"platform's state folder)")
	c.Flags().BoolVar(&f.asJSON, "json", false, "print JSON")
	c.ValidArgs = agentNames()
}

func (f *plugFlags) register(c *cobra.Command) {
	f.registerState(c)
	fs := c.Flags()
	fs.BoolVar(&f.dryRun, "dry-run", false, "show what would change, and change nothing")
	fs.BoolVarP(&f.yes, "yes", "y", false, "replace without asking what else compacts for the agent")
}

func agentNames() []string {
	return lists.Map(plug.Agents(), func(a plug.Agent) string { return a.Name })
}

func newInstall(e env) *cobra.Command {
	f := &plugFlags{shrink: -1}
	cmd := &cobra.Command{
		Use:   "install AGENT",
		Short: "Let an agent compact its conversations through kagewasm",
		Long: `Write what the agent's own conventions want, so that it hands its compactions to
kagewasm: ` + strings.Join(agentNames(), ", ") + `. What is written is shown, and kept
track of: kagewasm uninstall gives every file back as it was. To repeat it is safe.

Where kagewasm fails, the agent goes on as if it was not there, and kagewasm doctor
says why. Codex has no place for it but before its provider: where nothing keeps the
proxy answering there, nothing is installed. How it compacts is set in a file of its own below the state folder,
whatever configuration a repository brings.`,
		Example: `  kagewasm install claude-code --dry-run
  kagewasm install claude-code --plugin markdown`,
		Args: exactArgs("AGENT"),
		RunE: func(c *cobra.Command, args []string) error { return f.install(c.Context(), e, args[0]) },
	}
	f.register(cmd)
	cmd.Flags().StringVar(&f.listen, "listen", "", "`HOST:PORT` at which the agent finds the proxy, where it needs one: "+
		"codex (default "+plug.CodexAddress+")")
	cmd.Flags().IntVar(&f.shrink, "shrink-results-over", -1, "leave out the middle of tool results of more than `N` "+
		"characters before the model ever sees them, in opencode; 0 never (default: as before, at first 0)")
	cmd.Flags().BoolVar(&f.bare, "no-plugins", false, "leave out the plugins that an earlier installation has chosen")
	e.pluginFlag(cmd, &f.plugins, "let a plugin, `X.wasm` or its name, take part in its compactions (default: as before)")
	return cmd
}

func newUninstall(e env) *cobra.Command {
	f := &plugFlags{shrink: -1}
	cmd := &cobra.Command{
		Use:   "uninstall AGENT",
		Short: "Take kagewasm out of an agent again",
		Long: `Give every file that kagewasm install touched back as it was, byte for byte. Of files
that were changed since only the part of kagewasm goes. Sessions stay in the store.`,
		Args: exactArgs("AGENT"),
		RunE: func(c *cobra.Command, args []string) error { return f.uninstall(c.Context(), e, args[0]) },
	}
	f.register(cmd)
	return cmd
}

// agentNamed finds an agent by its name.
func agentNamed(name string) (plug.Agent, error) {
	for _, a := range plug.Agents() {
		if a.Name == name {
			return a, nil
		}
	}
	return plug.Agent{}, ui.Usagef("agent %q: known are %s", name, strings.Join(agentNames(), ", "))
}

// plugged is an agent, what is installed in it, and what is to be.
type plugged struct {
	agent  plug.Agent
	gone   []string // plugins that were chosen before, and are not there any more
	setup  plug.Setup
	plan   plug.Plan
	record *plug.Record
}

// open finds out what is installed in an agent, and what its files are to be.
func (f *plugFlags) open(ctx context.Context, e env, name string) (p plugged, err error) {
	if p.agent, err = agentNamed(name); err != nil {
		return p, err
	}
	if f.state == state.InMemory {
		return p, ui.Usagef("--state %s keeps nothing: give a folder", f.state)
	}
	folder := filepath.Join(cmp.Or(f.state, e.stateHome), agentsFolder)
	if folder == agentsFolder {
		return p, state.NoHome()
	}
	if p.record, err = plug.Open(folder, name); err != nil {
		return p, err
	}
	if folder, err = filepath.Abs(folder); err != nil {
		return p, err
	}
	policy := plug.File{Path: filepath.Join(folder, name+".yaml"), Data: plug.Policy(p.agent), Settings: true}
	refs := f.plugins
	if len(refs) == 0 && !f.bare {
		refs, p.gone = keptPlugins(e, p.record.Calls)
	}
	if p.setup, err = f.setup(ctx, e, p.agent, folder, policy.Path, refs); err != nil {
		return p, err
	}
	p.setup.Listen = cmp.Or(f.listen, p.record.Calls.Listen)
	if p.setup.Listen != "" {
		if host, _, err := net.SplitHostPort(p.setup.Listen); err != nil || !loopback(host) {
			return p, ui.Usagef("--listen %s: give an address that only this machine reaches, such as %s", p.setup.Listen,
				plug.CodexAddress)
		}
	}
	if p.setup.Shrink = p.record.Calls.Shrink; f.shrink >= 0 {
		p.setup.Shrink = f.shrink
	}
	p.plan, err = p.agent.Plan(p.setup)
	p.plan.Files = append(p.plan.Files, policy)
	return p, err
}

// agentsFolder is where a state keeps what is installed in agents.
const agentsFolder = "agents"

func (f *plugFlags) setup(
	ctx context.Context, e env, a plug.Agent, folder, policy string, plugins []string,
) (s plug.Setup, err error) {
	if s.Home, err = os.UserHomeDir(); err != nil {
		return s, err
	}
	s.Folder, s.Getenv, s.Version = folder, os.Getenv, plug.Version(ctx, a.Program)
	if s.Kagewasm, err = ownPath(); err != nil {
		return s, err
	}
	dir, err := filepath.Abs(cmp.Or(f.state, e.stateHome))
	if err != nil {
		return s, err
	}
	if f.state != "" {
		s.State = []string{"--state", dir}
	}
	s.Socket, s.Calls.Version = daemon.Socket(dir), readVersion().build()
	s.Policy = []string{"--config", policy}
	compactor := ""
	for _, ref := range plugins {
		module, err := e.named().Open(ref)
		if err == nil && !named.Is(ref) {
			ref, err = filepath.Abs(ref)
		}
		if err != nil {
			return s, ui.Usagef("--plugin %s: %w", ref, err)
		}
		s.Policy = append(s.Policy, "--plugin", ref)
		switch compacts := module.Manifest().Has(abi.RoleCompactor); {
		case compacts && compactor != "":
			return s, ui.Usagef("--plugin %s: %s is a compactor already, and an agent has one: give one of the two, and name "+
				"the other in %s with the roles [observer]", ref, compactor, policy)
		case compacts:
			compactor = ref
		}
	}
	return s, nil
}

// pluginsOf are the plugins that take part in compactions.
func pluginsOf(c plug.Calls) (refs []string) {
	for i, flag := range c.Policy {
		if flag == "--plugin" && i+1 < len(c.Policy) {
			refs = append(refs, c.Policy[i+1])
		}
	}
	return refs
}

// keptPlugins are the plugins that an earlier installation has chosen, and those of them that are not there any more.
func keptPlugins(e env, c plug.Calls) (refs, gone []string) {
	for _, ref := range pluginsOf(c) {
		if _, err := e.named().Open(ref); err != nil {
			gone = append(gone, ref)
			continue
		}
		refs = append(refs, ref)
	}
	return refs, gone
}

// ownPath is the path of this command: the one that a person calls it by, which an upgrade leaves where it is.
func ownPath() (string, error) {
	self, err := os.Executable()
	if err != nil {
		return "", err
	}
	found, err := exec.LookPath("kagewasm")
	if err != nil {
		return self, nil
	}
	a, aerr := os.Stat(self)
	b, berr := os.Stat(found)
	if aerr == nil && berr == nil && os.SameFile(a, b) {
		return filepath.Abs(found)
	}
	return self, nil
}

func (f *plugFlags) install(ctx context.Context, e env, name string) error {
	p, err := f.open(ctx, e, name)
	if err != nil {
		return err
	}
	steps, err := p.record.Steps(p.plan)
	if err != nil {
		return err
	}
	v := &ui.Installed{Agent: name, Title: p.agent.Title, Program: p.agent.Program, Version: p.setup.Version,
		Steps: shownSteps(steps), Rivals: append([]string{}, p.plan.Rivals...), Plugins: pluginsOf(p.setup.Calls),
		Gone: p.gone, Adds: p.plan.Adds, Next: p.plan.Next, DryRun: f.dryRun}
	blocked := plug.Blocked(steps)
	if f.dryRun {
		refused := f.wouldRefuse(ctx, e, p, blocked)
		if refused != nil {
			v.Refused = refused.Error()
		}
		return errors.Join(show(e, f.asJSON, v, ui.Install), refused)
	}
	if blocked != nil {
		return blocked
	}
	if err := f.mayReplace(e, p); err != nil {
		return err
	}
	st, err := state.Open(f.state, e.stateHome, e.say) // a folder that is not sealed is not ours
	if err != nil {
		return err
	}
	defer st.Close()
	fresh := !p.record.Installed()
	if p.plan.Keeps != "" {
		v.Next = p.plan.Trust
		if err := f.keeps(ctx, p, steps); err != nil {
			return err
		}
		steps, err = p.record.Steps(p.plan)
	}
	if err == nil {
		err = p.record.Install(p.plan, steps, readVersion().Version, p.setup)
	}
	if err != nil && fresh {
		return errors.Join(err, p.undo())
	}
	if err != nil {
		return err
	}
	return show(e, f.asJSON, v, ui.Install)
}

// undo takes out what a first installation has done that failed on the way, its service too.
func (p *plugged) undo() error {
	if p.plan.Keeps != "" {
		plug.Run(p.plan.Stop)
	}
	back, err := p.record.Undo(p.plan)
	if err != nil {
		return err
	}
	return p.record.Uninstall(back)
}

// wouldRefuse is the error of an installation that is only shown, as far as can be known without changing anything.
func (f *plugFlags) wouldRefuse(ctx context.Context, e env, p plugged, blocked error) error {
	if blocked != nil {
		return blocked
	}
	if len(p.plan.Rivals) > 0 && !f.yes && !p.record.Installed() && !e.terminal {
		return refusedFor(p)
	}
	if p.plan.Keeps == "" {
		return nil
	}
	if _, err := plug.Answers(ctx, p.plan.Keeps, false); err != nil && !plug.Manages() {
		p.plan.Next = "kagewasm install " + p.agent.Name + " says what to keep running"
		return unkept(p, err, "")
	}
	return nil
}

// unkept is the error where nothing keeps the proxy running that an agent needs.
func unkept(p plugged, err error, says string) error {
	return ui.Usagef("install %s: %w, and %s would have no provider: %s%s, and install again", p.agent.Name, err,
		p.agent.Title, says, p.plan.Next)
}

// keeps sees to it that a proxy answers where an agent is to find its provider. An agent whose provider does not answer
// is of no use, so where none does nothing stays installed.
func (f *plugFlags) keeps(ctx context.Context, p plugged, steps []plug.Step) error {
	fresh, service := !p.record.Installed(), p.plan
	service.Edits = nil
	var first []plug.Step // what is started is what is written
	for _, s := range steps {
		if slices.ContainsFunc(service.Files, func(f plug.File) bool { return f.Path == s.Path }) {
			first = append(first, s)
		}
	}
	err := p.record.Install(service, first, readVersion().Version, p.setup)
	if err != nil && fresh {
		return errors.Join(err, p.undo())
	}
	if err != nil {
		return err
	}
	started := plug.Run(p.plan.Start)
	if _, err := plug.Answers(ctx, p.plan.Keeps, started); err != nil {
		if !fresh {
			return unkept(p, err, p.agent.Title+"'s settings are as before; ")
		}
		rerr := p.undo()
		if rerr == nil {
			rerr = leaveSettings(service)
		}
		err = errors.Join(err, rerr)
		return unkept(p, err, "nothing of "+p.agent.Title+"'s was changed; ")
	}
	return nil
}

// leaveSettings writes the settings, which lie in our own folder, that a command names which a person is told to run.
func leaveSettings(p plug.Plan) error {
	for _, file := range p.Files {
		if _, err := os.Stat(file.Path); !file.Settings || err == nil {
			continue
		}
		if err := os.MkdirAll(filepath.Dir(file.Path), 0o700); err != nil {
			return err
		}
		if err := files.WritePrivate(file.Path, file.Data); err != nil {
			return err
		}
	}
	return nil
}

// refusedFor is the error where what compacts already is not replaced unasked.
func refusedFor(p plugged) error {
	return ui.Usagef("install %s: %s compacts for it already, and nothing was changed: --yes replaces it", p.agent.Name,
		strings.Join(p.plan.Rivals, ", "))
}

// mayReplace asks whether what else compacts for the agent may be replaced.
func (f *plugFlags) mayReplace(e env, p plugged) error {
	if len(p.plan.Rivals) == 0 || f.yes || p.record.Installed() {
		return nil
	}
	rivals := strings.Join(p.plan.Rivals, ", ")
	if e.terminal && !f.asJSON && e.agreed("%s compacts for %s already. Replace it?", rivals, p.agent.Title) {
		return nil
	}
	return refusedFor(p)
}

func (f *plugFlags) uninstall(ctx context.Context, e env, name string) error {
	p, err := f.open(ctx, e, name)
	if err != nil {
		return err
	}
	steps, err := p.record.Removal(p.plan)
	if err == nil {
		err = plug.Blocked(steps)
	}
	if err != nil {
		return err
	}
	v := &ui.Installed{Agent: name, Title: p.agent.Title, Program: p.agent.Program, Version: p.setup.Version,
		Steps: shownSteps(steps), Rivals: []string{}, DryRun: f.dryRun,
		Unrecorded: p.record.Found(p.plan, steps)}
	if !f.dryRun {
		if len(steps) > 0 {
			plug.Run(p.plan.Stop) // it may not run
		}
		keepHookFailure(cmp.Or(f.state, e.stateHome), name, nil)
		err = p.record.Uninstall(steps)
	}
	if err != nil {
		return err
	}
	if dir := cmp.Or(f.state, e.stateHome); !f.dryRun && len(steps) > 0 {
		v.State, v.Server, v.Left = dir, state.Taken(dir), plug.Left(steps)
	}
	return show(e, f.asJSON, v, ui.Uninstall)
}

// shownSteps are steps as they are printed.
func shownSteps(steps []plug.Step) []ui.FileStep {
	shown := make([]ui.FileStep, 0, len(steps))
	for _, s := range steps {
		one := ui.FileStep{Path: s.Path, Aside: s.Aside, Kept: s.Kept}
		switch {
		case !s.Changes():
			one.Does = "unchanged"
		case s.Was == nil:
			one.Does = "new"
		case s.Will == nil:
			one.Does = "removed"
		default:
			one.Does = "changed"
		}
		if s.Changes() {
			one.Diff = s.Diff()
		}
		shown = append(shown, one)
	}
	return shown
}
