package ui

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/bench"
	"github.com/kagewasm/kagewasm/internal/lists"
)

// Bench is what `kagewasm bench --json` prints.
type Bench struct {
	*bench.Figures
	Baseline *bench.Comparison `json:"baseline,omitempty"`
	// Worse are the changes that --fail-over is about.
	Worse []bench.Change `json:"worse,omitempty"`
}

// Measured shows what calls took, and what that was before.
func Measured(p Printer, r *Bench) {
	p.Linef("%s %s  %s  %s", p.paint(bold, r.Plugin), cmp.Or(r.Version, "(no version)"), r.Hook,
		p.paint(dim, r.Digest))
	for _, m := range r.Inputs {
		showMeasurement(p, r, m)
	}
	if r.Baseline != nil {
		for _, note := range r.Baseline.Notes {
			p.Linef("  %s %s", p.paint(yellow, "note"), note)
		}
	}
}

func showMeasurement(p Printer, r *Bench, m bench.Measurement) {
	p.Linef("%s  %s", p.paint(bold, m.Input), p.paint(dim, bytesOf(m.Bytes)))
	change := func(measure string) safe { return r.change(p, m.Input, measure) }
	p.field("warm", "%s%s", timesLine(m.Warm), change("warm"))
	p.field("cold", "%s%s", timesLine(m.Cold), change("cold"))
	p.field("first call", "%.2f ms, the plugin's own start included", m.FirstMS)
	if m.Fuel > 0 {
		varies := safe("")
		if m.Varies {
			varies = p.paint(yellow, "  varies from call to call")
		}
		p.field("fuel", "%s%s%s", Number(m.Fuel), varies, change("fuel"))
	}
	p.field("memory", "%s%s", bytesOf(m.PeakMemoryBytes), change("memory"))
	p.field("output", "%s%s", bytesOf(m.OutputBytes), change("output"))
	if len(m.HostCalls) > 0 {
		calls := lists.Map(slices.Sorted(maps.Keys(m.HostCalls)), func(op abi.Op) string {
			return fmt.Sprintf("%s × %d", op, m.HostCalls[op])
		})
		p.field("host calls", "%s; %s", strings.Join(calls, ", "), bytesOf(m.HostCallBytes))
	}
}

func timesLine(t bench.Times) string {
	return fmt.Sprintf("p50 %.2f  p90 %.2f  p99 %.2f  max %.2f ms", t.P50, t.P90, t.P99, t.Max)
}

// change says how a figure differs from the baseline's.
func (r *Bench) change(p Printer, input, measure string) safe {
	if r.Baseline == nil {
		return ""
	}
	i := slices.IndexFunc(r.Baseline.Changes, func(c bench.Change) bool {
		return c.Input == input &&
			c.Measure == measure
	})
	if i < 0 {
		return ""
	}
	c := r.Baseline.Changes[i]
	by := change(c.Before, c.Now)
	switch {
	case c.Ratio == 1:
		return p.paint(dim, "  "+by)
	case c.Noise != "":
		return p.paint(dim, fmt.Sprintf("  no difference (%s: %s)", by, c.Noise))
	case c.Ratio > 1:
		s := yellow
		if slices.Contains(r.Worse, c) {
			s = red
		}
		return p.paint(s, "  "+by)
	}
	return p.paint(green, "  "+by)
}

// Worse is the failure of a plugin that takes more than it did.
func Worse(list []bench.Change, limits map[string]float64) error {
	var lines []string
	for _, c := range list {
		lines = append(lines, fmt.Sprintf("%s on %s: %.0f before, %.0f now (%s, %.0f%% allowed)", c.Measure, c.Input,
			c.Before, c.Now, change(c.Before, c.Now), 100*(limits[c.Measure]-1)))
	}
	return fmt.Errorf("more than the baseline allows:\n%s", strings.Join(lines, "\n"))
}
