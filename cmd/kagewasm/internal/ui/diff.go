package ui

import (
	"fmt"

	"github.com/kagewasm/kagewasm/internal/plugindiff"
	"github.com/kagewasm/kagewasm/internal/survey"
)

// Diff is what `kagewasm diff --json` prints.
type Diff struct {
	*plugindiff.Update
	// Behaviour says what both do differently to sessions; Survey has what the new
	// one does.
	Behaviour *survey.Comparison `json:"behaviour"`
	Survey    *survey.Survey     `json:"survey"`
	Samples   bool               `json:"samples,omitempty"`
	Skipped   []survey.Skipped   `json:"skipped,omitempty"`
}

// Differences shows what a new version of a plugin may do and does that the old
// one does not; windows says which the sessions had.
func Differences(p Printer, r *Diff, windows string) {
	u := updated{p}
	u.head(r.Update)
	u.permissions(r.Update)
	p.withheld(r.Withheld)
	u.manifest(r.Update)
	behaviour := fmt.Sprintf("the same in %s", Plural(r.Behaviour.Same, "session"))
	if r.Behaviour.Differs() {
		behaviour = fmt.Sprintf("different in %d of %s", len(r.Behaviour.Sessions), Plural(len(r.Survey.Sessions), "session"))
	}
	if r.Samples {
		behaviour += " of the conformance kit"
	}
	p.Linef("%s %s, %s", p.paint(bold, "behaviour"), behaviour, windows)
	surveyed{p}.show(r.Survey, r.Behaviour)
	was, now := &r.Behaviour.Totals.Old, &r.Behaviour.Totals.New
	if r.Old.Digest != r.New.Digest { // how long the same module takes says how busy the machine is
		p.field("cost", "fuel %s, time %s", change(float64(was.Fuel), float64(now.Fuel)), change(was.MS, now.MS))
	}
	p.skipped(r.Skipped)
}

// updated writes what a new version of a plugin changes, for a person.
type updated struct{ Printer }

// head says which modules these are.
func (p updated) head(u *plugindiff.Update) {
	name := func(v plugindiff.Version) safe {
		if v.Version == "" {
			return p.paint(bold, v.Name)
		}
		return safef("%s %s", p.paint(bold, v.Name), v.Version)
	}
	p.Linef("%s → %s", name(u.Old), name(u.New))
	p.field("old", "%s  %s", u.Old.Digest, bytesOf(u.Old.Size))
	p.field("new", "%s  %s", u.New.Digest, bytesOf(u.New.Size))
	if u.Old.Digest == u.New.Digest {
		p.Linef("the same module")
	}
}

// permissions lists what the new version may do and the old one may not.
func (p updated) permissions(u *plugindiff.Update) {
	if len(u.Permissions) == 0 {
		p.Linef("%s", p.paint(green, "no new permissions"))
		return
	}
	p.Linef("%s", p.paint(red, "NEW PERMISSIONS"))
	for _, n := range u.Permissions {
		p.field(string(n.Kind), "%s", p.permission(n))
	}
}

// withheld lists the capabilities that a plugin asks for and is not granted.
func (p Printer) withheld(capabilities []string) {
	for _, c := range capabilities {
		p.field("withheld", "%s", p.paint(yellow, c+": it asks for it, and is not granted it here (--grant)"))
	}
}

func (p updated) permission(n plugindiff.Permission) safe {
	line := p.paint(bold, n.Name)
	if n.New != "" {
		line += safef("  %s → %s", n.Old, n.New)
	}
	if n.Reason != "" {
		line += "  " + p.paint(dim, n.Reason)
	}
	return line
}

// manifest shows what else changed.
func (p updated) manifest(u *plugindiff.Update) {
	field := p.labelled("changed")
	for _, c := range u.Changes {
		switch {
		case c.Old == "":
			field("%s: new: %s", c.What, c.New)
		case c.New == "":
			field("%s: gone: %s", c.What, c.Old)
		default:
			field("%s: %s → %s", c.What, shortened(c.Old, 80), shortened(c.New, 80))
		}
	}
}
