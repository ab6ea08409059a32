// Package memory is an observer that keeps a session's facts as markdown.
//
// Before a compaction it reads the messages that are about to go and picks out,
// by form and cue words and without a model, what is worth keeping: decisions,
// preferences, requirements, findings, errors with what fixed them. Each is a
// note in the plugin's storage, in a layout that other tools read as theirs:
//
//	MEMORY.md                           an index, a line with a link for each note
//	memory/use-sqlite-1f0c9a72be.md     one fact, with YAML front matter
//	memory/2026-11-21.md                a log of the day
//	seen.txt                            the names of all notes there ever were
//
// Claude Code reads MEMORY.md and the name, description and type of notes;
// OpenClaw reads MEMORY.md, the logs and whatever is in memory/; basic-memory
// reads title, type, permalink and tags, and a note's lines as observations and
// relations. The folders facts/ and journal/ of version 0.1.0 are read where
// they are.
//
// Notes belong to the person who reads them. One that anybody has edited is
// never written again, one that was deleted does not come back, and any other
// markdown in the folder is recalled like the plugin's own. A fact that is met
// again becomes a line of its note; one that may contradict another says so,
// and both stay. Of all notes those that bear on the current work are injected.
//
// Start with [Plugin]. It never fails a call: without storage it hands facts
// to the host alone, and what could not be written it says in its answer. Secrets are taken out of everything it says.
package memory

import (
	"cmp"

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
	found, changed := extract(in)
	notes := openNotes(c)
	news := notes.sort(found, in.Config.Int("max_stored", defaultStored))
	if !in.Trigger.DryRun {
		notes.add(news)
		if text := entry(in, news, changed); text != "" && in.Config.Bool("journal", true) {
			notes.unstored = cmp.Or(notes.unstored, writeDaily(c, text))
		}
	}
	out := &abi.Output{Unstored: notes.unstored}
	for _, f := range news.fresh {
		out.Retain = append(out.Retain, f.text())
	}
	if in.Config.Bool("inject", true) {
		out.Inject = recall(c, notes)
	}
	return out, nil
}

func postCompact(c *guest.Call) (*abi.Output, error) {
	in := c.Input
	if r := in.Record; r != nil && !r.DryRun && !in.Trigger.DryRun && in.Config.Bool("journal", true) {
		return &abi.Output{Unstored: writeDaily(c, outcome(in))}, nil
	}
	return nil, nil
}
