package keep

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/abi/guest"
	"github.com/kagewasm/kagewasm/internal/clip"
)

const heading = "Earlier messages were superseded. What they were, oldest first:"

// line is one entry of the summary.
type line struct {
	text   string
	weight int
}

// summarize writes the lines of the units that go, as many as fit the budget:
// the most telling first, of those the newest. It returns the text and what
// the message costs.
func summarize(c *guest.Call, units []unit, budget int) (text string, cost int, err error) {
	lines := linesOf(c.Input, units)
	texts := []string{fmt.Sprintf("%s\n- (%d more)", heading, len(lines))}
	order := make([]int, len(lines))
	for i, l := range lines {
		texts = append(texts, "\n- "+l.text)
		order[i] = i
	}
	costs, err := c.CountTokens(texts...)
	if err != nil {
		return "", 0, err
	}
	slices.SortFunc(order, func(a, b int) int {
		return cmp.Or(lines[b].weight-lines[a].weight, b-a)
	})
	cost = frameTokens + costs[0]
	var picked []int
	for _, i := range order {
		if cost+costs[i+1] <= budget {
			picked = append(picked, i)
			cost += costs[i+1]
		}
	}
	if len(picked) == 0 {
		return "", 0, nil
	}
	slices.Sort(picked)
	text = heading
	for _, i := range picked {
		text += texts[i+1]
	}
	if more := len(lines) - len(picked); more > 0 {
		text += fmt.Sprintf("\n- (%d more)", more)
	}
	return text, cost, nil
}

// linesOf are the lines of the units that go, of equal ones the last.
func linesOf(in *abi.Input, units []unit) (lines []line) {
	seen := make(map[string]bool)
	for i := len(units) - 1; i >= 0; i-- {
		if units[i].keep {
			continue
		}
		described := describe(in, &units[i])
		slices.Reverse(described)
		for _, l := range described {
			if !seen[l.text] {
				seen[l.text] = true
				lines = append(lines, l)
			}
		}
	}
	slices.Reverse(lines)
	return lines
}

// carry is what an earlier summary says, line by line: chains of compactions
// would forget it otherwise. What the host added to it the host says again.
func carry(summary string, width int) (lines []line) {
	if inner, ok := abi.Unfence(summary); ok {
		summary = inner
	}
	said, added, _ := strings.Cut(summary, hostsPart)
	if said = strings.TrimSpace(said); said == "" {
		said = entries(added)
	}
	for l := range strings.Lines(said) {
		l = strings.TrimPrefix(strings.TrimSpace(l), "- ")
		if l != "" && l != heading && !strings.HasSuffix(l, " more)") {
			lines = append(lines, line{clip.Line(l, width), earlier})
		}
	}
	return lines
}

// hostsPart begins what the host adds to a summary.
const hostsPart = "Read off the session by the host, without a model;"

// entries are the entries and quotes of a note that is the host's alone: one
// that is told to say nothing says it not again. Headings say nothing here.
func entries(note string) string {
	var list strings.Builder
	for l := range strings.Lines(note) {
		if strings.HasPrefix(l, "- ") || strings.HasPrefix(l, "> ") {
			list.WriteString(l)
		}
	}
	return list.String()
}
