package ui

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	kagewasm "github.com/kagewasm/kagewasm"
	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/hooks"
	"github.com/kagewasm/kagewasm/internal/lists"
	"github.com/kagewasm/kagewasm/strategies/note"
)

// Compaction is the outcome of compact for one session.
type Compaction struct {
	Path    string // of the session
	Out     string // where it was written; empty where it was not, or to standard output
	Plugins bool   // some were to take part
	*kagewasm.Result
}

// assumed stands behind the size of a window that nobody knows.
const assumed = " (assumed: the model's is not known)"

// Report says what happened to a session.
func Report(p Printer, c Compaction) {
	h, r := human{p}, &c.Report
	h.Linef("%s %s", h.paint(bold, "session"), c.Path)
	h.Linef("  %s", h.verdict(r))
	window := Number(r.Window)
	if r.ContextWindow == nil {
		window += assumed
	}
	if r.Model != "" {
		window += "  model " + r.Model
	}
	if r.Scale != nil && r.ContextWindow != nil {
		window += fmt.Sprintf(" (%s of its own tokens: about %.2f for one that is counted here)", Number(*r.ContextWindow),
			r.Scale.Factor)
	}
	h.field("window", "%s", window)
	h.field("tokens", "%s → %s  %s", Number(r.TokensBefore), Number(r.TokensAfter), h.bar(r))
	h.field("messages", "%s → %s", Number(r.MessagesBefore), Number(r.MessagesAfter))
	h.pruned(&r.Pruned)
	if r.Compacted {
		by := r.Strategy
		if r.Source != nil && r.Source.Type == abi.SourcePlugin {
			by += " by " + r.Source.Name
		}
		h.field("strategy", "%s", by)
		h.field("superseded", "%s", idRange(r.Superseded))
		h.field("kept", "%s, %d of them pinned", idRange(r.Kept), len(r.Pinned))
		inserted := strings.Join(r.Inserted, ", ")
		if n := r.Metrics.NoteTokens; n > 0 {
			inserted += "  (" + Number(n) + " tokens read off the session)"
		}
		h.field("inserted", "%s", inserted)
		if f := r.Focus; f != nil {
			h.field("focus", "%s", focused(f))
		}
		if len(r.Edited) > 0 {
			h.field("shortened", "%s by the plan", idRange(r.Edited))
		}
	}
	left := h.labelled("left out")
	for _, what := range r.LeftOut {
		left("%s", what)
	}
	for _, w := range strings.Split(r.Warning, "\n") {
		if w != "" {
			h.field("warning", "%s", h.paint(yellow, w))
		}
	}
	h.money(r)
	h.hooks(r.Hooks)
	h.retained(r.Retained)
	wish := h.labelled("asked for")
	for _, w := range r.Wishes {
		wish("a compaction when the turn is over, by %s: %s", w.Plugin,
			cmp.Or(w.Instructions, "nothing in particular is to be kept"))
	}
	h.failures(r.Failures)
	h.injected(c.Result)
	h.summary(r)
	if r.DryRun {
		h.Linef("%s", h.paint(yellow, "dry run: nothing was written"))
	} else if c.Out != "" {
		h.Linef("%s %s", h.paint(dim, "written to"), c.Out)
	}
	if c.Plugins && len(r.Hooks) == 0 {
		h.field("hooks", "none called: %s", r.ReasonCode)
	}
}

// pruned says what was taken out before anything was decided, by its name.
func (h human) pruned(p *kagewasm.Pruned) {
	if p.Count == 0 {
		return
	}
	var list []string
	for _, of := range []struct {
		n    int
		noun string
		done string
	}{
		{len(p.Removed), "duplicate synthetic message", "%s left out"},
		{p.Count - len(p.Removed) - len(p.Calls) - len(p.Words), "output", "%s shortened"},
		{len(p.Calls), "message", "calls of %s shortened"},
		{len(p.Words), "message", "beginning and end left of %s"},
	} {
		if of.n > 0 {
			list = append(list, fmt.Sprintf(of.done, Plural(of.n, of.noun)))
		}
	}
	h.field("pruned", "%s; %s tokens saved", strings.Join(list, ", "), Number(p.TokensSaved))
}

// focused says what instructions came to in the note.
func focused(f *note.Focus) string {
	said := "nothing that goes bears on the instructions in particular"
	if len(f.Terms) > 0 {
		said = fmt.Sprintf("%s of the note bear on %s", Plural(f.Lines, "line"), strings.Join(f.Terms, ", "))
	}
	if len(f.Unused) > 0 {
		said += "; of no help: " + strings.Join(f.Unused, ", ")
	}
	return said
}

// Failures says what went wrong in a compaction that was completed.
func Failures(p Printer, list []*abi.Error) { human{p}.failures(list) }

// human writes parts of a report.
type human struct{ Printer }

// money says what it cost, and what of the provider's cache survives.
func (h human) money(r *kagewasm.Report) {
	h.models(r)
	if !r.Compacted {
		return
	}
	c := &r.Metrics.Cache
	line := fmt.Sprintf("%s of %s tokens of the request before still stand at the beginning", Number(c.PrefixTokens),
		Number(c.PreviousTokens))
	if r.Receipt != nil && r.Receipt.PaybackCalls >= 0 {
		line += fmt.Sprintf("; pays for itself after %s calls", Number(r.Receipt.PaybackCalls))
	}
	h.field("cache", "%s", line)
}

// models says what the model that wrote the summary cost, and those that plugins asked.
func (h human) models(r *kagewasm.Report) {
	field, own := h.labelled("compactor"), r.Cost.Compactor
	say := func(model, asked string, u *abi.ModelUsage, usd float64, unknown bool) {
		price := fmt.Sprintf("$%.4f", usd)
		if unknown {
			price = "at an unknown price"
		}
		field("%s%s: %s tokens in, %s out, %s", model, asked, Number(u.InputTokens), Number(u.OutputTokens), price)
	}
	asked := lists.Filter(r.Hooks, func(o hooks.Outcome) bool { return o.Model != nil })
	for i := range asked {
		own -= asked[i].Model.Cost
	}
	if u := r.Cost.Usage; u != nil && u.InputTokens+u.OutputTokens > 0 {
		say(r.Cost.Model, "", u, max(0, own), r.Cost.PriceUnknown)
	}
	for i := range asked {
		o := &asked[i]
		say(cmp.Or(o.Model.Model, "a model"), fmt.Sprintf(" for %s (%s)", o.Plugin, o.Hook), o.Model, o.Model.Cost,
			o.Model.Unpriced())
	}
}

func (h human) verdict(r *kagewasm.Report) safe {
	s := green
	switch {
	case r.Fallback || r.ReasonCode == abi.ReasonPinnedExceedTarget || r.ReasonCode == abi.ReasonCurrentTurnExceedsTarget:
		s = yellow
	case !r.Compacted:
		s = cyan
	}
	text := string(r.ReasonCode)
	if r.Fallback {
		text += ", by fallback"
	}
	return safef("%s: %s", h.paint(s, text), r.Reason)
}

// bar draws how full the window is, before and after.
func (h human) bar(r *kagewasm.Report) safe {
	const width = 24
	cells := func(tokens int) int { return min(width, (tokens*width+r.Window-1)/r.Window) }
	before, after := cells(r.TokensBefore), cells(r.TokensAfter)
	full := strings.Repeat("█", after) + strings.Repeat("░", max(0, before-after)) +
		strings.Repeat("·", width-max(before, after))
	percent := func(n int) string { return fmt.Sprintf("%.0f%%", 100*float64(n)/float64(r.Window)) }
	return safef("%s %s → %s", h.paint(cyan, full), percent(r.TokensBefore), percent(r.TokensAfter))
}

func (h human) hooks(list []hooks.Outcome) {
	field := h.labelled("hooks")
	for _, o := range list {
		s := green
		if o.Error != nil {
			s = red
		}
		line := safef("%-16s %-12s %s  %.0f ms, %s", o.Plugin, o.Hook, h.paint(s, fmt.Sprintf("%-9s", o.Outcome)),
			o.MS, bytesOf(o.PeakMemoryBytes))
		if o.Until != "" {
			line += safef(", until %s", o.Until)
		}
		if calls := hostCalls(o.HostCalls); calls != "" {
			line += safef(", %s", calls)
		}
		field("%s", line)
		for _, w := range o.Warnings {
			field("  %s", h.paint(yellow, "warning: "+w))
		}
		for _, l := range o.Logs[:min(len(o.Logs), maxLogLines)] {
			field("  %s", h.paint(dim, string(l.Level)+": "+shortened(l.Message, 100)))
		}
		if more := len(o.Logs) - maxLogLines + o.LogsDropped; more > 0 {
			field("  %s", h.paint(dim, fmt.Sprintf("… and %d more lines (see --report)", more)))
		}
	}
}

// maxLogLines of a call are shown to a person.
const maxLogLines = 5

func hostCalls(calls map[abi.Op]int) string {
	n := 0
	for _, k := range calls {
		n += k
	}
	if n == 0 {
		return ""
	}
	return Plural(n, "host call")
}

func (h human) retained(facts []hooks.Fact) {
	const show = 5
	field := h.labelled("retained")
	for i, f := range facts {
		if i == show {
			field("… and %d more", len(facts)-show)
			return
		}
		field("%s: %s", f.Plugin, shortened(f.Text, 90))
	}
}

func (h human) failures(list []*abi.Error) {
	field := h.labelled("failures")
	for _, f := range list {
		text, _, more := strings.Cut(f.Error(), "\n")
		if more {
			text += " … (see --report)"
		}
		field("%s %s", h.paint(red, string(f.Code)), text)
		if f.Hint != "" {
			field("  %s", h.paint(dim, f.Hint))
		}
	}
}

// summary shows how the note begins, and what a compactor says of it to people.
func (h human) summary(r *kagewasm.Report) {
	if r.Summary != "" && r.Compacted {
		h.excerpt("note to the model", r.Summary, 10)
	}
	if r.AuditSummary != "" {
		h.excerpt("the compactor on its list", r.AuditSummary, 5)
	}
}

// injected shows what plugins put before the model: what was remembered.
func (h human) injected(result *kagewasm.Result) {
	for i := range result.Messages {
		m := &result.Messages[i]
		if m.Kind != abi.KindInjected || !slices.Contains(result.Report.Inserted, m.ID) {
			continue
		}
		if text, ok := abi.Unfence(m.Text()); ok {
			h.excerpt("injected by plugins", text, 5)
		}
	}
}

// excerpt shows the first lines of a text.
func (h human) excerpt(title, text string, lines int) {
	width := 110
	if h.Width > 0 {
		width = max(20, min(width, h.Width-len("  | ")))
	}
	h.Linef("%s", h.paint(bold, title))
	n := 0
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line == "" {
			continue
		}
		if n++; n <= lines {
			h.Linef("  %s %s", h.paint(dim, "│"), shortened(line, width))
		}
	}
	if n > lines {
		h.Linef("  %s", h.paint(dim, fmt.Sprintf("… %d more lines", n-lines)))
	}
}

func shortID(id string) string { return shortened(id, 24) }

// idRange names a list of ids by its ends.
func idRange(ids []string) string {
	switch len(ids) {
	case 0:
		return "none"
	case 1:
		return "1 message (" + shortID(ids[0]) + ")"
	}
	return fmt.Sprintf("%s messages (%s … %s)", Number(len(ids)), shortID(ids[0]), shortID(ids[len(ids)-1]))
}
