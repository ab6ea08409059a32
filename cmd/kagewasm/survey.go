package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/cmd/kagewasm/internal/ui"
	"github.com/kagewasm/kagewasm/internal/survey"
	"github.com/kagewasm/kagewasm/tokens"
)

// surveyFlags are the flags of commands that run plugins over a folder of
// sessions.
type surveyFlags struct {
	pluginFlags
	sessions []string
	window   int
	share    float64
	asJSON   bool
}

func (f *surveyFlags) register(c *cobra.Command) {
	fs := c.Flags()
	fs.StringArrayVar(&f.sessions, "sessions", nil,
		"a `FOLDER` of sessions, or a file, in any format that compact reads; may be repeated")
	fs.IntVar(&f.window, "window", 0, "context window in `TOKENS`, for all sessions (default: --share of each)")
	fs.Float64Var(&f.share, "share", survey.DefaultShare,
		"context window as a `SHARE` of what each session costs, so that all are compacted")
	f.pluginFlags.register(c)
}

// check finds what makes no sense before anything is run.
func (f *surveyFlags) check(c *cobra.Command) error {
	switch {
	case c.Flags().Changed("window") && f.window <= 0:
		return ui.Usagef("--window %d: give the context window in tokens", f.window)
	case f.share <= 0:
		return ui.Usagef("--share %v: give a share of what each session costs, over 0", f.share)
	case f.window > 0 && c.Flags().Changed("share"):
		return ui.Usagef("--window and --share: give one of the two")
	}
	return nil
}

// open opens a loader whose plugins begin each session with what --state holds,
// or with nothing, and the options of the surveys they are for.
func (f *surveyFlags) open(ctx context.Context, e env) (*loader, survey.Options, error) {
	counter, err := tokens.New(tokens.O200k, tokens.Options{})
	if err != nil {
		return nil, survey.Options{}, err
	}
	l, err := openLoaderOver(ctx, e, &f.pluginFlags, counter, nil, func(kept abi.KV) abi.KV {
		if f.state == "" {
			kept = nil // what a person's agents remember is nobody's corpus, unless it is named
		}
		return survey.KV(kept)
	})
	if err != nil {
		return nil, survey.Options{}, err
	}
	l.author = true // nothing is written
	return l, survey.Options{Counter: counter, Window: f.window, Share: f.share}, nil
}

// windowText says which windows sessions have.
func (f *surveyFlags) windowText() string {
	if f.window > 0 {
		return "window " + ui.Number(f.window)
	}
	return fmt.Sprintf("window %.0f%% of each", 100*f.share)
}
