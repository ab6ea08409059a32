package main

import (
	"bytes"
	"cmp"
	"fmt"
	"strings"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/kit/check"
)

func (f *verifyFlags) show(e env, r *check.Verdict) error {
	if f.asJSON {
		return printJSON(e.stdout, r)
	}
	var text bytes.Buffer
	showVerdict(printer{w: &text, color: e.color}, r)
	_, err := e.stdout.Write(text.Bytes())
	return err
}

func showVerdict(p printer, r *check.Verdict) {
	p.linef("%s %s  %s  %s", p.paint(bold, r.Plugin), cmp.Or(abi.Defuse(r.Version), "(no version)"), bytesOf(r.Size), p.paint(dim, r.Digest))
	width := 0
	for _, rule := range r.Rules {
		width = max(width, len(rule.Rule))
	}
	for _, rule := range r.Rules {
		name := fmt.Sprintf("%-*s", width, rule.Rule)
		switch rule.Outcome {
		case check.Kept:
			p.linef("  %s %s %s", p.paint(green, "ok     "), name, p.paint(dim, fmt.Sprintf("%6.0f ms", rule.MS)))
		case check.Broken:
			as := ""
			if rule.Same != "" {
				as = "  by the same failure as: " + rule.Same
			}
			p.linef("  %s %s %s%s", p.paint(red, "BROKEN "), p.paint(bold, name), p.paint(dim, fmt.Sprintf("%6.0f ms", rule.MS)), as)
			if rule.Same == "" {
				showBroken(p, rule)
			}
		}
	}
	showSkipped(p, r.Rules)
	for _, f := range r.Findings {
		p.linef("  %s %s: %s", p.paint(yellow, "warning"), f.Name, f.Message)
		p.linef("          %s", p.paint(dim, f.Mend))
	}
	p.linef("%s", p.paint(bold, "most used by a call"))
	var used table
	for _, u := range r.Usage {
		allowed := "no bound"
		if u.Allowed > 0 {
			allowed = fmt.Sprintf("of %s (%.0f%%)", number(u.Allowed), 100*u.Share())
		}
		used.row(u.Limit, number(u.Used), allowed, p.paint(dim, u.Rule))
	}
	used.print(p)
	verdict := p.paint(green, "all rules kept")
	if r.Broken > 0 {
		verdict = p.paint(red, plural(r.Broken, "rule")+" broken")
	}
	p.linef("%s: %d kept, %d skipped, warnings: %d, in %.1f s", verdict, r.Kept, r.Skipped, len(r.Findings), r.MS/1000)
}

// showSkipped names the rules that were not checked, by why.
func showSkipped(p printer, rules []check.Result) {
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
		p.linef("  %s %s", p.paint(dim, "skipped"), p.paint(dim, why+": "+strings.Join(names[why], ", ")))
	}
}

// showBroken says how a rule was broken, why it matters and what to do.
func showBroken(p printer, r check.Result) {
	how := strings.Join(firstLines(r.Broken, brokenLines), "\n          | ")
	if r.Code != "" {
		how = string(r.Code) + ": " + how
	}
	p.linef("          %s", how)
	p.linef("          %s %s", p.paint(dim, "why: "), r.Explanation)
	if r.Hint != "" {
		p.linef("          %s %s", p.paint(dim, "host:"), r.Hint)
	}
	p.linef("          %s %s", p.paint(dim, "mend:"), r.Mend)
}

// brokenLines is how many lines of an error are shown: the message, and where
// the guest was.
const brokenLines = 5

func firstLines(s string, n int) []string {
	lines := strings.Split(s, "\n")
	if len(lines) <= n {
		return lines
	}
	return append(lines[:n-1], fmt.Sprintf("… %d more lines (--json has them)", len(lines)-n+1))
}
