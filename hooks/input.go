package hooks

import (
	"maps"
	"slices"

	"github.com/kagewasm/kagewasm/abi"
)

// isolated returns the input for one plugin: neither the host nor another plugin sees what the plugin
// assigns in it. The texts are shared, and so are the bytes of raw JSON and of content parts, which
// nobody may write to.
func isolated(in *abi.Input) *abi.Input {
	own := *in
	own.Config = maps.Clone(in.Config)
	own.Messages = slices.Clone(in.Messages)
	for i := range own.Messages {
		m := &own.Messages[i]
		m.ToolCalls = slices.Clone(m.ToolCalls)
		m.Meta = maps.Clone(m.Meta)
	}
	if in.Session.ContextWindow != nil {
		own.Session.ContextWindow = new(*in.Session.ContextWindow)
	}
	if in.Record != nil {
		r := *in.Record
		r.Superseded, r.Inserted = slices.Clone(r.Superseded), slices.Clone(r.Inserted)
		r.Failures = slices.Clone(r.Failures)
		for i, e := range r.Failures {
			r.Failures[i] = new(*e)
		}
		own.Record = &r
	}
	return &own
}
