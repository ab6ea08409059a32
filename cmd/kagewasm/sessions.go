package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/kagewasm/kagewasm/cmd/kagewasm/internal/pick"
	"github.com/kagewasm/kagewasm/cmd/kagewasm/internal/state"
	"github.com/kagewasm/kagewasm/cmd/kagewasm/internal/ui"
	"github.com/kagewasm/kagewasm/hooks"
	"github.com/kagewasm/kagewasm/internal/turns"
	"github.com/kagewasm/kagewasm/session"
	"github.com/kagewasm/kagewasm/store"
)

func newSessions(e env) *cobra.Command {
	list := newSessionsList(e)
	cmd := &cobra.Command{
		Use:   "sessions",
		Short: "List, show, export and delete the sessions that were compacted",
		Long: `Every kagewasm compact keeps the session in the state folder: all its messages,
what became of them, and the file as it was. An ID is what the list shows, or its
beginning.`,
	}
	group(cmd, list, newSessionsShow(e), newSessionsContext(e), newSessionsExport(e), newSessionsDelete(e))
	cmd.Flags().AddFlagSet(list.Flags())
	cmd.RunE = func(c *cobra.Command, args []string) error {
		if len(args) > 0 {
			return unknown(c, args[0])
		}
		return list.RunE(c, nil)
	}
	return cmd
}

func newSessionsList(e env) *cobra.Command {
	f, limit, after := &storeFlags{}, 0, ""
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List the stored sessions, the one that changed last first",
		Args:  exactArgs(),
		RunE: func(c *cobra.Command, _ []string) error {
			if limit < 1 {
				return ui.Usagef("--limit %d: give a number of sessions, from 1", limit)
			}
			return f.with(c.Context(), e, func(s *store.Store) error {
				list, next, err := s.Sessions(c.Context(), after, limit)
				if err != nil {
					return err
				}
				return show(e, f.asJSON, &ui.SessionList{Sessions: list, Next: next}, ui.Sessions)
			})
		},
	}
	f.register(cmd)
	cmd.Flags().IntVar(&limit, "limit", 50, "list at most `N`")
	cmd.Flags().StringVar(&after, "after", "", "go on behind `PAGE`: what the list before named as next")
	return cmd
}

func newSessionsShow(e env) *cobra.Command {
	f := &storeFlags{}
	cmd := &cobra.Command{
		Use:   "show ID",
		Short: "Show a session: its compactions, how they were judged, what waits, and what it cost",
		Args:  exactArgs("ID"),
		RunE: func(c *cobra.Command, args []string) error {
			return f.withSession(c.Context(), e, args[0], func(s *store.Store, one *store.Session) error {
				v := &ui.SessionDetails{Session: *one, Records: []store.Record{}, Costs: []store.Cost{},
					Turns: []string{}, Calls: []string{}, Requests: []hooks.Wish{}}
				records, err := s.Records(c.Context(), one.Key)
				if err != nil {
					return err
				}
				costs, err := s.Costs(c.Context(), one.Key)
				if err != nil {
					return err
				}
				v.Records, v.Costs = append(v.Records, records...), append(v.Costs, costs...)
				if err := pendingOf(c.Context(), s, v); err != nil {
					return err
				}
				return show(e, f.asJSON, v, ui.SessionShown)
			})
		},
	}
	f.register(cmd)
	return cmd
}

// pendingOf adds what a server has under way with a session.
func pendingOf(ctx context.Context, s *store.Store, v *ui.SessionDetails) error {
	open, err := turns.Running(ctx, s, v.Session.Key)
	if err != nil {
		return err
	}
	for _, o := range open {
		if o.Call {
			v.Calls = append(v.Calls, o.ID)
		} else {
			v.Turns = append(v.Turns, o.ID)
		}
	}
	requests, err := turns.Requests(ctx, s, v.Session.Key)
	for _, r := range requests {
		v.Requests = append(v.Requests, r.Wish)
	}
	return err
}

func newSessionsContext(e env) *cobra.Command {
	f := &storeFlags{}
	cmd := &cobra.Command{
		Use:   "context ID",
		Short: "Write a session as its model sees it now, in the format it came in",
		Args:  exactArgs("ID"),
		RunE: func(c *cobra.Command, args []string) error {
			return f.withSession(c.Context(), e, args[0], func(s *store.Store, one *store.Session) error {
				h, err := session.OpenHistory(c.Context(), s, one.Key, nil)
				if err != nil {
					return err
				}
				return f.writeTo(e, func(w io.Writer) error { return writeNow(c.Context(), s, one.Key, h, w) })
			})
		},
	}
	f.registerOut(cmd, "it")
	return cmd
}

func newSessionsExport(e env) *cobra.Command {
	f := &storeFlags{}
	cmd := &cobra.Command{
		Use:   "export ID",
		Short: "Write all there is of a session as JSON lines: itself, its messages, records and audit log",
		Args:  exactArgs("ID"),
		RunE: func(c *cobra.Command, args []string) error {
			return f.withSession(c.Context(), e, args[0], func(s *store.Store, one *store.Session) error {
				return f.writeTo(e, func(w io.Writer) error { return export(c.Context(), s, one, w) })
			})
		},
	}
	f.registerOut(cmd, "it")
	return cmd
}

// export writes a line for each thing that is stored of a session, named by what it is.
func export(ctx context.Context, s *store.Store, one *store.Session, w io.Writer) error {
	lines := json.NewEncoder(w)
	lines.SetEscapeHTML(false)
	line := func(what string, v any) error { return lines.Encode(map[string]any{what: v}) }
	if err := line("session", one); err != nil {
		return err
	}
	messages, err := s.Messages(ctx, one.Key, store.MessageQuery{Superseded: true})
	for i := 0; err == nil && i < len(messages); i++ {
		err = line("message", &messages[i])
	}
	if err != nil {
		return err
	}
	records, err := s.Records(ctx, one.Key)
	for i := 0; err == nil && i < len(records); i++ {
		err = line("record", &records[i])
	}
	if err != nil {
		return err
	}
	return s.Audit(ctx, one.Key, 0, func(a store.Audited) error { return line("audit", a) })
}

func newSessionsDelete(e env) *cobra.Command {
	f, age := &storeFlags{}, ""
	cmd := &cobra.Command{
		Use:   "delete [ID...]",
		Short: "Delete sessions with all that was said in them; the audit log keeps ids and figures",
		Example: `  kagewasm sessions delete s-0123456789ab
  kagewasm sessions delete --older-than 30d`,
		Args: cobra.ArbitraryArgs,
		RunE: func(c *cobra.Command, args []string) error {
			if (len(args) == 0) == (age == "") {
				return ui.Usagef("sessions delete: name sessions, or give --older-than 30d")
			}
			limit, err := ageOf(age)
			if err != nil {
				return err
			}
			return f.with(c.Context(), e, func(s *store.Store) error {
				var keys []string
				for _, id := range args {
					one, err := pick.Find(c.Context(), s, id)
					if err != nil {
						return err
					}
					keys = append(keys, one.Key)
				}
				err := s.Update(c.Context(), func(tx *store.Tx) (err error) {
					if age != "" {
						if keys, err = tx.OlderThan(c.Context(), time.Now().Add(-limit)); err != nil {
							return err
						}
					}
					return tx.Delete(c.Context(), keys...)
				})
				if err != nil {
					return err
				}
				err = show(e, f.asJSON, append([]string{}, keys...), ui.Deleted)
				return errors.Join(err, f.sayKept(c.Context(), e, s))
			})
		},
	}
	f.register(cmd)
	cmd.Flags().StringVar(&age, "older-than", "", "those that did not change for `DAYS`, such as 30d or 12h; none that "+
		"waits for approval")
	return cmd
}

// sayKept says that what plugins keep is not a session's alone, and stays.
func (f *storeFlags) sayKept(ctx context.Context, e env, s *store.Store) error {
	spaces, err := state.MemoryIn(s, cmp.Or(f.state, e.stateHome), e.say).Spaces(ctx)
	if err == nil && len(spaces) > 0 {
		e.say("what plugins keep of them stays: kagewasm memory list shows what that is, and kagewasm memory delete " +
			"forgets it")
	}
	return err
}

// ageOf reads a time such as 30d or 12h.
func ageOf(text string) (time.Duration, error) {
	if text == "" {
		return 0, nil
	}
	if days, ok := strings.CutSuffix(text, "d"); ok {
		if n, err := strconv.Atoi(days); err == nil && n >= 0 {
			return time.Duration(n) * 24 * time.Hour, nil
		}
	} else if d, err := time.ParseDuration(text); err == nil && d >= 0 {
		return d, nil
	}
	return 0, ui.Usagef("--older-than %q: give days or hours, such as 30d or 12h", text)
}
