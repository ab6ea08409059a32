package main

import (
	"fmt"
	"slices"
	"strings"

	json "github.com/goccy/go-json"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/kit/check"
)

func (f *runFlags) show(e env, r *runReport, out []byte, err error) error {
	if f.asJSON {
		switch {
		case len(out) == 0: // nothing to say
		case json.Valid(out):
			r.Output = json.RawMessage(out)
		default:
			r.Output = string(out)
		}
		if perr := printJSON(e.stdout, r); perr != nil {
			return perr
		}
		return err
	}
	if err == nil {
		if _, werr := fmt.Fprintln(e.stdout, strings.TrimRight(string(out), "\n")); werr != nil {
			return werr
		}
	}
	r.tell(printer{w: e.stderr, color: e.color})
	return err
}

// tell says for a person what the calls used and logged.
func (r *runReport) tell(p printer) {
	p.linef("%s %s of %s", p.paint(bold, r.Hook), r.Digest, r.Plugin)
	p.field("time", "%s of %s ms", callTimes(r.MS, r.CallStats.MS), number(r.Limits.TimeoutMS))
	p.field("memory", "%s of %d MiB", bytesOf(r.CallStats.PeakMemoryBytes), r.Limits.MemoryMB)
	p.field("bytes", "%s in, %s out of %s", bytesOf(r.CallStats.InputBytes), bytesOf(r.CallStats.OutputBytes), bytesOf(r.Limits.OutputBytes))
	r.showCode(p)
	r.showCalls(p)
	for _, w := range r.CallStats.Warnings {
		p.field("warning", "%s", abi.Defuse(w))
	}
	for _, l := range r.CallStats.Logs {
		p.field("log "+string(l.Level), "%s", abi.Defuse(l.Message))
	}
	if n := r.CallStats.LogBytes; n > 0 {
		p.field("log", "%s of %s", bytesOf(n), bytesOf(r.Limits.LogBytes))
	}
	if r.CallStats.LogsDropped > 0 {
		p.field("log", "%d lines dropped: over the limit", r.CallStats.LogsDropped)
	}
}

// showCalls shows the host calls, each beside what bounds it.
func (r *runReport) showCalls(p printer) {
	s := &r.CallStats
	total := 0
	for _, op := range sortedOps(s.HostCalls) {
		total += s.HostCalls[op]
		of := ""
		switch {
		case op == abi.OpHTTP:
			of = fmt.Sprintf(": %d requests of %s, %s (%s a body)", s.HTTPRequests, number(int64(r.Limits.HTTPRequests)), bytesOf(s.HTTPBytes), bytesOf(r.Limits.HTTPBytes))
		case op == abi.OpModelComplete && s.Model != nil:
			of = fmt.Sprintf(": %d completions of %s, %d tokens in, %d out", s.Model.Calls, number(int64(r.Limits.ModelCalls)), s.Model.InputTokens, s.Model.OutputTokens)
		}
		p.field("host call", "%s × %d%s", op, s.HostCalls[op], of)
	}
	if total > 0 {
		p.field("", "%s of %s host calls, %s of %s", number(int64(total)), number(int64(r.Limits.HostCalls)), bytesOf(s.HostCallBytes), bytesOf(r.Limits.HostCallBytes))
	}
}

// showCode shows what the guest's code used, where the engine counts it.
func (r *runReport) showCode(p printer) {
	s := &r.CallStats
	if s.Fuel == 0 {
		return
	}
	allowed := ""
	if r.Limits.Fuel > 0 {
		allowed = " of " + number(r.Limits.Fuel)
	}
	p.field("fuel", "%s%s", number(s.Fuel), allowed)
	p.field("stack", "%s of %s", bytesOf(s.StackBytes), bytesOf(r.Limits.StackBytes))
	if s.TableElements > 0 {
		p.field("tables", "%s elements of %s", number(s.TableElements), number(int64(r.Limits.TableElements)))
	}
}

func callTimes(ms []float64, last float64) string {
	if len(ms) < 2 {
		return fmt.Sprintf("%.2f", last)
	}
	t := check.TimesOf(ms)
	return fmt.Sprintf("%d calls: median %.2f ms, fastest %.2f, slowest %.2f", len(ms), t.P50, slices.Min(ms), t.Max)
}

func sortedOps(calls map[abi.Op]int) []abi.Op {
	var ops []abi.Op
	for op := range calls {
		ops = append(ops, op)
	}
	slices.Sort(ops)
	return ops
}
