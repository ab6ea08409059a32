package ui

import (
	"fmt"
	"strings"

	"github.com/kagewasm/kagewasm/strategies"
)

// Prepared is what `kagewasm compact --prepare --json` prints.
type Prepared struct {
	Path string `json:"-"`
	// Prepared is null where nothing can be summarized; Reason says why.
	Prepared *strategies.Preparation `json:"prepared"`
	Reason   string                  `json:"reason,omitempty"`
}

// Preparation shows what a summary of a session would be made of.
func Preparation(p Printer, v *Prepared) {
	p.Linef("%s %s", p.paint(bold, "session"), v.Path)
	made := v.Prepared
	if made == nil {
		p.Linef("  %s", v.Reason)
		return
	}
	p.field("tokens", "%s", Number(made.TokensBefore))
	p.field("threshold", "%s, %s of the window of %s: %s", Number(made.StartsAt), percentOf(made.StartsAt, made.Window),
		Number(made.Window), dueOf(made))
	p.field("target", "%s, %s", Number(made.Target), targetOf(made))
	p.field("summarized", "%s", idRange(made.Summarize))
	if made.SplitTurn {
		p.field("split turn", "%s of its first part, in a part of the summary of their own", idRange(made.TurnPrefix))
	}
	if made.Previous != "" {
		p.field("renews", "the summary %s", shortID(made.Previous))
	}
	if made.Cut == "" {
		p.field("kept", "nothing behind the cut")
	} else {
		p.field("kept", "what is pinned, and all from %s on", shortID(made.Cut))
	}
	if len(made.Files.Read) > 0 {
		p.field("read", "%s", strings.Join(made.Files.Read, ", "))
	}
	if len(made.Files.Modified) > 0 {
		p.field("modified", "%s", strings.Join(made.Files.Modified, ", "))
	}
	p.Linef("%s", p.paint(yellow, "nobody was asked and nothing was written"))
}

// dueOf says whether the session would be compacted as it is.
func dueOf(p *strategies.Preparation) string {
	const allTheSame = "compacted all the same: that was asked for, or max_bytes is passed"
	shortened := "reached, but not with the " + Number(p.TokensPruned) + " that are left once old output is shortened, "
	switch {
	case p.Due && p.TokensBefore < p.StartsAt:
		return "not reached, and " + allTheSame
	case p.Due && p.TokensPruned < p.StartsAt:
		return shortened + "and " + allTheSame
	case p.Due:
		return "reached, so it is compacted"
	case p.TokensBefore < p.StartsAt:
		return "not reached, so nothing is done without --force"
	case p.TokensPruned < p.StartsAt:
		return shortened + "so no more is done without --force"
	}
	return "reached, but compaction is switched off, so nothing is done without --force"
}

// targetOf says where a target comes from.
func targetOf(p *strategies.Preparation) string {
	switch p.TargetOf {
	case strategies.TargetNamed:
		return "as --target says"
	case strategies.TargetOfSession:
		return percentOf(p.Target, p.TokensBefore) + " of what there is, as it is compacted by hand"
	case strategies.TargetOfThreshold:
		return percentOf(p.Target, p.StartsAt) + " of the threshold"
	}
	return percentOf(p.Target, p.Window) + " of the window"
}

func percentOf(part, whole int) string {
	return fmt.Sprintf("%.0f%%", 100*float64(part)/float64(max(1, whole)))
}
