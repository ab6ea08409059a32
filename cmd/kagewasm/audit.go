package main

import (
	"encoding/json"
	"io"

	"github.com/spf13/cobra"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/cmd/kagewasm/internal/ui"
	"github.com/kagewasm/kagewasm/store"
)

func newAudit(e env) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "audit",
		Short: "Verify and export the log of what was done to sessions, and do it again",
		Long: `The log has an entry for each compaction that was tried, and for each judgement,
rollback and deletion. Each entry holds the hash of the one before it.`,
	}
	verify := newAuditVerify(e)
	group(cmd, verify, newAuditExport(e), newAuditRerun(e))
	return byItself(cmd, verify)
}

func newAuditVerify(e env) *cobra.Command {
	f := &storeFlags{}
	cmd := &cobra.Command{
		Use:   "verify",
		Short: "Name every entry that was changed, removed, moved or cut off",
		Long: `Look through the whole log. Where an entry is not as it was written its number is
told, and the exit code is 1. The last hash is printed: whoever noted it before can
tell that the log was not rewritten as a whole.`,
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
				key, err := meantKey(c.Context(), s, id)
				if err != nil {
					return err
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
