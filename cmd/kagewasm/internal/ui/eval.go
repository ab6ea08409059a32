package ui

import (
	"fmt"
	"maps"
	"slices"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/bench"
	"github.com/kagewasm/kagewasm/internal/evidence"
)

// Eval is what `kagewasm eval recall --json` prints.
type Eval struct {
	// Memory is "ranking", or the plugin's name.
	Memory string `json:"memory"`
	*evidence.Result
	*EvalPlugin // where a plugin is measured
}

// EvalPlugin sums up the calls of a measured plugin.
type EvalPlugin struct {
	Plugin  string    `json:"plugin"`
	Version string    `json:"version,omitempty"`
	Digest  string    `json:"digest"`
	Retain  EvalCalls `json:"retain"` // a call is a session
	Recall  EvalCalls `json:"recall"` // a call is a question
	// What it stored, keys included, and what text there was, in bytes.
	StoredBytes int `json:"stored_bytes"`
	TextBytes   int `json:"text_bytes"`
	// Unnamed counts injections that hold no id of a message. Nothing they recall
	// counts.
	Unnamed int `json:"unnamed,omitempty"`
}

// EvalCalls are the calls of one kind.
type EvalCalls struct {
	evidence.Used
	bench.Times
}

// EvalCallsOf sums up calls.
func EvalCallsOf(calls []abi.CallStats) EvalCalls {
	used := evidence.UsedBy(calls)
	return EvalCalls{Used: used, Times: bench.TimesOf(used.MS)}
}

// Recall shows how much of the evidence is brought back.
func Recall(p Printer, r *Eval) {
	p.Linef("%s: %d conversations, %s turns, %s questions with evidence", p.paint(bold, r.Memory),
		r.Conversations, Number(r.Turns), Number(r.Questions))
	var t table
	t.head(string(r.Unit)+"s", "questions", "R@5", "R@10", "R@25", "R@50", "at 12%",
		fmt.Sprintf("at %s t", Number(r.Budget)), "")
	row := func(name string, c *evidence.Recall) {
		cells := []any{name, Number(c.Questions)}
		for _, share := range []float64{c.R5, c.R10, c.R25, c.R50, c.At12Pct, c.AtBudget} {
			cells = append(cells, fmt.Sprintf("%.3f", share))
		}
		t.row(append(cells, "")...)
	}
	for _, name := range slices.Sorted(maps.Keys(r.ByCategory)) {
		row(name, r.ByCategory[name])
	}
	row("overall", &r.Overall)
	t.print(p)
	s := &r.Sessions
	p.Linef("  sessions: any of them in the first 5 %.3f, 10 %.3f; all of them %.3f, %.3f (%s questions)", s.Any5,
		s.Any10, s.All5, s.All10, Number(s.Questions))
	if r.UnknownEvidence > 0 {
		p.field("warning", "%s", p.paint(yellow, fmt.Sprintf("questions name %s that are in no conversation: they count "+
			"as not found", Plural(r.UnknownEvidence, "turn"))))
	}
	if r.EvalPlugin != nil {
		showMeasured(p, r.EvalPlugin)
	}
}
func showMeasured(p Printer, r *EvalPlugin) {
	line := func(label string, c EvalCalls) {
		p.field(label, "%s calls: %s; at most %s memory, %s host calls",
			Number(c.Calls), timesLine(c.Times), bytesOf(c.PeakMemoryBytes), Number(c.MostHostCalls))
	}
	line("retain", r.Retain)
	line("recall", r.Recall)
	if r.Unnamed > 0 {
		p.field("warning", "%s", p.paint(yellow, fmt.Sprintf("%s injections name no message: a plugin that is measured "+
			"writes the id of each message beside what it recalls of it", Number(r.Unnamed))))
	}
	p.field("stored", "%s for %s of text", bytesOf(r.StoredBytes), bytesOf(r.TextBytes))
}
