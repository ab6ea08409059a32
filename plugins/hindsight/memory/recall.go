package memory

import (
	"strings"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/clip"
	"github.com/kagewasm/kagewasm/plugins/hindsight/bank"
)

// recallHead stands above the memories.
const recallHead = "From earlier, what bears on this most first, with when, who, and where it was said:"

const (
	// lineTokens is what a line costs at least: no more are asked for than can
	// have room, and never more than maxLines.
	lineTokens = 20
	maxLines   = 500
	// maxLine is how much of one memory is shown, in bytes: of a longer one the
	// passage that tells most of the query.
	maxLine = 700
)

// recall is the text to inject: the memories that bear on the last request and
// do not stand in the context any more, as many as fit. It is empty where there
// are none.
func (p *pass) recall() string {
	if !p.set.recall || p.store.backend == nil {
		return ""
	}
	budget := p.injectBudget()
	query := p.query()
	if budget <= 0 || query == "" {
		return ""
	}
	hits, err := p.store.Recall(bank.Query{
		Text: query, Time: p.in.Time, Limit: min(budget/lineTokens+1, maxLines),
		TextBytes: maxLine, Types: p.set.recallTypes, Tags: p.set.recallTags, Skip: p.stands(),
	})
	switch {
	case abi.CodeOf(err) == abi.CodeState:
		p.lost("recall", err)
		return ""
	case err != nil:
		p.warn("recall", err)
		return ""
	}
	return p.block(hits, budget)
}

// injectBudget is what the memories may cost, in tokens.
func (p *pass) injectBudget() int {
	budget := min(p.set.recallTokens, p.in.Budget.SummaryTokens)
	if p.set.compact {
		budget = min(budget, p.room())
	}
	return budget
}

// block is the lines of the memories that fit into budget tokens, best first.
func (p *pass) block(hits []bank.Hit, budget int) string {
	lines := p.lines(hits)
	costs := p.count(lines...)
	var block strings.Builder
	size := 0
	for _, l := range lines {
		size += len(l)
	}
	block.Grow(size)
	block.WriteString(recallHead)
	used := costs[0]
	for i, l := range lines[1:] {
		if cost := costs[i+1]; used+cost <= budget {
			block.WriteString(l)
			used += cost
		}
	}
	if block.Len() == len(recallHead) {
		return ""
	}
	return block.String()
}

// lines are the head and a line of each memory. They are made in one text: there can be hundreds.
func (p *pass) lines(hits []bank.Hit) []string {
	size := len(recallHead)
	for i := range hits {
		size += len(hits[i].Text) + maxName
	}
	all, ends := append(make([]byte, 0, size), recallHead...), []int{len(recallHead)}
	for i := range hits {
		text := hits[i].Text
		if p.set.server() {
			text = clip.Bytes(redacted(text), maxLine) // of others' words as well
		}
		all = append(appendProvenance(append(all, "\n- ["...), &hits[i]), "] "...)
		all = append(all, clip.OneLine(abi.Defuse(text))...)
		ends = append(ends, len(all))
	}
	text, lines, from := string(all), make([]string, 0, len(ends)), 0
	for _, end := range ends {
		lines = append(lines, text[from:end])
		from = end
	}
	return lines
}
