package kagewasm

import (
	"github.com/kagewasm/kagewasm/strategies/note"
)

// judge says how good the note is that stands for what goes, of its failures by
// the last twenty.
func (p *pass) judge(read *note.Note, text string) {
	files := read.Files()
	p.report.Files = &files
	m := &p.report.Metrics
	o := p.outline()
	m.MissingSections = o.Missing(text)
	m.Completeness = 1 - float64(len(m.MissingSections))/float64(len(o.Sections))
	m.FailureRetention = read.FailuresKept(text)
}
