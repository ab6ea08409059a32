package digest

import (
	"slices"
	"strings"

	"github.com/kagewasm/kagewasm/strategies/ledger"
	"github.com/kagewasm/kagewasm/strategies/outline"
)

// parts are the pieces of a digest that are written already, by their head.
type parts struct {
	budget, used int
	extra        int // of used: what stands beside the budget
	count        func(string) int
	text         map[string]string
}

// put keeps a piece.
func (p *parts) put(head string, lines []string) {
	if len(lines) > 0 {
		text := head + "\n" + strings.Join(lines, "\n")
		p.text[head] = text
		p.used += p.count(text)
	}
}

// entries keeps the newest entries that fit into a share of the budget, in
// order, the first one among them. Where not even one fits it is cut.
func (p *parts) entries(head string, list []string, share int) {
	left := p.budget*share/100 - p.count(head)
	if len(list) == 0 || left <= 4 {
		return
	}
	kept := make([]string, len(list))
	fit := func(i int) bool {
		line := "- " + list[i]
		n := p.count(line) + 1
		if n > left {
			return false
		}
		left -= n
		kept[i] = line
		return true
	}
	last := len(list) - 1
	if !fit(last) {
		if line := p.cut("- "+list[last], left); line != "" {
			p.put(head, []string{line})
		}
		return
	}
	if last > 0 {
		fit(0)
	}
	for i := last - 1; i > 0; i-- {
		fit(i)
	}
	p.put(head, slices.DeleteFunc(kept, func(s string) bool { return s == "" }))
}

// cut is the beginning of a line that fits, or "" where little would.
func (p *parts) cut(line string, left int) string {
	for runes := 2 * left; runes >= 16; runes = runes * 3 / 4 {
		if s := clip(line, runes); p.count(s) <= left {
			return s
		}
	}
	return ""
}

// earlier keeps the beginning of a summary that somebody else wrote.
func (p *parts) earlier(lines []string, share int) {
	left := p.budget*share/100 - p.count(headEarlier)
	var kept []string
	for _, line := range lines {
		n := p.count(quoteMark+line) + 1
		if n > left {
			if line = p.cut(quoteMark+line, left); line != "" {
				kept = append(kept, line)
			}
			break
		}
		left -= n
		kept = append(kept, quoteMark+line)
	}
	p.put(headEarlier, kept)
}

// failureShare is the room for what failed, in hundredths of the budget: a
// little of a small one, and as much as it takes of a large one. What failed
// before must not be tried again (FEATURES I4, I10).
func failureShare(budget int) int {
	const low, high = 2000, 4500
	return 20 + 25*max(0, min(budget, high)-low)/(high-low)
}

// LastFailures is how many of the last failures have room of their own, see
// Options.Failures.
const LastFailures = 20

// failures keeps the newest failures that fit, oldest first: as many as their
// share of the budget holds, and the last ones in room beside it.
func (p *parts) failures(list []ledger.Failure, beside int) {
	heads := p.count(ledger.HeadFailed+ledger.HeadErrors) + 2
	left := p.budget*failureShare(p.budget)/100 - heads
	var failed, errors []string
	for i := len(list) - 1; i >= 0; i-- {
		if i == len(list)-1-LastFailures {
			beside = 0
		}
		f := &list[i]
		text := quoted(f)
		n := p.count(text) + 1
		if n > left+beside {
			break
		}
		if left -= n; left < 0 {
			beside, p.extra, left = beside+left, p.extra-left, 0
		}
		if f.Command() {
			failed = append(failed, text)
		} else {
			errors = append(errors, text)
		}
	}
	slices.Reverse(failed)
	slices.Reverse(errors)
	p.put(ledger.HeadFailed, failed)
	p.put(ledger.HeadErrors, errors)
}

// quoted is a failure as it is written.
func quoted(f *ledger.Failure) string {
	text := "```\n" + f.Text + "\n```"
	if f.Then != "" {
		text += "\n" + ledger.ThenLine + "`" + f.Then + "`"
	}
	return text
}

// FailuresBeside is what the last failures need beside their share of a budget,
// in tokens: what Options.Failures has to be for all of them to be written.
func (d *Digest) FailuresBeside(budget int, count func(string) int) int {
	list := d.Failures()
	list = list[max(0, len(list)-LastFailures):]
	need := count(ledger.HeadFailed+ledger.HeadErrors) + 2
	for i := range list {
		need += count(quoted(&list[i])) + 1
	}
	return max(0, need-budget*failureShare(budget)/100)
}

// kept is what stands below a summary.
func (p *parts) kept(l *ledger.Ledger, summary string) string {
	var b strings.Builder
	for _, head := range []string{headMusts, headTodos, ledger.HeadFailed, ledger.HeadErrors} {
		if text := p.text[head]; text != "" {
			b.WriteString("\n\n" + text)
		}
	}
	if b.Len() > 0 {
		p.used += p.count(headKept) + 1
	}
	n := l.Names(p.budget+p.extra-p.used, summary+b.String(), p.count)
	names := join(n.Rest, n.Root, n.Modified, n.Read)
	if b.Len() == 0 && (n.Rest != "" || names == "") {
		return names // under a heading of their own
	}
	return strings.TrimSpace(headKept + b.String() + "\n\n" + names)
}

// sections fills an outline. Names that do not belong to a section stand at
// the end.
func (p *parts) sections(names *ledger.Ledger, o outline.Outline) string {
	frame := intro + "\n\n" + o.Render(func(string) string { return "" })
	said := ""
	for _, text := range p.text {
		said += text + "\n"
	}
	n := names.Names(p.budget+p.extra-p.used-p.count(frame), said, p.count)
	p.text[headRoot], p.text[headModified], p.text[headRead] = n.Root, n.Modified, n.Read
	placed := make(map[string]bool)
	body := o.Render(func(title string) string {
		var texts []string
		for _, head := range places[strings.ToLower(title)] {
			if !placed[head] {
				texts = append(texts, p.text[head])
				placed[head] = true
			}
		}
		return join(texts...)
	})
	var rest []string
	for _, head := range order {
		if !placed[head] {
			rest = append(rest, p.text[head])
		}
	}
	return join(intro, body, join(rest...), n.Rest)
}

// Heads of the lists of files.
const (
	headRoot     = "root"
	headModified = "modified"
	headRead     = "read"
)

// order are all parts.
var order = []string{headRequests, headMusts, headTodos, headRoot, headModified, ledger.HeadCommands, headDecisions, headNext, ledger.HeadFailed, ledger.HeadErrors, headRead, headEarlier}

// places say which parts a section is filled with, by its title in lower case.
// What has no section of its own in an outline stands below them all.
var places = map[string][]string{
	"goal":                      {headRequests},
	"constraints & preferences": {headMusts},
	"progress":                  {headTodos, headRoot, headModified, ledger.HeadCommands},
	"next steps":                {headNext},
	"critical context":          {ledger.HeadFailed, ledger.HeadErrors, headRead},
	"additional notes":          {headEarlier},
	"key decisions":             {headDecisions},

	"session intent":     {headRequests, headMusts},
	"current task":       {headTodos, ledger.HeadCommands},
	"files modified":     {headRoot, headModified},
	"files read":         {headRead},
	"failed approaches":  {ledger.HeadFailed},
	"errors encountered": {ledger.HeadErrors},
}

// join puts an empty line between texts.
func join(texts ...string) string {
	return strings.Join(slices.DeleteFunc(texts, func(s string) bool { return s == "" }), "\n\n")
}
