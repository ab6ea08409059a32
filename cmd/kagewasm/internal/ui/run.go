package ui

import (
	"fmt"
	"maps"
	"slices"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/bench"
)

// Run is what `kagewasm run --json` prints.
type Run struct {
	Plugin string `json:"plugin"`
	Digest string `json:"digest"`
	Engine string `json:"engine"`
	Hook   string `json:"hook"`
	// Output of the last call: a document, or text where it is none.
	Output any `json:"output"`
	// MS of each call.
	MS []float64 `json:"ms"`
	// What follows is of the last call.
	abi.CallStats
	Limits abi.Limits `json:"limits"`
	Error  *abi.Error `json:"error,omitempty"`
}

// Calls says what the calls of a run used and logged.
func Calls(p Printer, r *Run) {
	p.Linef("%s %s of %s", p.paint(bold, r.Hook), r.Digest, r.Plugin)
	p.field("time", "%s of %s ms", callTimes(r.MS, r.CallStats.MS), Number(r.Limits.TimeoutMS))
	p.field("memory", "%s of %d MiB", bytesOf(r.CallStats.PeakMemoryBytes), r.Limits.MemoryMB)
	p.field("bytes", "%s in, %s out of %s", bytesOf(r.CallStats.InputBytes), bytesOf(r.CallStats.OutputBytes),
		bytesOf(r.Limits.OutputBytes))
	r.showCode(p)
	r.showCalls(p)
	for _, w := range r.CallStats.Warnings {
		p.field("warning", "%s", w)
	}
	if e := r.CallStats.Unstored; e != nil {
		p.field("memory", "%s", p.paint(red, e.Message))
		p.field("", "%s", p.paint(dim, e.Hint))
	}
	for _, l := range r.CallStats.Logs {
		p.field("log "+string(l.Level), "%s", l.Message)
	}
	if n := r.CallStats.LogBytes; n > 0 {
		p.field("log", "%s of %s", bytesOf(n), bytesOf(r.Limits.LogBytes))
	}
	if r.CallStats.LogsDropped > 0 {
		p.field("log", "%d lines dropped: over the limit", r.CallStats.LogsDropped)
	}
}

// showCalls shows the host calls, each beside what bounds it.
func (r *Run) showCalls(p Printer) {
	s := &r.CallStats
	total := 0
	for _, op := range slices.Sorted(maps.Keys(s.HostCalls)) {
		total += s.HostCalls[op]
		of := ""
		switch {
		case op == abi.OpHTTP:
			of = fmt.Sprintf(": %d requests of %s, %s (%s a body)", s.HTTPRequests, Number(int64(r.Limits.HTTPRequests)),
				bytesOf(s.HTTPBytes), bytesOf(r.Limits.HTTPBytes))
		case op == abi.OpModelComplete && s.Model != nil:
			of = fmt.Sprintf(": %d completions of %s, %d tokens in, %d out", s.Model.Calls, Number(int64(r.Limits.ModelCalls)),
				s.Model.InputTokens, s.Model.OutputTokens)
		}
		p.field("host call", "%s × %d%s", op, s.HostCalls[op], of)
	}
	if total > 0 {
		p.field("", "%s of %s host calls, %s of %s", Number(int64(total)), Number(int64(r.Limits.HostCalls)),
			bytesOf(s.HostCallBytes), bytesOf(r.Limits.HostCallBytes))
	}
}

// showCode shows what the guest's code used, where the engine counts it.
func (r *Run) showCode(p Printer) {
	s := &r.CallStats
	if s.Fuel == 0 {
		return
	}
	allowed := ""
	if r.Limits.Fuel > 0 {
		allowed = " of " + Number(r.Limits.Fuel)
	}
	p.field("fuel", "%s%s", Number(s.Fuel), allowed)
	p.field("stack", "%s of %s", bytesOf(s.StackBytes), bytesOf(r.Limits.StackBytes))
	if s.TableElements > 0 {
		p.field("tables", "%s elements of %s", Number(s.TableElements), Number(int64(r.Limits.TableElements)))
	}
}

func callTimes(ms []float64, last float64) string {
	if len(ms) < 2 {
		return fmt.Sprintf("%.2f", last)
	}
	t := bench.TimesOf(ms)
	return fmt.Sprintf("%d calls: median %.2f ms, fastest %.2f, slowest %.2f", len(ms), t.P50, slices.Min(ms), t.Max)
}
