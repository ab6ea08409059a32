package ui

import (
	"time"

	"github.com/kagewasm/kagewasm/hooks"
)

// Breakers are the plugins that failed.
type Breakers struct {
	Plugins []hooks.Circuit `json:"plugins"`
}

// BreakersShown prints them.
func BreakersShown(p Printer, b *Breakers) {
	if len(b.Plugins) == 0 {
		p.Linef("no plugin has failed since it last worked")
		return
	}
	for _, c := range b.Plugins {
		until := ""
		if c.OpenUntil != nil {
			until = ", not called until " + c.OpenUntil.Format(time.RFC3339)
		}
		last := ""
		if c.LastError != nil {
			last = ": " + string(c.LastError.Code) + ", " + c.LastError.Message
		}
		p.Linef("%s  %s  %s in a row%s%s", c.Plugin, clipped(c.Digest), Plural(c.Failures, "failure"), until, last)
	}
}

// clipped is enough of a digest to tell it from others.
func clipped(digest string) string { return digest[:min(len(digest), 19)] }
