package main

import (
	"context"
	"slices"
	"time"

	"github.com/spf13/cobra"

	kagewasm "github.com/kagewasm/kagewasm"
	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/cmd/kagewasm/internal/pick"
	"github.com/kagewasm/kagewasm/cmd/kagewasm/internal/ui"
	"github.com/kagewasm/kagewasm/session"
	"github.com/kagewasm/kagewasm/store"
)

func newApprove(e env) *cobra.Command {
	f := &decideFlags{}
	cmd := &cobra.Command{
		Use:   "approve ID",
		Short: "Apply the compaction that waits in a session, exactly as it was shown",
		Long: `Apply the compaction that the strategy checkpoint left to wait: to the byte what
kagewasm sessions show ID describes. ID names the session or the compaction. --out
writes the compacted session.

Plugins hear that it is done, in post_compact: those that a kagewasm.yaml here or in a
folder above names for the session's agent, and those of --plugin. One that took part
and is not among them does not, which is said.`,
		Example: `  kagewasm approve s-0123456789ab --out smaller.jsonl
  kagewasm approve s-0123456789ab --plugin hindsight`,
		Args: exactArgs("ID"),
		RunE: func(c *cobra.Command, args []string) error {
			f.given = c.Flags().Changed
			return f.approve(c.Context(), e, args[0])
		},
	}
	f.registerFor(e, cmd)
	cmd.Flags().StringVar(&f.out, "out", "", "write the compacted session to `FILE`")
	return cmd
}

func newReject(e env) *cobra.Command {
	f, why := &decideFlags{}, ""
	cmd := &cobra.Command{
		Use:   "reject ID",
		Short: "Drop the compaction that waits in a session",
		Long: `Drop the compaction that the strategy checkpoint left to wait: the session goes on as
it is. ID names the session or the compaction.

Plugins hear that it is dropped, in post_compact: those that a kagewasm.yaml here or in
a folder above names for the session's agent, and those of --plugin. It is dropped too
where one of them cannot be loaded, or the configuration cannot be used, which is said.`,
		Example: `  kagewasm reject s-0123456789ab --notes "the port is gone"`,
		Args:    exactArgs("ID"),
		RunE: func(c *cobra.Command, args []string) error {
			f.given = c.Flags().Changed
			return f.reject(c.Context(), e, args[0], why)
		},
	}
	f.registerFor(e, cmd)
	cmd.Flags().StringVar(&why, "notes", "", "`TEXT`: why, for the audit log")
	return cmd
}

// waiting is the compaction that waits in a session.
func waiting(cp *session.Checkpoint, key string) (*session.Checkpoint, error) {
	if cp == nil {
		return nil, ui.Usagef("session %q: no compaction waits in it", key)
	}
	return cp, nil
}

// decided is how a compaction that waited ended, for the audit log.
func decided(one *store.Session, cp *session.Checkpoint, event kagewasm.EventType) kagewasm.Event {
	return kagewasm.Event{Type: event, Time: time.Now().UTC().Format(time.RFC3339),
		Session: abi.Session{ID: one.ID, AgentPath: one.Agent, Model: one.Model}, Compaction: cp.ID,
		Trigger: cp.Record.Trigger, Strategy: kagewasm.StrategyCheckpoint, Report: new(cp.Report),
		Heard: cp.Heard, Said: cp.Said}
}

func newFlag(e env) *cobra.Command {
	f, notes := &storeFlags{}, ""
	cmd := &cobra.Command{
		Use:   "flag ID good|bad|neutral",
		Short: "Judge a compaction, for the statistics and the audit log",
		Long: `Judge a compaction: ID is its own, as kagewasm sessions show lists it, or that of a
session, of which the last compaction in force is meant.`,
		Example: `  kagewasm flag cmp-0123456789abcdef bad --notes "the port number is gone"`,
		Args:    exactArgs("ID", "good|bad|neutral"),
		ValidArgsFunction: func(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
			if len(args) == 1 {
				return store.Flags[:3], cobra.ShellCompDirectiveNoFileComp
			}
			return nil, cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(c *cobra.Command, args []string) error {
			if !slices.Contains(store.Flags, args[1]) {
				return ui.Usagef("flag %q: give good, bad or neutral", args[1])
			}
			return f.with(c.Context(), e, func(s *store.Store) error {
				key, compaction, err := judged(c.Context(), s, args[0])
				if err == nil {
					err = s.Update(c.Context(), func(tx *store.Tx) error {
						return tx.Flag(c.Context(), key, compaction, args[1], notes)
					})
				}
				if err != nil {
					return err
				}
				return show(e, f.asJSON, &ui.Flagged{Session: key, Compaction: compaction, Flag: args[1], Notes: notes}, ui.Judged)
			})
		},
	}
	f.register(cmd)
	cmd.Flags().StringVar(&notes, "notes", "", "`TEXT` to keep beside it")
	return cmd
}

// judged is the compaction that a person means: by its id, or the last one of a session.
func judged(ctx context.Context, s *store.Store, id string) (key, compaction string, err error) {
	if key, err = s.SessionOf(ctx, id); err != nil || key != "" {
		return key, id, err
	}
	one, err := pick.Find(ctx, s, id)
	if err != nil {
		return "", "", err
	}
	records, err := s.Records(ctx, one.Key)
	for _, r := range records {
		if r.InForce {
			compaction = r.ID
		}
	}
	if err == nil && compaction == "" {
		err = ui.Usagef("session %q: no compaction is in force", one.Key)
	}
	return one.Key, compaction, err
}
