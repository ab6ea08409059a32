package ui

import (
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
	p.field("summarized", "%s", idRange(made.Summarize))
	if made.SplitTurn {
		p.field("split turn", "%s of its first part, in a part of the summary of their own", idRange(made.TurnPrefix))
	}
	if made.Previous != "" {
		p.field("renews", "the summary %s", shortID(made.Previous))
	}
	if made.FirstKept == "" {
		p.field("kept", "nothing behind the cut")
	} else {
		p.field("kept", "what is pinned, and all from %s on", shortID(made.FirstKept))
	}
	if len(made.Files.Read) > 0 {
		p.field("read", "%s", strings.Join(made.Files.Read, ", "))
	}
	if len(made.Files.Modified) > 0 {
		p.field("modified", "%s", strings.Join(made.Files.Modified, ", "))
	}
	p.Linef("%s", p.paint(yellow, "nobody was asked and nothing was written"))
}
