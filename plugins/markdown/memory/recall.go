package memory

import (
	"fmt"
	"strings"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/abi/guest"
	"github.com/kagewasm/kagewasm/internal/clip"
)

const recallHead = "Notes from memory, of any project of this agent, with the file each is in:"

const (
	// maxRecall is how many notes are offered to the budget, and maxPassage how
	// much of a long one, in bytes.
	maxRecall  = 60
	maxPassage = 400
)

// recall is the text to inject: the notes that may bear on the current work, best
// first, as many as fit, each with where it comes from.
func recall(c *guest.Call, n *notes) string {
	in := c.Input
	budget := min(in.Budget.SummaryTokens, in.Config.Int("max_inject_tokens", defaultInjectTokens))
	ranked := n.rank(in)
	if len(ranked) == 0 || budget <= 0 {
		return ""
	}
	lines := []string{recallHead}
	for _, r := range ranked {
		lines = append(lines, "\n- "+r.line())
	}
	costs := c.Costs(lines...)
	kept, used := lines[:1:1], costs[0]
	for i, l := range lines[1:] {
		if used+costs[i+1] <= budget {
			kept = append(kept, l)
			used += costs[i+1]
		}
	}
	// Joined, texts can be more tokens than apart.
	for len(kept) > 1 && c.Costs(strings.Join(kept, ""))[0] > budget {
		kept = kept[:len(kept)-1]
	}
	if len(kept) == 1 {
		return ""
	}
	return strings.Join(kept, "")
}

// line is a note as it is injected.
func (r recalled) line() string {
	from := []string{r.key}
	last := r.said[len(r.said)-1]
	if last.day != "" {
		from = append(from, last.day)
	}
	if last.session != "" {
		from = append(from, "session "+last.session)
	}
	if n := len(r.said); n > 1 {
		from = append(from, fmt.Sprintf("said %d times", n))
	}
	if r.newer {
		from = append(from, "a newer note may contradict it")
	}
	text := clip.OneLine(r.passage)
	return abi.Defuse(withoutSecrets("[" + string(r.kind) + "] " + text + " (" + strings.Join(from, ", ") + ")"))
}
