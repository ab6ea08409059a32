package main

import (
	"context"
	"errors"

	kagewasm "github.com/kagewasm/kagewasm"
	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/cmd/kagewasm/internal/ui"
	"github.com/kagewasm/kagewasm/strategies"
	"github.com/kagewasm/kagewasm/transcript"
)

// prepared shows what a summary of the session would be made of. Plugins are loaded, as they have a say in what is
// shortened first, and not called.
func prepared(ctx context.Context, f *compactFlags, e env, path string, progress *ui.Progress) error {
	run, err := f.read(ctx, e, path)
	if err != nil {
		return unwritten(err)
	}
	f.trial = true
	conf, err := f.configured(e, f.agent, f.sets)
	conf.asked = f.model
	if err != nil {
		return err
	}
	m, err := meansOf(ctx, f, e, run.File, conf, progress)
	if err != nil {
		return err
	}
	defer m.plugins.close(context.WithoutCancel(ctx))
	logged(run.File, transcript.Format(f.to), conf, &m.opts)
	goesBy(f, e, &m.opts)
	compactor, err := kagewasm.New(m.opts)
	if err != nil {
		return err
	}
	p, err := compactor.Prepare(ctx, f.request(path, run.File, m.model, m.tools.Tokens, new(sink)))
	progress.Done()
	shown := &ui.Prepared{Path: path, Prepared: p}
	if errors.Is(err, strategies.ErrNothing) {
		shown.Reason, err = abi.AsError(err).Message, nil
	}
	if err != nil || f.quiet {
		return unwritten(err)
	}
	return show(e, f.asJSON, shown, ui.Preparation)
}
