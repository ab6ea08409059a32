package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/cmd/kagewasm/internal/daemon"
	"github.com/kagewasm/kagewasm/cmd/kagewasm/internal/plug"
	"github.com/kagewasm/kagewasm/cmd/kagewasm/internal/state"
	"github.com/kagewasm/kagewasm/cmd/kagewasm/internal/ui"
	"github.com/kagewasm/kagewasm/internal/lists"
)

func newDoctor(e env) *cobra.Command {
	f := &plugFlags{shrink: -1}
	cmd := &cobra.Command{
		Use:   "doctor [AGENT]",
		Short: "Try out the plugs that are installed in agents, and say how to fix what does not work",
		Long: `Look at what kagewasm install wrote for an agent, or for each agent it is installed in:
the program, the files of the plug, the command that they call, and a compaction of a
small session through them. What does not work is told with the one command that fixes
it. It exits with 1 where there is anything to fix.`,
		Args: oneArgOrNone("AGENT"),
		RunE: func(c *cobra.Command, args []string) error {
			names := args
			if len(names) == 0 {
				names = agentNames()
			}
			v := &ui.Diagnosis{Agents: []ui.Patient{}, Server: otherServer(c.Context(), cmp.Or(f.state, e.stateHome))}
			for _, name := range names {
				p, err := f.open(c.Context(), e, name)
				if err != nil {
					return err
				}
				if len(args) > 0 || p.record.Installed() || unrecorded(p) != "" {
					v.Agents = append(v.Agents, f.examine(c.Context(), e, p))
				}
			}
			v.Background = state.Background(cmp.Or(f.state, e.stateHome))
			if err := show(e, f.asJSON, v, ui.Doctor); err != nil {
				return err
			}
			if v.Sick() > 0 {
				return fmt.Errorf("doctor: %s to fix", ui.Plural(v.Sick(), "thing"))
			}
			return nil
		},
	}
	f.registerState(cmd)
	return cmd
}

// examine looks at one agent, from the plug to what it calls. What stands on something broken is not looked at.
func (f *plugFlags) examine(ctx context.Context, e env, p plugged) ui.Patient {
	one := ui.Patient{Agent: p.agent.Name, Title: p.agent.Title, Findings: []ui.Finding{}}
	again := f.again(e, p)
	look := func(what, why, fix string) bool {
		one.Findings = append(one.Findings, ui.Finding{What: what, OK: fix == "", Why: why, Fix: fix})
		return fix == ""
	}
	switch {
	case !p.record.Installed() && unrecorded(p) != "":
		look("plug", unrecorded(p), p.correct(again))
		return one
	case !p.record.Installed():
		look("plug", "kagewasm is not installed in "+p.agent.Title, again)
		return one
	case p.setup.Version == "":
		look("program", "there is no program "+p.agent.Program+" here, so nothing was tried in it: "+p.agent.Get, "")
	default:
		look("program", p.agent.Title+" "+p.setup.Version, "")
	}
	usable := p.setup.Version != ""
	if why := stale(p); why != "" {
		look("plug", why, p.correct(again))
		return one
	}
	look("plug", fmt.Sprintf("%s of version %s", ui.Plural(len(p.record.Files), "file"), p.record.Kagewasm), "")
	if why := hookFailure(cmp.Or(f.state, e.stateHome), p.agent.Name); why != "" {
		look("last hook", "it failed, and "+p.agent.Title+" went on without it: "+why, "")
	}
	if p.agent.Hook != nil && usable {
		s := p.setup
		s.Calls = p.record.Calls
		look("hook", p.agent.Hook(ctx, s), "")
	}
	if why := otherVersion(ctx, p.record.Calls); why != "" {
		look("command", why, again)
		return one
	}
	took, err := plug.TryCommand(ctx, p.record.Calls)
	if err != nil {
		look("compaction", err.Error(), fixOf(err, p.record.Calls, again))
		return one
	}
	look("compaction", fmt.Sprintf("a small session in %d ms, by %s", took.Milliseconds(), p.record.Calls.Kagewasm), "")
	if p.agent.Served && p.record.Calls.Socket != "" {
		switch took, err := plug.TryServer(ctx, p.agent.Name, p.record.Calls); {
		case err != nil:
			err = f.unusable(ctx, e, err)
			look("server", "it is left to the command: "+err.Error(), cmp.Or(abi.AsError(err).Hint, again))
		default:
			look("server", fmt.Sprintf("the same in %d ms, at %s", took.Milliseconds(), p.record.Calls.Socket), "")
		}
	}
	if p.plan.Keeps != "" && !answers(ctx, p, look, again) {
		return one
	}
	if p.agent.Try == nil || !usable {
		return one
	}
	s := p.setup
	s.Calls = p.record.Calls
	if err := p.agent.Try(ctx, p.agent, s); err != nil {
		look("in "+p.agent.Title, err.Error(), cmp.Or(abi.AsError(err).Hint, again))
		return one
	}
	did := "it compacted a small session through kagewasm"
	if p.plan.Adds {
		did = "its hooks have a note for a small session; what the summary makes of it only a model shows"
	}
	look("in "+p.agent.Title, did, "")
	return one
}

// again is the command that installs once more what is installed, but for plugins that are not there any more.
func (f *plugFlags) again(e env, p plugged) string {
	words := []string{"kagewasm", "install", p.agent.Name}
	refs, _ := keptPlugins(e, p.record.Calls)
	for _, ref := range refs {
		words = append(words, "--plugin", ui.Quoted(ref))
	}
	if f.state != "" {
		words = append(words, "--state", ui.Quoted(f.state))
	}
	return strings.Join(words, " ")
}

// unusable is why no server can be started: the store that it would open, where that cannot be opened.
func (f *plugFlags) unusable(ctx context.Context, e env, err error) error {
	st, serr := state.OpenSessions(ctx, f.state, e.stateHome, func(string) {})
	if serr != nil {
		return serr
	}
	return errors.Join(err, st.Close())
}

// correct is what fixes a plug: the command that installs it again, but where a file of the user's stands in the way.
func (p *plugged) correct(again string) string {
	if _, err := p.record.Steps(p.plan); err != nil {
		return "correct it there, then kagewasm doctor " + p.agent.Name
	}
	return again
}

// unrecorded says what is in an agent of an installation that no record tells of; empty for nothing.
func unrecorded(p plugged) string {
	steps, err := p.record.Removal(p.plan)
	switch {
	case err != nil:
		return err.Error()
	case !p.record.Found(p.plan, steps):
		return ""
	}
	paths := lists.Map(steps, func(s plug.Step) string { return s.Path })
	return "the state folder has no record of it: " + strings.Join(paths, ", ")
}

// fixOf is the command that fixes what is wrong with a compaction. Settings are the user's, and no installation writes
// over them.
func fixOf(err error, c plug.Calls, again string) string {
	i := slices.Index(c.Policy, "--config")
	if i < 0 || i+1 == len(c.Policy) || !strings.Contains(err.Error(), c.Policy[i+1]) {
		return again
	}
	settings := ui.Quoted(c.Policy[i+1])
	if _, serr := os.Stat(c.Policy[i+1]); serr != nil {
		return again
	}
	return "mv " + settings + " " + ui.Quoted(c.Policy[i+1]+".old") + " && " + again + ": or correct it there"
}

// answers looks at the proxy that an agent has for its provider.
func answers(ctx context.Context, p plugged, look func(what, why, fix string) bool, again string) bool {
	who, err := plug.Answers(ctx, p.plan.Keeps, false)
	switch own := readVersion().build(); {
	case err != nil:
		return look("proxy", err.Error()+": "+p.agent.Title+" has no provider",
			p.plan.Next+"; without it: kagewasm uninstall "+p.agent.Name)
	case who.Kagewasm != own:
		return look("proxy", fmt.Sprintf("it is version %s, and this is %s", who.Kagewasm, own), again)
	case who.Passing != "":
		err := errors.New("it passes requests on, and compacts nothing: " + who.Passing)
		return look("proxy", err.Error(), fixOf(err, p.record.Calls, again))
	case len(who.Without) > 0:
		return look("proxy", "it compacts without a plugin: "+strings.Join(who.Without, "; "),
			"repair it, and touch the configuration or start the proxy anew")
	}
	return look("proxy", "it answers at "+p.plan.Keeps, "")
}

// stale says in what the files of a plug are not those that this version would write.
func stale(p plugged) string {
	s := p.setup
	s.Calls = p.record.Calls
	s.Socket, s.Calls.Version = p.setup.Socket, p.setup.Calls.Version
	plan, err := p.agent.Plan(s)
	if err != nil {
		return err.Error()
	}
	steps, err := p.record.Steps(plan)
	if err != nil {
		return err.Error()
	}
	var other []string
	for _, step := range steps {
		if step.Will != nil && step.Changes() {
			other = append(other, step.Path)
		}
	}
	if len(other) == 0 {
		return ""
	}
	return fmt.Sprintf("%s not what version %s writes (it is installed by %s)", strings.Join(other, ", "),
		readVersion().Version, p.record.Kagewasm)
}

// otherServer says what is wrong with the server of the state folder; nil where none runs, or one of this version.
func otherServer(ctx context.Context, dir string) *ui.Finding {
	client, err := daemon.Find(ctx, dir)
	if err != nil {
		return nil
	}
	defer client.Close()
	var its struct {
		Info struct {
			Version string `json:"version"`
		} `json:"info"`
	}
	const fix = "kagewasm serve --stop: the next who needs it starts another"
	if err := client.Do(ctx, http.MethodGet, "/openapi.json", nil, &its); err != nil {
		return &ui.Finding{What: "server", Why: err.Error(), Fix: fix}
	}
	if own := readVersion().build(); its.Info.Version != own {
		return &ui.Finding{What: "server", Why: fmt.Sprintf("it is version %s, and this is %s", its.Info.Version, own),
			Fix: fix}
	}
	return nil
}

// otherVersion says why the command that a plug calls is not this one.
func otherVersion(ctx context.Context, c plug.Calls) string {
	out, err := exec.CommandContext(ctx, c.Kagewasm, "version", "--json").Output()
	if err != nil {
		return fmt.Sprintf("%s does not run: %v", c.Kagewasm, err)
	}
	var its versionInfo
	if err := json.Unmarshal(out, &its); err != nil {
		return fmt.Sprintf("%s does not say its version: %v", c.Kagewasm, err)
	}
	own := readVersion()
	if its.Version != own.Version || its.Revision != own.Revision || its.ABI != own.ABI {
		return fmt.Sprintf("%s is version %s %s, and this is %s %s", c.Kagewasm, its.Version, its.Revision, own.Version,
			own.Revision)
	}
	return ""
}
