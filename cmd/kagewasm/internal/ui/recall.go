package ui

import (
	"fmt"
	"strings"

	"github.com/kagewasm/kagewasm/session"
)

// Recalled is what `kagewasm recall --json` prints.
type Recalled struct {
	Session  string            `json:"session"`
	Query    string            `json:"query"`
	Messages int               `json:"messages"`
	Passages []RecalledPassage `json:"passages"` // best first
}

// RecalledPassage is a passage with its place.
type RecalledPassage struct {
	Score float64 `json:"score"` // comparable within one recall
	session.Excerpt
	// Superseded says that the model does not see the message any more.
	Superseded bool `json:"superseded,omitempty"`
}

// Passages shows what was found, and where.
func Passages(p Printer, r *Recalled) {
	if len(r.Passages) == 0 {
		p.Linef("nothing in the %s of %s has to do with that: try exact names, paths or error texts that stood there",
			Plural(r.Messages, "message"), r.Session)
	}
	for i, found := range r.Passages {
		if i > 0 {
			p.Linef("")
		}
		e := found.Excerpt
		what := []string{string(e.Role)}
		if e.Call {
			what[0] = "call of " + e.Tool
		} else if e.Tool != "" {
			what[0] = "result of " + e.Tool
		}
		what = origin(what, string(e.Kind), e.Timestamp, found.Superseded)
		if e.End-e.Start < e.Length {
			what = append(what, fmt.Sprintf("bytes %d to %d of %d", e.Start, e.End, e.Length))
		}
		p.Linef("%s  %s", p.paint(bold, e.Message), p.paint(dim, strings.Join(what, ", ")))
		p.quote(e.Text)
	}
}

// Whole shows all of a message.
func Whole(p Printer, m *session.StoredMessage) {
	what := origin([]string{string(m.Role)}, string(m.Kind), m.Timestamp, m.Superseded)
	p.Linef("%s  %s", p.paint(bold, m.ID), p.paint(dim, strings.Join(what, ", ")))
	if text := m.Text(); text != "" {
		p.quote(text)
	}
	for _, c := range m.ToolCalls {
		p.Linef("%s", p.paint(dim, "call of "+c.Name))
		p.quote(c.Arguments)
	}
}

func origin(what []string, kind, time string, superseded bool) []string {
	if kind != "" {
		what = append(what, kind)
	}
	if time != "" {
		what = append(what, time)
	}
	if superseded {
		what = append(what, "superseded")
	}
	return what
}

// quote prints a text behind a bar, so that no line of it looks like one of ours.
func (p Printer) quote(text string) {
	for line := range strings.SplitSeq(text, "\n") {
		p.behind("  |", line)
	}
}
