package ui

import (
	"fmt"
	"strings"

	"github.com/kagewasm/kagewasm/internal/folder"
	"github.com/kagewasm/kagewasm/store/kv"
)

// actions lists what a copy counts, in the order in which it is said.
var actions = []struct {
	folder.Action
	word  string
	style style
}{
	{folder.Added, "added", green}, {folder.Replaced, "replaced", yellow}, {folder.KeptBoth, "kept both", yellow},
	{folder.Unchanged, "unchanged", dim}, {folder.Skipped, "skipped", red},
}

// Copied says what a copy did; done is that in words.
func Copied(p Printer, done string, r *folder.Report) {
	var counts []string
	for _, a := range actions {
		if n := r.Count(a.Action); n > 0 {
			counts = append(counts, Number(n)+" "+a.word)
		}
	}
	if len(counts) == 0 {
		counts = []string{"no files"}
	}
	p.Linef("%s: %s", done, strings.Join(counts, ", "))
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
			p.Linef("  %s  %s", p.paint(a.style, fmt.Sprintf("%-9s", a.word)), line)
		}
	}
	if r.Count(folder.KeptBoth) > 0 {
		p.Linef("with --replace files take the place of what is stored by their names")
	}
	if r.Others > 0 {
		p.Linef("besides: %s that the folder has not, which stay: kagewasm memory delete forgets them",
			Plural(r.Others, "text"))
	}
}

// Spaces lists what plugins keep.
func Spaces(p Printer, spaces []kv.Space) {
	if len(spaces) == 0 {
		p.Linef("no plugin keeps anything here")
		return
	}
	var t table
	t.head("plugin", "values", "size")
	for _, s := range spaces {
		t.row(s.Name, Number(s.Keys), bytesOf(s.Bytes))
	}
	t.print(p)
}

// Health is what was found in the folder of a state.
type Health struct {
	Dir        string `json:"state"`
	Namespaces int    `json:"namespaces"`
	Values     int    `json:"values"`
	// Problems is what is wrong, in the order in which it matters.
	Problems []Problem `json:"problems"`
}

// Problem is something that is wrong with a state.
type Problem struct {
	// Where is a path, or a namespace and a key.
	Where string `json:"where"`
	What  string `json:"what"`
	// Repair is what a repair does, or did; empty where it can do nothing.
	Repair   string `json:"repair,omitempty"`
	Repaired bool   `json:"repaired,omitempty"`
	// Fix is what a person can do.
	Fix string `json:"fix,omitempty"`
}

// Left is how many problems are left.
func (h *Health) Left() (n int) {
	for _, q := range h.Problems {
		if !q.Repaired {
			n++
		}
	}
	return n
}

// Healthy says what was found in a state.
func Healthy(p Printer, h *Health) {
	for _, q := range h.Problems {
		mark := p.paint(red, "problem ")
		if q.Repaired {
			mark = p.paint(green, "repaired")
		}
		p.Linef("%s  %s: %s", mark, q.Where, q.What)
		if q.Repair != "" {
			p.Linef("  %s", p.paint(dim, "repair: "+q.Repair))
		}
		if q.Fix != "" && !q.Repaired {
			p.Linef("  %s", p.paint(dim, q.Fix))
		}
	}
	if len(h.Problems) == 0 {
		p.Linef("%s: nothing is wrong", h.Dir)
	}
	p.Linef("%s, %s", Plural(h.Namespaces, "namespace"), Plural(h.Values, "value"))
}

// Forgotten is what was deleted of what a plugin keeps.
type Forgotten struct {
	Namespace string   `json:"namespace"`
	Keys      []string `json:"keys"`
	// Copies are those of the host, of what the values of the keys said.
	Copies []string `json:"copies"`
}

// Forgot says what was deleted.
func Forgot(p Printer, f *Forgotten) {
	says := "deleted " + Plural(len(f.Keys), "value") + " of " + f.Namespace
	if n := len(f.Copies); n == 1 {
		says += ", and the copy of it"
	} else if n > 1 {
		says += ", and " + Number(n) + " copies"
	}
	p.Linef("%s", says)
	for _, key := range append(f.Keys, f.Copies...) {
		p.Linef("  %s", key)
	}
}
