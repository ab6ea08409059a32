package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/kagewasm/kagewasm/cmd/kagewasm/internal/ui"
	"github.com/kagewasm/kagewasm/internal/plugindiff"
	"github.com/kagewasm/kagewasm/internal/survey"
	"github.com/kagewasm/kagewasm/runtime"
)

type diffFlags struct {
	surveyFlags
	failOn []string
}

// What --fail-on can name.
const (
	failOnPermissions = "permissions"
	failOnBehaviour   = "behaviour"
)

func newDiff(e env) *cobra.Command {
	f := &diffFlags{}
	cmd := &cobra.Command{
		Use:   "diff OLD.wasm NEW.wasm",
		Short: "Show what a new version of a plugin may do, and does, that is different",
		Long: `Compare two modules: what the new one may do that the old one may not, first;
what else changed in the manifest and the module; and what both do to sessions,
those of --sessions or else the samples of the conformance kit. Both run with the
same grants, and begin each session with an empty memory, or with what plugins keep
in --state where that is given; nothing is stored. What the new one asks for and is
not granted is said, as it cannot show what it does with it. Each session is run
twice, and the faster time counts. No model is asked.

The exit code is 0 whatever was found. With --fail-on it is 1 where there are new
permissions, or where any session has another result; fuel and time alone are no
difference. It is 2 where a module cannot be loaded.`,
		Example: `  kagewasm diff markdown-0.1.0.wasm markdown.wasm --sessions ~/sessions
  kagewasm diff old.wasm new.wasm --fail-on permissions --json`,
		Args: exactArgs("OLD.wasm", "NEW.wasm"),
		RunE: func(c *cobra.Command, args []string) error {
			if err := f.check(c); err != nil {
				return err
			}
			return f.run(c.Context(), e, args[0], args[1])
		},
		ValidArgsFunction: func(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
			if len(args) < 2 {
				return []string{"wasm"}, cobra.ShellCompDirectiveFilterFileExt
			}
			return nil, cobra.ShellCompDirectiveNoFileComp
		},
	}
	f.register(cmd)
	cmd.Flags().BoolVar(&f.asJSON, "json", false, "print JSON")
	cmd.Flags().StringSliceVar(&f.failOn, "fail-on", nil,
		"exit with 1 where there are differences of this `KIND`: permissions, behaviour")
	complete(cmd, "fail-on", failOnPermissions, failOnBehaviour)
	return cmd
}

func (f *diffFlags) check(c *cobra.Command) error {
	for _, kind := range f.failOn {
		if kind != failOnPermissions && kind != failOnBehaviour {
			return ui.Usagef("--fail-on %s: use %s or %s", kind, failOnPermissions, failOnBehaviour)
		}
	}
	return f.surveyFlags.check(c)
}

func (f *diffFlags) run(ctx context.Context, e env, old, new string) error {
	progress := e.progress()
	defer progress.Done()
	r := &ui.Diff{}
	sessions, err := f.corpus(r)
	if err != nil {
		return err
	}
	l, opts, err := f.open(ctx, e)
	if err != nil {
		return err
	}
	defer l.close(context.WithoutCancel(ctx))
	var plugins []*runtime.Plugin
	for _, path := range []string{old, new} {
		progress.Step("loading %s", path)
		p, err := l.load(ctx, path, false)
		if err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		plugins = append(plugins, p)
	}
	if err := l.unusedFlag(); err != nil {
		return err
	}
	surveys, err := twice(ctx, plugins, sessions, opts, progress)
	if err != nil {
		return err
	}
	r.Update = plugindiff.Compare(plugins[0].Info(), plugins[1].Info())
	r.Behaviour, r.Survey = survey.Compare(surveys[0], surveys[1]), surveys[1]
	progress.Done()
	return errors.Join(show(e, f.asJSON, r, f.text), f.verdict(r))
}

// twice surveys both modules, and both again: what is warm by then is so for
// both.
func twice(
	ctx context.Context, plugins []*runtime.Plugin, sessions []*survey.Session, opts survey.Options, progress *ui.Progress,
) ([]*survey.Survey, error) {
	surveys := make([]*survey.Survey, len(plugins))
	for range 2 {
		for i, p := range plugins {
			progress.Step("surveying %s, module %d of %d", ui.Plural(len(sessions), "session"), i+1, len(plugins))
			s, err := survey.Run(ctx, p, sessions, opts)
			if err != nil {
				return nil, err
			}
			if surveys[i] != nil {
				s.Faster(surveys[i])
			}
			surveys[i] = s
		}
	}
	return surveys, nil
}

// corpus reads the sessions.
func (f *diffFlags) corpus(r *ui.Diff) (sessions []*survey.Session, err error) {
	if len(f.sessions) == 0 {
		r.Samples = true
		return survey.Samples(), nil
	}
	sessions, r.Skipped, err = survey.NewCorpus(f.sessions...).Sessions()
	if err == nil && len(sessions) == 0 {
		err = ui.Usagef("--sessions %s: no sessions there", strings.Join(f.sessions, ", "))
	}
	return sessions, err
}

// verdict is the failure that was asked for.
func (f *diffFlags) verdict(r *ui.Diff) error {
	switch {
	case slices.Contains(f.failOn, failOnPermissions) && len(r.Permissions) > 0:
		return fmt.Errorf("--fail-on %s: %s", failOnPermissions, ui.Plural(len(r.Permissions), "new permission"))
	case slices.Contains(f.failOn, failOnBehaviour) && r.Behaviour.Differs():
		return fmt.Errorf("--fail-on %s: %s with another result", failOnBehaviour,
			ui.Plural(len(r.Behaviour.Sessions), "session"))
	}
	return nil
}

func (f *diffFlags) text(p ui.Printer, r *ui.Diff) { ui.Differences(p, r, f.windowText()) }
