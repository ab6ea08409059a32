package ui

import (
	"maps"
	"slices"
	"strings"

	"github.com/kagewasm/kagewasm/internal/rerun"
)

// Rerun says what came of a compaction that was made again.
func Rerun(p Printer, r *rerun.Report) {
	if r.Identical {
		p.Linef("%s of %s: identical, %s", r.Compaction, r.Session, Plural(r.Messages, "message"))
	}
	for _, d := range r.Differences {
		p.Linef("%s", d)
	}
	if r.Answers > 0 {
		p.Linef("%s of models from the log", Plural(r.Answers, "answer"))
	}
	if len(r.Ran) > 0 {
		p.Linef("run again, with what their host calls were answered: %s", strings.Join(r.Ran, ", "))
	}
	if r.Plugins > 0 {
		p.Linef("%s of plugins from the log", Plural(r.Plugins, "answer"))
	}
	for _, name := range slices.Sorted(maps.Keys(r.NotRun)) {
		p.Linef("  %s was not run: %s", name, r.NotRun[name])
	}
}
