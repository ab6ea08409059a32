package abi

import (
	"cmp"
	"fmt"
	"iter"
	"time"
)

// PlanTime is the default time limit for the plan of a compaction: for a plugin that
// proposes one, and for the model that writes a summary.
const PlanTime = 5 * time.Minute

// Limits bound one call of a plugin. The zero value of a field means the
// default. A manifest may lower a limit; only the operator may raise one.
type Limits struct {
	// TimeoutMS is the wall clock in milliseconds, instantiation included.
	// Default 10,000; [PlanTime] for a compactor, and where a model call or
	// compaction.summary is granted.
	TimeoutMS int `json:"timeout_ms,omitempty"`
	// MemoryMB is the memory in MiB. Default 64.
	MemoryMB int `json:"memory_mb,omitempty"`
	// OutputBytes is the length of the answer. Default 4 MiB.
	OutputBytes int `json:"output_bytes,omitempty"`
	// LogBytes is the length of all log lines. Default 64 KiB. What is over
	// is dropped, and the report says so.
	LogBytes int `json:"log_bytes,omitempty"`
	// ErrorBytes is the length of an error text. Default 4 KiB; longer ones
	// are cut.
	ErrorBytes int `json:"error_bytes,omitempty"`
	// HostCalls is how many host_calls are allowed. Default 10,000.
	HostCalls int `json:"host_calls,omitempty"`
	// HostCallBytes is what all requests and responses of host calls may hold
	// together. Default 64 MiB.
	HostCallBytes int `json:"host_call_bytes,omitempty"`
	// HTTPRequests is how many HTTP requests are allowed, each redirect being
	// one. Default 16.
	HTTPRequests int `json:"http_requests,omitempty"`
	// HTTPBytes is how long the body of one request, or of one response, may
	// be. Default 1 MiB.
	HTTPBytes int `json:"http_bytes,omitempty"`
	// ModelCalls is how many completions are allowed. Default 8.
	ModelCalls int `json:"model_calls,omitempty"`
	// StackBytes is how deep calls may nest, by the estimated size of their
	// frames, in bytes. Default 24 MiB.
	StackBytes int `json:"stack_bytes,omitempty"`
	// TableElements is how many elements all tables may have together. Default
	// 100,000. They count in the memory as well, with 16 bytes each.
	TableElements int `json:"table_elements,omitempty"`
	// ModuleBytes is the length of the module. Default 12 MiB, twice what the largest
	// of plugins in Go has; those in C, Rust or TinyGo have less than 1 MiB. An
	// interpreter inside may need more: at most 64 MiB.
	ModuleBytes int `json:"module_bytes,omitempty"`
	// Fuel is the budget of executed instructions, by weight, instantiation
	// included. It is the same on every machine. Default: none but the clock.
	Fuel int64 `json:"fuel,omitempty"`
}

// DefaultLimits are the limits of a call where nobody says otherwise.
func DefaultLimits() Limits {
	return Limits{
		TimeoutMS:   10_000,
		MemoryMB:    64,
		OutputBytes: 4 << 20,
		LogBytes:    64 << 10,
		ErrorBytes:  4 << 10,
		HostCalls:   10_000,

		HostCallBytes: 64 << 20,
		HTTPRequests:  16,
		HTTPBytes:     1 << 20,
		ModelCalls:    8,

		StackBytes:    24 << 20,
		TableElements: 100_000,
		ModuleBytes:   12 << 20,
	}
}

// limit is a limit by its name in a manifest.
type limit struct {
	name string
	of   func(*Limits) *int
}

var limits = []limit{
	{"timeout_ms", func(l *Limits) *int { return &l.TimeoutMS }},
	{"memory_mb", func(l *Limits) *int { return &l.MemoryMB }},
	{"output_bytes", func(l *Limits) *int { return &l.OutputBytes }},
	{"log_bytes", func(l *Limits) *int { return &l.LogBytes }},
	{"error_bytes", func(l *Limits) *int { return &l.ErrorBytes }},
	{"host_calls", func(l *Limits) *int { return &l.HostCalls }},
	{"host_call_bytes", func(l *Limits) *int { return &l.HostCallBytes }},
	{"http_requests", func(l *Limits) *int { return &l.HTTPRequests }},
	{"http_bytes", func(l *Limits) *int { return &l.HTTPBytes }},
	{"model_calls", func(l *Limits) *int { return &l.ModelCalls }},
	{"stack_bytes", func(l *Limits) *int { return &l.StackBytes }},
	{"table_elements", func(l *Limits) *int { return &l.TableElements }},
	{"module_bytes", func(l *Limits) *int { return &l.ModuleBytes }},
}

// All are the limits by their names in a manifest, but for fuel.
func (l Limits) All() iter.Seq2[string, int] {
	return func(yield func(string, int) bool) {
		for _, f := range limits {
			if !yield(f.name, *f.of(&l)) {
				return
			}
		}
	}
}

// Or returns l with the limits that are zero taken from def.
func (l Limits) Or(def Limits) Limits {
	for _, f := range limits {
		if v := f.of(&l); *v == 0 {
			*v = *f.of(&def)
		}
	}
	l.Fuel = cmp.Or(l.Fuel, def.Fuel)
	return l
}

// Lower returns l with the limits that m sets lower. The zero fields of l say
// nothing to compare with and stay: resolve l with [Limits.Or] first.
func (l Limits) Lower(m Limits) Limits {
	for _, f := range limits {
		if v, lower := f.of(&l), *f.of(&m); lower > 0 && lower < *v {
			*v = lower
		}
	}
	if m.Fuel > 0 && (l.Fuel == 0 || m.Fuel < l.Fuel) {
		l.Fuel = m.Fuel
	}
	return l
}

// negative names a limit that is less than nothing, with its value, or returns "".
func (l Limits) negative() string {
	for name, v := range l.All() {
		if v < 0 {
			return fmt.Sprintf("%s: %d", name, v)
		}
	}
	if l.Fuel < 0 {
		return fmt.Sprintf("fuel: %d", l.Fuel)
	}
	return ""
}

const (
	// MaxRetained is how many facts an output may retain; the host leaves out
	// the rest and says so.
	MaxRetained = 1_000
	// MaxOutputIDs is how many ids an output may name, in all its lists.
	MaxOutputIDs = 200_000
	// MaxRequestItems is how many texts, ids or messages one host call may
	// hold. More are refused with the code quota.
	MaxRequestItems = 200_000
)
