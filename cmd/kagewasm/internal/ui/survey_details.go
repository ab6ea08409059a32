package ui

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/kagewasm/kagewasm/internal/lists"
	"github.com/kagewasm/kagewasm/internal/set"
	"github.com/kagewasm/kagewasm/internal/survey"
)

// Limits of what is shown: sessions that differ, messages of each, and lines of a
// text.
const (
	maxDetails = 3
	maxIDs     = 6
	maxLines   = 4
)

// details show what differs in the first sessions that do.
func (p surveyed) details(names map[string]string, c *survey.Comparison) {
	for i := range c.Sessions[:min(len(c.Sessions), maxDetails)] {
		d := &c.Sessions[i]
		p.Linef("%s", p.paint(bold, names[d.Session]))
		p.ids("newly kept", d.NewlyKept)
		p.ids("newly gone", d.NewlyGone)
		if d.Strategy != nil {
			p.field("strategy", "%s → %s", orNone(d.Strategy.Old), orNone(d.Strategy.New))
		}
		if d.Reason != nil {
			p.field("reason", "%s → %s", d.Reason.Old, d.Reason.New)
		}
		p.texts("injected", d.Injected)
		p.texts("retained", d.Retained)
		p.texts("pinned", d.Pinned)
		p.texts("failures", d.Failures)
		if d.Summary != nil {
			p.texts("summary", &survey.Pair[[]string]{Old: []string{d.Summary.Old}, New: []string{d.Summary.New}})
		}
	}
	if more := len(c.Sessions) - maxDetails; more > 0 {
		p.Linef("%s", p.paint(dim, fmt.Sprintf("… and %s more (see --json)", Plural(more, "session"))))
	}
}

func (p surveyed) ids(label string, ids []string) {
	if len(ids) == 0 {
		return
	}
	short := lists.Map(ids[:min(len(ids), maxIDs)], shortID)
	more := ""
	if len(ids) > maxIDs {
		more = fmt.Sprintf(" … %d in all", len(ids))
	}
	p.field(label, "%s%s", strings.Join(short, ", "), more)
}

// texts shows the lines that went and those that came.
func (p surveyed) texts(label string, pair *survey.Pair[[]string]) {
	if pair == nil {
		return
	}
	field, differ := p.labelled(label), false
	old, now := linesOf(pair.Old), linesOf(pair.New)
	for _, side := range []struct {
		sign  string
		style style
		lines []string
	}{{"-", red, linesWithout(old, now)}, {"+", green, linesWithout(now, old)}} {
		for i, line := range side.lines {
			if i == maxLines {
				field("%s", p.paint(dim, fmt.Sprintf("%s … %d lines in all", side.sign, len(side.lines))))
				break
			}
			field("%s", p.paint(side.style, side.sign+" "+shortened(line, 100)))
			differ = true
		}
	}
	if !differ {
		field("%s", p.paint(dim, "the same lines in another order"))
	}
}

func linesOf(texts []string) (lines []string) {
	for _, text := range texts {
		for line := range strings.Lines(text) {
			if line = strings.TrimSpace(line); line != "" {
				lines = append(lines, line)
			}
		}
	}
	return lines
}

// linesWithout are the lines that are not in other.
func linesWithout(lines, other []string) []string {
	in := set.Of(other...)
	return lists.Filter(lines, func(l string) bool { return !in[l] })
}

// said shows failures, warnings and logs, each once.
func (p surveyed) said(s *survey.Survey) {
	failures, warnings, logs := make(map[string]int), make(map[string]int), make(map[string]int)
	hints := make(map[string]string)
	for i := range s.Sessions {
		o := &s.Sessions[i]
		for _, e := range o.Failures() {
			text, _, _ := strings.Cut(e.Error(), "\n")
			failures[text]++
			hints[text] = e.Hint
		}
		for _, call := range o.Report.Hooks {
			for _, w := range call.Warnings {
				warnings[w]++
			}
			for _, l := range call.Logs {
				logs[string(l.Level)+": "+l.Message]++
			}
		}
	}
	p.counted("failure", red, failures, hints)
	p.counted("warning", yellow, warnings, nil)
	p.counted("log", dim, logs, nil)
}

// counted shows the texts that were said most.
func (p surveyed) counted(label string, s style, texts map[string]int, hints map[string]string) {
	field := p.labelled(label)
	order := slices.SortedFunc(maps.Keys(texts), func(a, b string) int {
		return cmp.Or(cmp.Compare(texts[b], texts[a]), strings.Compare(a, b))
	})
	for _, text := range order[:min(len(order), maxLogLines)] {
		times := ""
		if n := texts[text]; n > 1 {
			times = fmt.Sprintf(" (%d times)", n)
		}
		field("%s%s", p.paint(s, shortened(text, 160)), times)
		if hint := hints[text]; hint != "" {
			field("  %s", p.paint(dim, hint))
		}
	}
	if more := len(order) - maxLogLines; more > 0 {
		field("%s", p.paint(dim, fmt.Sprintf("… and %d more (see --json)", more)))
	}
}

func orNone(s string) string { return cmp.Or(s, "none") }
