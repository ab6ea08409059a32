package ui

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/kagewasm/kagewasm/kit/check"
)

// Verdict says which rules a plugin keeps, what is odd about it, and what it used.
func Verdict(p Printer, r *check.Verdict) {
	p.Linef("%s %s  %s  %s", p.paint(bold, r.Plugin), cmp.Or(r.Version, "(no version)"), bytesOf(r.Size),
		p.paint(dim, r.Digest))
	width := 0
	for _, rule := range r.Rules {
		width = max(width, len(rule.Rule))
	}
	for _, rule := range r.Rules {
		name := fmt.Sprintf("%-*s", width, rule.Rule)
		switch rule.Outcome {
		case check.Kept:
			p.Linef("  %s %s %s", p.paint(green, "ok     "), name, p.paint(dim, fmt.Sprintf("%6.0f ms", rule.MS)))
		case check.Broken:
			as := ""
			if rule.Same != "" {
				as = "  by the same failure as: " + rule.Same
			}
			p.Linef("  %s %s %s%s", p.paint(red, "BROKEN "), p.paint(bold, name),
				p.paint(dim, fmt.Sprintf("%6.0f ms", rule.MS)), as)
			if rule.Same == "" {
				showBroken(p, rule)
			}
		}
	}
	showSkipped(p, r.Rules)
	for _, f := range r.Findings {
		p.Linef("  %s %s: %s", p.paint(yellow, "warning"), f.Name, f.Message)
		p.Linef("          %s", p.paint(dim, f.Fix))
	}
	p.Linef("%s", p.paint(bold, "most used by a call"))
	var used table
	for _, u := range r.Usage {
		allowed := "no bound"
		if u.Allowed > 0 {
			allowed = fmt.Sprintf("of %s (%.0f%%)", Number(u.Allowed), 100*u.Share())
		}
		used.row(u.Limit, Number(u.Used), allowed, p.paint(dim, u.Rule))
	}
	used.print(p)
	verdict := p.paint(green, "all rules kept")
	if r.Broken > 0 {
		verdict = p.paint(red, Plural(r.Broken, "rule")+" broken")
	}
	p.Linef("%s: %d kept, %d skipped, warnings: %d, in %.1f s", verdict, r.Kept, r.Skipped, len(r.Findings), r.MS/1000)
}

// showSkipped names the rules that were not checked, by why.
func showSkipped(p Printer, rules []check.Result) {
	names := make(map[string][]string)
	var reasons []string
	for _, r := range rules {
		if r.Outcome != check.Skipped {
			continue
		}
		if names[r.Skipped] == nil {
			reasons = append(reasons, r.Skipped)
		}
		names[r.Skipped] = append(names[r.Skipped], r.Rule)
	}
	for _, why := range reasons {
		p.Linef("  %s %s", p.paint(dim, "skipped"), p.paint(dim, why+": "+strings.Join(names[why], ", ")))
	}
}

// showBroken says how a rule was broken, why it matters and what to do.
func showBroken(p Printer, r check.Result) {
	for i, line := range firstLines(r.Broken, brokenLines) {
		switch {
		case i > 0:
			line = "| " + line
		case r.Code != "":
			line = string(r.Code) + ": " + line
		}
		p.Linef("          %s", line)
	}
	p.Linef("          %s %s", p.paint(dim, "why: "), r.Explanation)
	if r.Hint != "" {
		p.Linef("          %s %s", p.paint(dim, "host:"), r.Hint)
	}
	p.Linef("          %s %s", p.paint(dim, "fix: "), r.Fix)
}

// At most brokenLines lines of an error are shown: the message, and where the guest
// was.
const brokenLines = 5

func firstLines(s string, n int) []string {
	lines := strings.Split(s, "\n")
	if len(lines) <= n {
		return lines
	}
	return append(lines[:n-1], fmt.Sprintf("… %d more lines (--json has them)", len(lines)-n+1))
}
