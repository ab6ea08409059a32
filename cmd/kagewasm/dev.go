package main

import (
	"context"
	"errors"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/kagewasm/kagewasm/cmd/kagewasm/internal/ui"
	"github.com/kagewasm/kagewasm/internal/devloop"
	"github.com/kagewasm/kagewasm/internal/pluginyaml"
	"github.com/kagewasm/kagewasm/kit"
	"github.com/kagewasm/kagewasm/runtime"
)

type devFlags struct {
	surveyFlags
	out  string
	once bool
}

func newDev(e env) *cobra.Command {
	f := &devFlags{}
	cmd := &cobra.Command{
		Use:   "dev [DIR]",
		Short: "Build a plugin on each change, and show what it does to sessions",
		Long: `Watch the folder of a plugin (default: the working directory) and the packages
beside it that it is built of, build it on each change, run it over sessions as
compact would, and show what is different from the last time: which messages are
kept, tokens, what is injected, fuel, failures. What does not build is shown, and
the last good module stays.

Sessions are those of --sessions, else those in the folders sessions and testdata
of the plugin, else the samples of the conformance kit. Each session begins with
an empty memory, or with what plugins keep in --state where that is given, so that
its row depends on nothing but the session and the plugin; nothing is stored. No
model is asked. Tokens are counted alike for all sessions.

Interrupt it to end it. With --once there is one round, and the exit code is 1
where it failed; what a plugin does to a session is no failure of the round.`,
		Example: `  kagewasm dev plugins/markdown --sessions ~/sessions
  kagewasm dev --once --json | jq .survey.totals`,
		Args: argCount(0, 1, "one folder"),
		RunE: func(c *cobra.Command, args []string) error {
			if err := f.check(c); err != nil {
				return err
			}
			return f.run(c.Context(), e, argOr(args, "."))
		},
	}
	f.register(cmd)
	cmd.Flags().BoolVar(&f.once, "once", false, "make one round and exit: 0, or 1 where it failed")
	cmd.Flags().BoolVar(&f.asJSON, "json", false, "print each round as one line of JSON")
	cmd.Flags().StringVarP(&f.out, "out", "o", "",
		"write each module to this `FILE`, or as NAME.wasm to a folder (default: it is not kept)")
	return cmd
}

func (f *devFlags) run(ctx context.Context, e env, dir string) error {
	l, opts, err := f.open(ctx, e)
	if err != nil {
		return err
	}
	defer l.close(context.WithoutCancel(ctx))
	if err := l.fits(dir); err != nil {
		return err
	}
	progress := e.progress()
	defer progress.Done()
	reload := func(ctx context.Context, path string) (*runtime.Plugin, error) { return l.loadOnly(ctx, path, false) }
	o := devloop.Options{
		Dir: dir, Out: f.out, Sessions: f.sessions, Load: reload, Survey: opts,
		Step: func(what string) { progress.Step("%s", what) },
	}
	show := func(r *devloop.Round) error {
		progress.Done()
		return f.show(e, r)
	}
	if f.once {
		r, err := devloop.Once(ctx, o)
		if err == nil {
			err = show(r)
		}
		if err == nil && r.Error != nil {
			err = errors.New("dev: the round failed, for what is said above")
		}
		return err
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	var failed error
	err = devloop.Run(ctx, o, func(r *devloop.Round) {
		if failed = show(r); failed != nil {
			stop() // nobody reads any more
		}
	})
	return errors.Join(err, failed)
}

// fits is an error of flags that are not for the plugin in a folder. A manifest
// that cannot be read is what the first round is about.
func (l *loader) fits(dir string) error {
	m, err := pluginyaml.Read(filepath.Join(dir, kit.ManifestFile))
	if err != nil {
		return nil
	}
	if _, err := l.meant(m, runtime.PluginOptions{}); err != nil {
		return err
	}
	return l.unusedFlag()
}

// show writes a round.
func (f *devFlags) show(e env, r *devloop.Round) error {
	var b strings.Builder
	if f.asJSON {
		if err := ui.JSONLine(&b, r); err != nil {
			return err
		}
	} else {
		if e.screen {
			b.WriteString("\x1b[H\x1b[2J\x1b[3J")
		}
		ui.Round(ui.Printer{W: &b, Color: e.color && e.screen}, r, f.windowText())
	}
	_, err := e.stdout.Write([]byte(b.String()))
	return err
}
