package main

import (
	"context"
	"slices"

	"github.com/spf13/cobra"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/cmd/kagewasm/internal/ui"
	"github.com/kagewasm/kagewasm/internal/turns"
	"github.com/kagewasm/kagewasm/session"
	"github.com/kagewasm/kagewasm/store"
)

func newUndo(e env) *cobra.Command {
	f, to, last, redo := &storeFlags{}, "", false, false
	cmd := &cobra.Command{
		Use:   "undo ID",
		Short: "Take back the last compaction of a session, or all that came after a message",
		Long: `Go back to before the last compaction that is in force: what it superseded is back,
byte for byte, and what came later is taken back with it. --to goes back to where a
message had just arrived. Nothing is lost by that: --redo takes the undo back.

While a server has a call of the session's model in flight nothing is undone: the
answer would be lost. The session changes in the store; --out writes it as a file,
the very one that was compacted where nothing else was done to it.`,
		Example: `  kagewasm undo s-0123456789ab --out session.jsonl
  kagewasm undo s-0123456789ab --to m00042
  kagewasm undo s-0123456789ab --redo`,
		Args: exactArgs("ID"),
		RunE: func(c *cobra.Command, args []string) error {
			if n := number(to != "") + number(last) + number(redo); n > 1 {
				return ui.Usagef("undo: give one of --to, --last and --redo")
			}
			return f.withSession(c.Context(), e, args[0], func(s *store.Store, one *store.Session) error {
				v := &ui.Undone{Session: one.Key, Redo: redo}
				if err := noCall(c.Context(), s, one.Key); err != nil {
					return err
				}
				h, err := change(c.Context(), s, one.Key, func(_ *store.Tx, h *session.History) error {
					v.Before = len(h.Messages())
					switch {
					case to != "":
						return h.Rollback(c.Context(), to)
					case redo:
						return h.Redo(c.Context())
					}
					record, err := h.Undo(c.Context())
					if e := abi.AsError(err); err != nil && e.Code == abi.CodeUsage {
						e.Hint = "kagewasm sessions context " + ui.Quoted(one.Key) + " --out FILE writes it as it is; --redo takes an " +
							"undo back"
						return e
					}
					if err == nil {
						v.Compaction, v.Restored = record.ID, len(record.Superseded)
					}
					return err
				})
				if err == nil {
					err = f.write(c.Context(), s, one.Key, h)
				}
				if err != nil {
					return err
				}
				v.After, v.Out = len(h.Messages()), f.out
				return show(e, f.asJSON, v, ui.Undid)
			})
		},
	}
	f.registerOut(cmd, "the session as it is then")
	cmd.Flags().StringVar(&to, "to", "", "go back to where the message of this `ID` had just arrived")
	cmd.Flags().BoolVar(&last, "last", false, "take back the last compaction (the default)")
	cmd.Flags().BoolVar(&redo, "redo", false, "take back the last undo, where nothing came after it")
	return cmd
}

// noCall refuses what takes messages back while a server has a call of the model in flight: the answer would be to
// messages that are gone, and be lost.
func noCall(ctx context.Context, s *store.Store, key string) error {
	open, err := turns.List(ctx, s, key)
	if i := slices.IndexFunc(open, func(o turns.Open) bool { return o.Call }); i >= 0 {
		return turns.Busy("undo", key, "its answer would be lost: undo when it has ended", open[i])
	}
	return err
}

func number(is bool) int {
	if is {
		return 1
	}
	return 0
}
