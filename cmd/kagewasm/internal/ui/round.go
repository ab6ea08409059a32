package ui

import (
	"fmt"
	"strings"
	"time"

	"github.com/kagewasm/kagewasm/internal/devloop"
	"github.com/kagewasm/kagewasm/internal/lists"
	"github.com/kagewasm/kagewasm/internal/survey"
)

// Round shows one round of the loop; windows says which the sessions had.
func Round(p Printer, r *devloop.Round, windows string) {
	why := "started"
	if len(r.Changed) > 0 {
		why = "changed: " + shortened(strings.Join(r.Changed, ", "), 100)
	}
	p.Linef("%s  %s", p.paint(bold, fmt.Sprintf("round %d", r.Number)),
		p.paint(dim, time.Now().Format(time.TimeOnly)+"  "+why))
	if r.Error != nil {
		p.failed("failed:", r.Error)
		return
	}
	built := ""
	if r.BuildMS > 0 {
		built = fmt.Sprintf("built in %.1f s, ", r.BuildMS/1000)
	}
	m := r.Plugin.Manifest
	p.Linef("%s %s  %s  %s%s in %.1f s, %s", m.Name, m.Version, bytesOf(r.Plugin.Size), built, sessionsOf(r),
		r.SurveyMS/1000, windows)
	if r.Update != nil && len(r.Update.Permissions) > 0 {
		updated{p}.permissions(r.Update)
	}
	p.withheld(r.Withheld)
	if r.Update != nil {
		updated{p}.manifest(r.Update)
	}
	surveyed{p}.show(r.Survey, r.Change)
	p.skipped(r.Skipped)
}

func sessionsOf(r *devloop.Round) string {
	if r.Samples {
		return Plural(len(r.Survey.Sessions), "sample session")
	}
	return Plural(len(r.Survey.Sessions), "session")
}

// skipped names the files that were taken for sessions, and are none.
func (p Printer) skipped(list []survey.Skipped) {
	if len(list) == 0 {
		return
	}
	paths := lists.Map(list, func(s survey.Skipped) string { return s.Path })
	p.field("skipped", "no sessions in %s", p.paint(dim, shortened(strings.Join(paths, ", "), 160)))
}
