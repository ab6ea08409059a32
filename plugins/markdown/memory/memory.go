// Package memory is an observer that keeps a session's facts as markdown.
//
// Before a compaction it reads the messages that are about to go and picks out,
// by form and cue words and without a model, what is worth keeping: decisions,
// preferences, requirements, findings, errors with what fixed them, files that
// changed. Each becomes a note, in the plugin's storage:
//
//	facts/use-sqlite-1f0c9a72be.md   one fact, with YAML front matter
//	MEMORY.md                        an index: a line with a link for each
//	journal/2026-11-21.md            what was noted when, and how it went
//
// Notes belong to the person who reads them. One that exists is never written
// again, one that was deleted does not come back while the index names it, and
// files somebody else put there are recalled like its own. Of all notes those
// that bear on the current work are injected; see rank.
//
// Start with [Plugin]. It never fails a call: without storage it hands facts
// to the host alone. Key-shaped strings are cut out of everything it says.
package memory

import (
	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/abi/guest"
)

// Plugin is the observer.
var Plugin = guest.Plugin{PreCompact: preCompact, PostCompact: postCompact}

// The defaults of the knobs in plugin.yaml.
const (
	defaultInjectTokens = 600
	defaultFacts        = 20
	defaultMinLength    = 16
	defaultStored       = 2000
)

func preCompact(c *guest.Call) (*abi.Output, error) {
	in := c.Input
	found := extract(in)
	notes := openNotes(c)
	fresh := notes.fresh(found, in.Config.Int("max_stored", defaultStored))
	if !in.Trigger.DryRun {
		notes.add(fresh)
		if in.Config.Bool("journal", true) && len(fresh) > 0 {
			notes.journal(entry(in, fresh))
		}
	}
	out := new(abi.Output)
	for _, f := range fresh {
		out.Retain = append(out.Retain, f.text)
	}
	if in.Config.Bool("inject", true) {
		out.Inject = recall(c, append(notes.read(), fresh...))
	}
	return out, nil
}

func postCompact(c *guest.Call) (*abi.Output, error) {
	in := c.Input
	if r := in.Record; r != nil && !r.DryRun && !in.Trigger.DryRun && in.Config.Bool("journal", true) {
		openNotes(c).journal(outcome(in))
	}
	return nil, nil
}
