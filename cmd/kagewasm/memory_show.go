package main

import (
	"fmt"
	"strings"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/store/folder"
)

// actions are what a report counts, in the order in which it says it.
var actions = []struct {
	folder.Action
	word  string
	style style
}{
	{folder.Added, "added", green}, {folder.Replaced, "replaced", yellow}, {folder.KeptBoth, "kept both", yellow},
	{folder.Unchanged, "unchanged", dim}, {folder.Skipped, "skipped", red},
}

// showCopy says what a copy did.
func (f *memoryFlags) showCopy(e env, done string, r *folder.Report) error {
	if f.asJSON {
		return printJSON(e.stdout, r)
	}
	showFiles(printer{w: e.stdout, color: e.color}, done, r)
	return nil
}

func showFiles(p printer, done string, r *folder.Report) {
	var counts []string
	for _, a := range actions {
		if n := r.Count(a.Action); n > 0 {
			counts = append(counts, number(n)+" "+a.word)
		}
	}
	if len(counts) == 0 {
		counts = []string{"no files"}
	}
	p.linef("%s: %s", abi.Defuse(done), strings.Join(counts, ", "))
	for _, f := range r.Files {
		for _, a := range actions {
			if f.Action != a.Action || f.Action == folder.Unchanged {
				continue
			}
			line := f.Name
			if f.Action == folder.KeptBoth {
				line += " as " + f.Key
			}
			if f.Why != "" {
				line += ": " + f.Why
			}
			p.linef("  %s  %s", p.paint(a.style, fmt.Sprintf("%-9s", a.word)), abi.Defuse(line))
		}
	}
}
