package main

import (
	"regexp"

	"github.com/spf13/cobra"

	"github.com/kagewasm/kagewasm/cmd/kagewasm/internal/ui"
	"github.com/kagewasm/kagewasm/internal/record"
	"github.com/kagewasm/kagewasm/store"
)

func newLost(e env) *cobra.Command {
	f, grep, compaction := &storeFlags{}, "", ""
	cmd := &cobra.Command{
		Use:   "lost ID",
		Short: "Show what compactions took from the model's view, the weightiest first",
		Long: `List what the superseded messages of a session said: rules, decisions and corrections
of people, and calls that they did not allow; what else people said; what the agent
decided, gave reasons for and found, and what else it told them; failures that did not
pass later; files that were changed; and then the rest, such as questions, thanks and
calls. Each stands with its message: kagewasm recall ID --message MID prints that whole;
and with the compaction that took it, as kagewasm sessions show has it: kagewasm undo
brings all back. Rules and decisions are known by their words, in some ten languages;
that somebody said something is known in all. A note may tell some of it all the same.`,
		Example: `  kagewasm lost s-0123456789ab
  kagewasm lost s-0123456789ab --grep 'port|5433'
  kagewasm lost s-0123456789ab --compaction cmp-f750d21487c88e73`,
		Args: exactArgs("ID"),
		RunE: func(c *cobra.Command, args []string) error {
			pattern, err := regexp.Compile(grep)
			if err != nil {
				return ui.Usagef("--grep %q: %w", grep, err)
			}
			return f.withSession(c.Context(), e, args[0], func(s *store.Store, one *store.Session) error {
				list, err := record.Lost(c.Context(), s, one.Key, compaction, pattern)
				if err != nil {
					return err
				}
				return show(e, f.asJSON, &ui.Lost{Session: one.Key, Losses: list}, ui.LostShown)
			})
		},
	}
	f.register(cmd)
	cmd.Flags().StringVar(&grep, "grep", "", "only where the regular expression `RE` is in the text or its whole message")
	cmd.Flags().StringVar(&compaction, "compaction", "", "only what the compaction of this `ID` took")
	return cmd
}
