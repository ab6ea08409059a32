package memory

import (
	"strings"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/plugins/hindsight/bank"
	"github.com/kagewasm/kagewasm/plugins/hindsight/server"
)

// recallHead stands above the memories.
const recallHead = "From earlier, what bears on this most first, with when, who, and where it was said:"

const (
	// lineTokens is what a line costs at least: no more are asked for than can
	// have room, and never more than maxLines.
	lineTokens = 12
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
	if err != nil {
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
	lines := []string{recallHead}
	for _, h := range hits {
		text := h.Text
		if p.set.server() {
			text = clip(redacted(text), maxLine) // of others' words as well
		}
		lines = append(lines, "\n- ["+provenance(&h.Memory)+"] "+oneLine(abi.Defuse(text)))
	}
	costs := p.count(lines)
	block, used := lines[0], costs[0]
	for i, l := range lines[1:] {
		if cost := costs[i+1]; used+cost <= budget {
			block += l
			used += cost
		}
	}
	if block == recallHead {
		return ""
	}
	return block
}

// provenance is where a memory is from: date, author, session and message.
func provenance(m *bank.Memory) string {
	where := strings.TrimSpace(plain(m.Session) + " " + plain(m.ID))
	var parts []string
	for _, s := range []string{day(plain(m.Time)), plain(m.Author), where} {
		if s != "" {
			parts = append(parts, s)
		}
	}
	return strings.Join(parts, ", ")
}

// day is the date of a time. Sources that do not write times as RFC 3339 write
// anything, and it stays.
func day(time string) string {
	const form = "2006-01-02"
	if len(time) > len(form) && time[4] == '-' && time[7] == '-' {
		return time[:len(form)]
	}
	return time
}

// maxName is how long a name in a provenance may be, in bytes.
const maxName = 120

// plain is a name that cannot end the brackets it stands in.
func plain(name string) string {
	return clip(oneLine(strings.NewReplacer("[", "(", "]", ")").Replace(abi.Defuse(name))), maxName)
}

// count counts texts, each with what joins it to the next. A host that cannot
// count is no reason to fail: 3 bytes a token errs on the safe side.
func (p *pass) count(texts []string) []int {
	costs, err := p.CountTokens(texts...)
	if err != nil {
		p.warn("counting", err)
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

// stands reports of a memory whether the model still sees what it says, or it
// is what is asked.
func (p *pass) stands() func(*bank.Memory) bool {
	texts, ids := make(map[string]bool), make(map[string]bool)
	goes, turn := setOf(p.cut(0)), abi.CurrentTurn(p.msgs)
	for i, text := range p.read() {
		if id := p.msgs[i].ID; !goes[id] || turn[i] {
			texts[text], ids[id] = true, true
		}
	}
	return func(m *bank.Memory) bool {
		// A server tells what was said in words of its own.
		return texts[m.Text] || p.set.server() && m.Session == p.in.Session.ID && ids[server.First(m.ID)]
	}
}
