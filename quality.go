package kagewasm

import (
	"strings"

	"github.com/kagewasm/kagewasm/strategies/digest"
)

// judge says how good the note is that stands for what goes, of its failures by
// the last [digest.LastFailures] (FEATURES I10).
func (p *pass) judge(read *digest.Digest, text string) {
	files := read.Files()
	p.report.Files = &files
	m := &p.report.Metrics
	o := p.outline()
	m.MissingSections = o.Missing(text)
	m.Completeness = 1 - float64(len(m.MissingSections))/float64(len(o.Sections))
	m.FailureRetention = 1
	if failures := read.Failures(); len(failures) > 0 {
		failures = failures[max(0, len(failures)-digest.LastFailures):]
		kept := 0
		for _, f := range failures {
			if strings.Contains(text, f.Text) {
				kept++
			}
		}
		m.FailureRetention = float64(kept) / float64(len(failures))
	}
}
