package survey

import (
	kagewasm "github.com/kagewasm/kagewasm"
	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/hooks"
)

// Outcome is the result of one session.
type Outcome struct {
	Session string `json:"session"`
	// Report is the pipeline's own: what was kept and superseded, the summary,
	// pins, failures, quality, each call of the plugin with its time, fuel,
	// memory, host calls and warnings.
	Report kagewasm.Report `json:"report"`
	// Injected are the texts that plugins put before the model, without the
	// frames they stand in.
	Injected []string `json:"injected"`
	// Use sums up the plugin's calls.
	Use Use `json:"use"`
	// Error is what the compaction returned, such as exceeds_window; nil where
	// it returned none.
	Error *abi.Error `json:"error,omitempty"`
}

// Failures is the whole chain: of the report, and what the compaction returned.
func (o *Outcome) Failures() []*abi.Error {
	if o.Error == nil {
		return o.Report.Failures
	}
	return append(o.Report.Failures[:len(o.Report.Failures):len(o.Report.Failures)], o.Error)
}

// Use sums up calls of a plugin.
type Use struct {
	Calls    int     `json:"calls"`
	MS       float64 `json:"ms"`
	Fuel     int64   `json:"fuel"`
	Warnings int     `json:"warnings"`
	// PeakMemoryBytes is the peak of the call that held the most.
	PeakMemoryBytes int64          `json:"peak_memory_bytes"`
	HostCalls       map[abi.Op]int `json:"host_calls,omitempty"`
}

func useOf(calls []hooks.Outcome) (u Use) {
	for _, c := range calls {
		u.add(Use{Calls: 1, MS: c.MS, Fuel: c.Fuel, Warnings: len(c.Warnings), PeakMemoryBytes: c.PeakMemoryBytes,
			HostCalls: c.HostCalls})
	}
	return u
}

func (u *Use) add(v Use) {
	u.Calls += v.Calls
	u.MS += v.MS
	u.Fuel += v.Fuel
	u.Warnings += v.Warnings
	u.PeakMemoryBytes = max(u.PeakMemoryBytes, v.PeakMemoryBytes)
	for op, n := range v.HostCalls {
		if u.HostCalls == nil {
			u.HostCalls = make(map[abi.Op]int)
		}
		u.HostCalls[op] += n
	}
}

// Totals are those of all sessions of a survey.
type Totals struct {
	Sessions  int `json:"sessions"`
	Compacted int `json:"compacted"`
	Fallbacks int `json:"fallbacks"`
	// Failed counts the sessions with a failure.
	Failed       int `json:"failed"`
	TokensBefore int `json:"tokens_before"`
	TokensAfter  int `json:"tokens_after"`
	// Messages kept, superseded and pinned, and texts injected.
	Kept       int `json:"kept"`
	Superseded int `json:"superseded"`
	Pinned     int `json:"pinned"`
	Injected   int `json:"injected"`
	// FailureRetention and Completeness are the means over what was compacted;
	// 1 where nothing was.
	FailureRetention float64 `json:"failure_retention"`
	Completeness     float64 `json:"completeness"`
	Use
}

func totals(outcomes []Outcome) Totals {
	t := Totals{Sessions: len(outcomes), FailureRetention: 1, Completeness: 1}
	var retention, completeness float64
	for i := range outcomes {
		o := &outcomes[i]
		r := &o.Report
		if r.Compacted {
			t.Compacted++
			retention += r.Metrics.FailureRetention
			completeness += r.Metrics.Completeness
		}
		if r.Fallback {
			t.Fallbacks++
		}
		if len(o.Failures()) > 0 {
			t.Failed++
		}
		t.TokensBefore += r.TokensBefore
		t.TokensAfter += r.TokensAfter
		t.Kept += len(r.Kept)
		t.Superseded += len(r.Superseded)
		t.Pinned += len(r.Pinned)
		t.Injected += len(o.Injected)
		t.add(o.Use)
	}
	if n := float64(t.Compacted); n > 0 {
		t.FailureRetention, t.Completeness = retention/n, completeness/n
	}
	return t
}
