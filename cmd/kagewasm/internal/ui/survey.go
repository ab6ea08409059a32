package ui

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/clip"
	"github.com/kagewasm/kagewasm/internal/survey"
)

// surveyed writes surveys for a person.
type surveyed struct{ Printer }

// show writes a table of the sessions and the totals: of all sessions where
// there is nothing to compare with, else of those whose result differs, with
// what differs.
func (p surveyed) show(s *survey.Survey, c *survey.Comparison) {
	names := shortNames(s.Sessions)
	deltas := make(map[string]*survey.Delta)
	var t table
	t.head("session", "tokens", "kept", "injected", "fuel", "ms", "")
	for i := range s.Sessions {
		o := &s.Sessions[i]
		d := c.Of(o.Session)
		if c != nil && d == nil && !slices.Contains(c.Came, o.Session) {
			continue
		}
		deltas[o.Session] = d
		t.row(p.cells(names[o.Session], o, d)...)
	}
	if c != nil && c.Same > 0 {
		t.head(fmt.Sprintf("%s as before", Plural(c.Same, "session")))
	}
	t.row(p.total(&s.Totals, c)...)
	t.print(p.Printer)
	if c != nil {
		p.gone(c)
		p.details(names, c)
	}
	p.said(s)
}

// cells are the row of a session.
func (p surveyed) cells(name string, o *survey.Outcome, d *survey.Delta) []any {
	r := &o.Report
	tokens := fmt.Sprintf("%s → %s", Number(r.TokensBefore), Number(r.TokensAfter))
	kept := Number(len(r.Kept)) + " of " + Number(r.MessagesBefore)
	injected, fuel := Number(len(o.Injected)), amount(o.Use.Fuel)
	if d != nil {
		if d.TokensAfter != nil {
			tokens += fmt.Sprintf(" (%+d)", d.TokensAfter.New-d.TokensAfter.Old)
		}
		if len(d.NewlyKept)+len(d.NewlyGone) > 0 {
			kept += fmt.Sprintf(" (+%d -%d)", len(d.NewlyKept), len(d.NewlyGone))
		}
		if d.Injected != nil {
			injected += fmt.Sprintf(" (was %d)", len(d.Injected.Old))
		}
		fuel += percent(d.Use.Old.Fuel, d.Use.New.Fuel)
	}
	return []any{name, tokens, kept, injected, fuel, fmt.Sprintf("%.0f", o.Use.MS), p.remark(o)}
}

// remark says what is not as it should be.
func (p surveyed) remark(o *survey.Outcome) safe {
	var words []safe
	if code := o.Report.ReasonCode; code != abi.ReasonCompacted && code != "" {
		words = append(words, p.paint(yellow, string(code)))
	}
	if o.Report.Fallback {
		words = append(words, p.paint(yellow, "by fallback"))
	}
	for _, e := range o.Failures() {
		words = append(words, p.paint(red, string(e.Code)))
	}
	return joined(slices.Compact(words))
}

// total is the row of all sessions.
func (p surveyed) total(t *survey.Totals, c *survey.Comparison) []any {
	tokens := fmt.Sprintf("%s → %s", Number(t.TokensBefore), Number(t.TokensAfter))
	kept := Number(t.Kept) + " of " + Number(t.Kept+t.Superseded)
	injected, fuel := Number(t.Injected), amount(t.Fuel)
	if c != nil {
		old, now := &c.Totals.Old, &c.Totals.New
		tokens += difference(old.TokensAfter, now.TokensAfter)
		kept += difference(old.Kept, now.Kept)
		injected += difference(old.Injected, now.Injected)
		fuel += percent(old.Fuel, now.Fuel)
	}
	words := []safe{safef("%d compacted", t.Compacted)}
	if t.Fallbacks > 0 {
		words = append(words, p.paint(yellow, fmt.Sprintf("%d by fallback", t.Fallbacks)))
	}
	if t.Failed > 0 {
		words = append(words, p.paint(red, fmt.Sprintf("%d with failures", t.Failed)))
	}
	words = append(words, safef("errors kept %.0f%%, sections filled %.0f%%, %s at most", 100*t.FailureRetention,
		100*t.Completeness, bytesOf(t.PeakMemoryBytes)))
	if calls := hostCalls(t.HostCalls); calls != "" {
		words = append(words, plain(calls))
	}
	return []any{Plural(t.Sessions, "session"), tokens, kept, injected, fuel, fmt.Sprintf("%.0f", t.MS), joined(words)}
}

func (p surveyed) gone(c *survey.Comparison) {
	if len(c.Came) > 0 {
		p.field("new", "%s", Plural(len(c.Came), "session"))
	}
	if len(c.Went) > 0 {
		p.field("not there", "%s", strings.Join(c.Went, ", "))
	}
}

// nameWidth is the most characters of a session's name in a column.
const nameWidth = 44

// shortNames are the names of sessions, by name, as a column shows them: without
// the folder that all are in, and with the end of what is too long.
func shortNames(sessions []survey.Outcome) map[string]string {
	const separator = string(filepath.Separator)
	dir := ""
	for i := range sessions {
		name := sessions[i].Session
		if i == 0 {
			dir = filepath.Dir(name)
		}
		for dir != filepath.Dir(dir) && !strings.HasPrefix(name, dir+separator) {
			dir = filepath.Dir(dir)
		}
	}
	names := make(map[string]string, len(sessions))
	for i := range sessions {
		name := sessions[i].Session
		short := strings.TrimPrefix(name, dir+separator)
		if utf8.RuneCountInString(short) > nameWidth {
			short = "…" + clip.LastChars(short, nameWidth-1)
		}
		names[name] = short
	}
	return names
}
