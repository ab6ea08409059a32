package check

import (
	"strings"

	"github.com/kagewasm/kagewasm/abi"
)

// Usage is the most that a call used of one limit.
type Usage struct {
	// Limit is its name in a manifest.
	Limit string `json:"limit"`
	Used  int64  `json:"used"`
	// Allowed is 0 where there is no bound.
	Allowed int64 `json:"allowed,omitempty"`
	// Rule that made the call.
	Rule string `json:"rule"`
}

// Share returns Used as a share of Allowed, 0 where there is no bound.
func (u Usage) Share() float64 {
	if u.Allowed == 0 {
		return 0
	}
	return float64(u.Used) / float64(u.Allowed)
}

// At most maxWarned different warnings are reported.
const maxWarned = 10

// meter notes what calls use.
type meter struct {
	rule string // that makes the calls
	most []Usage
	ops  map[abi.Op]int
	// refusal is the first warning of the host in the last call that failed
	refusal string
	// asked for a compaction, and gave a summary or a cancel
	requested, summarized bool
	// answered at all, and with a list of messages
	answered, listed bool
	// warned maps each warning of the host in a call that went well to the rule
	// that met it first
	warned map[string]string
}

// note takes in the figures of one call.
func (m *meter) note(s abi.CallStats, err error) {
	if err != nil {
		m.refusal = strings.Join(s.Warnings[:min(len(s.Warnings), 1)], "")
	}
	if m.ops == nil {
		m.ops, m.warned = make(map[abi.Op]int), make(map[string]string)
	}
	for _, w := range s.Warnings {
		if _, known := m.warned[w]; !known && err == nil && len(m.warned) < maxWarned {
			m.warned[w] = m.rule
		}
	}
	calls := 0
	for op, n := range s.HostCalls {
		m.ops[op] += n
		calls += n
	}
	completions := 0
	if s.Model != nil {
		completions = s.Model.Calls
	}
	l := s.Limits
	for i, u := range []Usage{
		{Limit: "fuel", Used: s.Fuel, Allowed: l.Fuel},
		{Limit: "timeout_ms", Used: int64(s.MS), Allowed: int64(l.TimeoutMS)},
		{Limit: "memory_mb", Used: (s.PeakMemoryBytes + 1<<20 - 1) >> 20, Allowed: int64(l.MemoryMB)},
		{Limit: "stack_bytes", Used: s.StackBytes, Allowed: int64(l.StackBytes)},
		{Limit: "table_elements", Used: s.TableElements, Allowed: int64(l.TableElements)},
		{Limit: "output_bytes", Used: int64(s.OutputBytes), Allowed: int64(l.OutputBytes)},
		{Limit: "log_bytes", Used: int64(s.LogBytes), Allowed: int64(l.LogBytes)},
		{Limit: "host_calls", Used: int64(calls), Allowed: int64(l.HostCalls)},
		{Limit: "host_call_bytes", Used: s.HostCallBytes, Allowed: int64(l.HostCallBytes)},
		{Limit: "http_requests", Used: int64(s.HTTPRequests), Allowed: int64(l.HTTPRequests)},
		{Limit: "model_calls", Used: int64(completions), Allowed: int64(l.ModelCalls)},
	} {
		u.Rule = m.rule
		if len(m.most) <= i {
			m.most = append(m.most, u)
		} else if u.Used > m.most[i].Used {
			m.most[i] = u
		}
	}
}

func (m *meter) said(out *abi.Output) {
	if out != nil && !out.IsZero() {
		m.answered, m.listed = true, m.listed || out.Messages != nil
		m.requested = m.requested || out.RequestCompaction != nil
		m.summarized = m.summarized || out.Summary != "" || out.Cancel
	}
}

// list returns the limits of which anything was used.
func (m *meter) list() []Usage {
	list := []Usage{}
	for _, u := range m.most {
		if u.Used > 0 {
			list = append(list, u)
		}
	}
	return list
}
