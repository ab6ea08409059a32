package main

import (
	"encoding/json"
	"io"

	"github.com/spf13/cobra"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/cmd/kagewasm/internal/pick"
	"github.com/kagewasm/kagewasm/cmd/kagewasm/internal/ui"
	"github.com/kagewasm/kagewasm/internal/rerun"
	"github.com/kagewasm/kagewasm/store"
)

func newAudit(e env) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "audit",
		Short: "Verify and export the log of what was done to sessions, and do it again",
		Long: `The log has an entry for each compaction that was tried, and for each judgement,
rollback and deletion. Each entry holds the hash of the one before it.`,
	}
	return group(cmd, newAuditVerify(e), newAuditExport(e), newAuditRerun(e))
}

func newAuditVerify(e env) *cobra.Command {
	f := &storeFlags{}
	cmd := &cobra.Command{
		Use:   "verify",
		Short: "Name every entry that was changed, removed, moved or cut off",
		Long: `Look through the whole log. Where an entry is not as it was written its number is
told, and the exit code is 1. The last hash is printed: whoever noted it before can
tell that the log was not written anew as a whole.`,
		Args: exactArgs(),
		RunE: func(c *cobra.Command, _ []string) error {
			return f.with(c.Context(), e, func(s *store.Store) error {
				r, err := s.VerifyAudit(c.Context())
				if err != nil {
					return err
				}
				if err := show(e, f.asJSON, r, ui.Verified); err != nil {
					return err
				}
				if n := len(r.Problems); n > 0 {
					return &abi.Error{Code: abi.CodeState, Op: "audit verify",
						Message: "the log is not as it was written: " + ui.Plural(n, "problem")}
				}
				return nil
			})
		},
	}
	f.register(cmd)
	return cmd
}

func newAuditExport(e env) *cobra.Command {
	f, id, bare := &storeFlags{}, "", false
	cmd := &cobra.Command{
		Use:   "export",
		Short: "Write the log as JSON lines, each with its hash",
		Args:  exactArgs(),
		RunE: func(c *cobra.Command, _ []string) error {
			return f.with(c.Context(), e, func(s *store.Store) error {
				key := ""
				if id != "" {
					one, err := pick.Find(c.Context(), s, id)
					if err != nil {
						return err
					}
					key = one.Key
				}
				return f.writeTo(e, func(w io.Writer) error {
					lines := json.NewEncoder(w)
					lines.SetEscapeHTML(false)
					return s.Audit(c.Context(), key, 0, func(a store.Audited) error {
						if bare {
							a.Content = nil
						}
						return lines.Encode(a)
					})
				})
			})
		},
	}
	f.registerOut(cmd, "it")
	cmd.Flags().StringVar(&id, "session", "", "only what was done to the session of this `ID`")
	cmd.Flags().BoolVar(&bare, "no-content", false, "leave out what was said: ids, digests and figures alone")
	return cmd
}

func newAuditRerun(e env) *cobra.Command {
	f := &storeFlags{}
	cmd := &cobra.Command{
		Use:   "rerun ID",
		Short: "Make a recorded compaction again, and show that the same comes of it",
		Long: `Compact again what a compaction was made of: the messages as they were, with the
policy, the request and the time that the log has, and with what models and plugins
answered then; none is asked. ID is the compaction's, or that of a session, of which the last one in
force is meant. The exit code is 1 where anything comes out otherwise. Nothing is stored.

What a plugin answered in a compaction that waited for a decision is not recorded: that is
refused.`,
		Args: exactArgs("ID"),
		RunE: func(c *cobra.Command, args []string) error {
			return f.with(c.Context(), e, func(s *store.Store) error {
				key, compaction, err := judged(c.Context(), s, args[0])
				if err != nil {
					return err
				}
				r, err := rerun.Run(c.Context(), s, key, compaction)
				if err != nil {
					return err
				}
				if err := show(e, f.asJSON, r, ui.Rerun); err != nil {
					return err
				}
				if n := len(r.Differences); n > 0 {
					return &abi.Error{Code: abi.CodeState, Op: "audit rerun", Message: "it comes out otherwise: " +
						ui.Plural(n, "difference")}
				}
				return nil
			})
		},
	}
	f.register(cmd)
	return cmd
}
