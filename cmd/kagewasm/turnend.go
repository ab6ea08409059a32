package main

import (
	"context"

	"github.com/spf13/cobra"

	kagewasm "github.com/kagewasm/kagewasm"
	"github.com/kagewasm/kagewasm/cmd/kagewasm/internal/state"
	"github.com/kagewasm/kagewasm/cmd/kagewasm/internal/ui"
	"github.com/kagewasm/kagewasm/hooks"
	"github.com/kagewasm/kagewasm/internal/record"
	"github.com/kagewasm/kagewasm/internal/turnend"
)

// newTurnEnd is for plugs of agents where no server runs: nobody types it.
func newTurnEnd(e env) *cobra.Command {
	f := &compactFlags{}
	cmd := &cobra.Command{
		Use:    "turn-end FILE",
		Short:  "Tell plugins that a turn of an agent has ended, and say what they want",
		Hidden: true,
		Args:   exactArgs("FILE"),
		RunE: func(c *cobra.Command, args []string) error {
			f.given = c.Flags().Changed
			ended, err := turnEnd(c.Context(), f, e, args[0])
			if err != nil {
				return err
			}
			return ui.JSON(e.stdout, ended)
		},
	}
	f.register(e, cmd)
	return cmd
}

// turnEnd tells plugins. Where none hears of it the session is not read.
func turnEnd(ctx context.Context, f *compactFlags, e env, path string) (ended *turnend.Ended, err error) {
	if err := f.check(path); err != nil {
		return nil, err
	}
	conf, err := f.configured(e, f.agent, f.sets)
	if err != nil || len(f.plugins)+len(conf.plugins()) == 0 {
		return &turnend.Ended{}, err
	}
	run, err := f.read(ctx, e, path)
	if err != nil {
		return nil, err
	}
	m, err := meansOf(ctx, f, e, run.File, conf, e.progress())
	if err != nil {
		return nil, err
	}
	defer m.plugins.close(context.WithoutCancel(ctx))
	ended = &turnend.Ended{Listening: turnend.Heard(m.opts.Plugins) || turnend.Held(m.opts.Plugins)}
	if !ended.Listening {
		return ended, nil
	}
	goesBy(f, e, &m.opts)
	compactor, err := kagewasm.New(m.opts)
	if err != nil {
		return nil, err
	}
	req := f.request(path, run.File, m.model, m.tools.Tokens, &sink{})
	run.Session = req.Session
	if turnend.Heard(m.opts.Plugins) {
		turn, err := compactor.TurnEnd(ctx, req)
		if err != nil {
			return nil, err
		}
		ended = turnend.Of(turn)
		if err := m.plugins.asked(req, ended); err != nil {
			return nil, err
		}
	}
	if turnend.Held(m.opts.Plugins) {
		ended.Wants(heldFor(ctx, f, e, run))
	}
	return ended, nil
}

// heldFor is what plugins asked for in compactions of the turn. Where the store cannot be read that is nothing.
func heldFor(ctx context.Context, f *compactFlags, e env, run *record.Run) []hooks.Wish {
	if !f.records() {
		return nil
	}
	s, err := state.ReadSessions(ctx, f.state, e.stateHome, e.say)
	if err != nil {
		return nil
	}
	defer s.Close()
	list, _ := run.Held(ctx, s)
	return list
}

// mostAsked is how many turns in a row of a session plugins are listened to that want a compaction, as in one process.
const mostAsked = 3

// asked counts how many turns in a row of the session plugins have asked for a compaction: the next one is another
// process. Who asks on and on is not listened to.
func (l *loader) asked(req kagewasm.Request, ended *turnend.Ended) error {
	n := l.state.Asked(req.Session.ID, req.Session.AgentPath) + 1
	if len(ended.Wishes) == 0 {
		n = 0
	}
	if n > mostAsked {
		ended.Wanted = nil
		return nil
	}
	return l.state.SetAsked(n, req.Session.ID, req.Session.AgentPath)
}
