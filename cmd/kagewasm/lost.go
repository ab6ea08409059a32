package main

import (
	"context"
	"regexp"

	"github.com/spf13/cobra"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/cmd/kagewasm/internal/ui"
	"github.com/kagewasm/kagewasm/session"
	"github.com/kagewasm/kagewasm/store"
	"github.com/kagewasm/kagewasm/strategies/note"
)

func newLost(e env) *cobra.Command {
	f, grep := &storeFlags{}, ""
	cmd := &cobra.Command{
		Use:   "lost ID",
		Short: "Show what compactions took from the model's view, the weightiest first",
		Long: `List what the superseded messages of a session said: rules and decisions of people,
decisions of the agent, failures that did not pass later, files that were changed, and
then the rest, each with the message it stood in. kagewasm recall ID --message MID
prints a message whole, and kagewasm undo brings all back. A note may tell some of it
all the same.`,
		Example: `  kagewasm lost s-0123456789ab
  kagewasm lost s-0123456789ab --grep 'port|5433'`,
		Args: exactArgs("ID"),
		RunE: func(c *cobra.Command, args []string) error {
			pattern, err := regexp.Compile(grep)
			if err != nil {
				return ui.Usagef("--grep %q: %w", grep, err)
			}
			return f.with(c.Context(), e, func(s *store.Store) error {
				one, err := find(c.Context(), s, args[0])
				if err != nil {
					return err
				}
				all, err := s.Messages(c.Context(), one.Key, store.MessageQuery{Superseded: true})
				if err != nil {
					return err
				}
				return show(e, f.asJSON, lost(c.Context(), one.Key, all, pattern), ui.LostShown)
			})
		},
	}
	f.register(cmd)
	cmd.Flags().StringVar(&grep, "grep", "", "only where the regular expression `RE` is in the text or its whole message")
	return cmd
}

// lost lists what compactions took away.
func lost(ctx context.Context, key string, all []session.StoredMessage, grep *regexp.Regexp) *ui.Lost {
	v := &ui.Lost{Session: key, Losses: []ui.Loss{}}
	from := note.Session{}
	at := make(map[string]int, len(all))
	for i := range all {
		m := &all[i]
		if m.By == "rollback" {
			continue
		}
		at[m.ID] = i
		from.Messages = append(from.Messages, m.Message)
		from.Gone = append(from.Gone, m.Superseded && m.Kind != abi.KindSummary)
	}
	for _, l := range note.Losses(ctx, from) {
		one := ui.Loss{Loss: l}
		whole := ""
		if i, ok := at[l.Message]; ok && l.Message != "" {
			m := &all[i]
			one.Position, one.Role, one.Time, one.Compaction = i, m.Role, m.Timestamp, m.By
			if whole = m.Text(); l.Kind != note.LostMessage {
				whole = ""
			}
		}
		if grep.MatchString(l.Text) || grep.MatchString(whole) {
			v.Losses = append(v.Losses, one)
		}
	}
	return v
}
