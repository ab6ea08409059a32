package main

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/cmd/kagewasm/internal/files"
	"github.com/kagewasm/kagewasm/cmd/kagewasm/internal/pick"
	"github.com/kagewasm/kagewasm/cmd/kagewasm/internal/ui"
	"github.com/kagewasm/kagewasm/internal/owner"
	"github.com/kagewasm/kagewasm/internal/record"
	"github.com/kagewasm/kagewasm/session"
	"github.com/kagewasm/kagewasm/store"
	"github.com/kagewasm/kagewasm/transcript"
)

// maxRecalled is how many passages a recall prints at most.
const maxRecalled = 20

type recallFlags struct {
	message string
	format  string
	limit   int
	asJSON  bool
	state   string
}

func newRecall(e env) *cobra.Command {
	f := &recallFlags{}
	cmd := &cobra.Command{
		Use:   "recall FILE|ID QUERY",
		Short: "Find what was said in a session, superseded or not",
		Long: `Search a session for the passages that have to do with QUERY, by their words and
without a model, and print each with the id of its message, the role and the
place in it, best first. What the program that wrote the session has superseded
is searched as well, and marked. --message prints one message whole.

FILE is a session in any known format, or - for standard input; ID is one that
kagewasm sessions lists. It is not changed, and nothing is taken out of it:
secrets are printed as they stand there. Exit codes: 0 done, also where nothing was found (which is said), 1
failure, 2 a file or a message that is not there, or that makes no sense.`,
		Example: `  kagewasm recall session.jsonl which port does the server listen on
  kagewasm recall session.jsonl --message m00012
  kagewasm recall session.jsonl ErrConflict --limit 3 --json`,
		Args: func(c *cobra.Command, args []string) error { return f.check(args) },
		RunE: func(c *cobra.Command, args []string) error {
			return f.run(c.Context(), e, args[0], strings.Join(args[1:], " "))
		},
	}
	cmd.Flags().StringVar(&f.message, "message", "", "print the message with this `ID` whole")
	cmd.Flags().StringVar(&f.format, "format", string(transcript.Auto), "format of FILE: auto, "+formatNames())
	cmd.Flags().IntVar(&f.limit, "limit", 5, "print at most `N` passages, up to 20")
	cmd.Flags().BoolVar(&f.asJSON, "json", false, "print JSON")
	cmd.Flags().StringVar(&f.state, "state", "", "`DIR` in which sessions are kept (default: the platform's state folder)")
	complete(cmd, "format", append([]string{string(transcript.Auto)}, formatList()...)...)
	return cmd
}

func (f *recallFlags) check(args []string) error {
	query := strings.TrimSpace(strings.Join(args[min(1, len(args)):], " "))
	switch {
	case len(args) == 0:
		return ui.Usagef("recall: name a session file, and what to look for")
	case f.message == "" && query == "":
		return ui.Usagef("recall: say what to look for in %s, or --message ID for one message", args[0])
	case f.message != "" && query != "":
		return ui.Usagef("recall: --message %s prints a message, and %q looks for passages: give one of them",
			f.message, query)
	case f.limit < 1 || f.limit > maxRecalled:
		return ui.Usagef("recall: --limit %d: give a number from 1 to %d", f.limit, maxRecalled)
	}
	return nil
}

func (f *recallFlags) run(ctx context.Context, e env, path, query string) error {
	progress := e.progress()
	defer progress.Done()
	progress.Step("reading %s", path)
	stored, err := f.read(ctx, e, path)
	if err != nil {
		return err
	}
	if f.message != "" {
		progress.Done()
		return f.show(e, path, stored)
	}
	progress.Step("searching %s messages", ui.Number(len(stored)))
	r := &ui.Recalled{Session: path, Query: query, Messages: len(stored), Passages: []ui.RecalledPassage{}}
	gone := make(map[string]bool)
	for i := range stored {
		gone[stored[i].ID] = stored[i].Superseded
	}
	for _, found := range session.Passages(stored, session.RecallQuery{Text: query, Limit: f.limit}) {
		p := found.Pieces[0]
		r.Passages = append(r.Passages, ui.RecalledPassage{Score: found.Score, Excerpt: p, Superseded: gone[p.Message]})
	}
	progress.Done()
	return show(e, f.asJSON, r, ui.Passages)
}

// read reads all messages of a session file, with what became of them.
func (f *recallFlags) read(ctx context.Context, e env, path string) ([]session.StoredMessage, error) {
	if info, err := os.Stat(path); path != "-" && (errors.Is(err, fs.ErrNotExist) || err == nil && info.IsDir()) {
		return f.stored(ctx, e, path)
	}
	data, err := files.Read(ctx, e.stdin, path)
	if err != nil {
		return nil, err
	}
	s, err := transcript.ReadContext(ctx, path, data, transcript.Format(f.format))
	if err != nil {
		return nil, err
	}
	return record.Stored(s), nil
}

// stored reads all messages of a session in the store.
func (f *recallFlags) stored(ctx context.Context, e env, id string) (list []session.StoredMessage, err error) {
	from := storeFlags{state: f.state}
	err = from.with(ctx, e, func(s *store.Store) error {
		one, err := pick.Find(ctx, s, id)
		if err == nil {
			list, err = s.Messages(ctx, one.Key, store.MessageQuery{Superseded: true})
		}
		return err
	})
	if errors.As(err, new(*owner.Error)) {
		return nil, err // whether it is stored there nobody looks
	}
	if code := ui.ExitCode(err); err != nil && code == ui.ExitUsage {
		what := "there is no such file"
		if info, err := os.Stat(id); err == nil && info.IsDir() {
			what = "it is a folder"
		}
		return nil, &abi.Error{
			Code: abi.CodeBadInput, Op: "recall", Message: id + ": " + what + ", and no stored session", Err: err,
			Hint: "give the path of a session file, or an id that kagewasm sessions lists",
		}
	}
	return list, err
}

// show prints one message.
func (f *recallFlags) show(e env, path string, stored []session.StoredMessage) error {
	for i := range stored {
		if stored[i].ID == f.message {
			return show(e, f.asJSON, &stored[i], ui.Whole)
		}
	}
	return &abi.Error{
		Code: abi.CodeBadInput, Op: "recall", Message: path + ": no message has the id " + f.message,
		Hint: "kagewasm recall FILE QUERY prints ids beside what it finds; " +
			"where a file has none, they are m00000, m00001, ...",
	}
}
