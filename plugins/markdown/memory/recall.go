package memory

import (
	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/abi/guest"
)

const recallHead = "Notes from memory that bear on the current work, with the file each is in:"

// maxRecall is how many notes are offered to the budget.
const maxRecall = 60

// recall is the text to inject: the notes that bear on the current work, as
// many as fit, each with where it comes from.
func recall(c *guest.Call, facts []fact) string {
	in := c.Input
	budget := min(in.Budget.SummaryTokens, in.Config.Int("max_inject_tokens", defaultInjectTokens))
	ranked := rank(facts, query(in), in.Session.ID)
	ranked = ranked[:min(len(ranked), maxRecall)]
	if len(ranked) == 0 || budget <= 0 {
		return ""
	}
	lines := []string{recallHead}
	for _, f := range ranked {
		lines = append(lines, "\n- "+recallLine(f))
	}
	costs := count(c, lines)
	text, used := "", costs[0]
	for i, l := range lines[1:] {
		if used+costs[i+1] <= budget {
			text += l
			used += costs[i+1]
		}
	}
	if text == "" {
		return ""
	}
	return recallHead + text
}

func recallLine(f fact) string {
	from := f.key
	if len(f.created) >= 10 {
		from += ", " + f.created[:10]
	}
	if f.session != "" {
		from += ", session " + redact(f.session)
	}
	return abi.Defuse("[" + string(f.kind) + "] " + redact(f.text) + " (" + from + ")")
}

// count counts texts, each with what joins it to the next. A host that cannot
// count is no reason to fail: 3 bytes a token errs on the safe side.
func count(c *guest.Call, texts []string) []int {
	costs, err := c.CountTokens(texts...)
	if err != nil {
		c.Log(abi.LogWarn, "counting: %v", err)
		costs = make([]int, len(texts))
		for i, t := range texts {
			costs[i] = len(t)/3 + 1
		}
	}
	for i := range costs {
		costs[i]++
	}
	return costs
}
