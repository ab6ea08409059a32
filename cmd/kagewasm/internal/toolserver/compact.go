package toolserver

import (
	"context"
	"fmt"
	"strings"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/clip"
	"github.com/kagewasm/kagewasm/session"
	"github.com/kagewasm/kagewasm/store"
)

type compactArguments struct {
	which
	File   string `json:"file,omitempty" jsonschema:"instead of session: path of a session file"`
	Focus  string `json:"focus,omitempty" jsonschema:"what to keep in view, in a sentence"`
	DryRun bool   `json:"dry_run,omitempty" jsonschema:"say what would be done, and change nothing"`
}

// maxFocus is how long a focus may be, in bytes.
const maxFocus = 2000

func (s *server) compact(ctx context.Context, by caller, in compactArguments) (string, error) {
	r := Request{DryRun: in.DryRun}
	if focus := clip.OneLine(abi.Defuse(in.Focus)); len(focus) > maxFocus {
		return "", usage("focus is longer than %d bytes", maxFocus)
	} else if focus != "" {
		r.Focus = "agent: " + focus // it is data, and no order of a person
	}
	switch {
	case in.File != "" && in.Session != "":
		return "", usage("give session, or file")
	case in.File != "" && s.opts.Session != "":
		return "", usage("this server is for session %q alone", s.opts.Session)
	case in.File != "":
		c, err := s.opts.File(ctx, in.File, r)
		if err != nil {
			return "", err
		}
		return s.tell("File "+name(in.File)+".\n", c, r), nil
	}
	return s.on(ctx, by, in.which, func(st *store.Store, one *store.Session, took string) (string, error) {
		c, err := s.opts.Stored(ctx, st, one, r)
		if err != nil {
			return "", err
		}
		return s.tell(took, c, r), nil
	})
}

// tell says what came of a compaction, and hands out the note that stands for what went.
func (s *server) tell(took string, c *Compaction, r Request) string {
	if c.Asked {
		return took + "A turn of session " + name(c.Key) + " is open: it is compacted when the turn ends, not now."
	}
	var b strings.Builder
	b.WriteString(took)
	report := c.Report
	switch {
	case c.Pending != "":
		fmt.Fprintf(&b, "A compaction waits for a person, who decides with kagewasm approve or reject %s.\n", name(c.Pending))
	case !report.Compacted:
		fmt.Fprintf(&b, "Not compacted: %s.\n", line(report.Reason))
	case r.DryRun:
		b.WriteString("Nothing was changed: this is what would be done.\n")
	}
	if report.Compacted || c.Pending != "" {
		fmt.Fprintf(&b, "%d tokens to %d, %d messages to %d, by %s.\n", report.TokensBefore, report.TokensAfter,
			report.MessagesBefore, report.MessagesAfter, line(string(report.Strategy)))
		if starts := int(report.Upper * float64(report.Window)); report.TokensBefore < starts {
			fmt.Fprintf(&b, "By itself a compaction starts at %d tokens: this one was made because you asked.\n", starts)
		}
	}
	if n := len(report.Failures); n > 0 {
		fmt.Fprintf(&b, "%d failed on the way, the first: %s\n", n, line(report.Failures[0].Error()))
	}
	if c.Key != "" && report.Compacted && !r.DryRun {
		fmt.Fprintf(&b, "kagewasm sessions context %s writes it as a file, kagewasm undo takes it back.\n", name(c.Key))
	}
	if report.Summary != "" {
		b.WriteString(s.tools.Message(&session.StoredMessage{Message: abi.Message{ID: "note", Role: abi.RoleUser,
			Kind: abi.KindSummary, Content: abi.Text(report.Summary)}}, 0))
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// line is something that a plugin or a model may have had a part in, in a line of ours.
func line(text string) string { return clip.Cut(clip.OneLine(abi.Defuse(text)), 300, "...") }
