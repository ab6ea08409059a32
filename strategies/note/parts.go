package note

import (
	"slices"
	"strings"

	"github.com/kagewasm/kagewasm/internal/clip"
)

// parts are the pieces of a note that are written already, by their head.
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
		if s := clip.Words(line, runes); p.count(s) <= left {
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
