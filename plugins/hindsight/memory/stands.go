package memory

import (
	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/set"
	"github.com/kagewasm/kagewasm/plugins/hindsight/bank"
	"github.com/kagewasm/kagewasm/plugins/hindsight/server"
)

// stands reports of a memory whether the model still sees what it says, or it
// is what is asked.
func (p *pass) stands() func(*bank.Memory) bool {
	texts, ids := make(map[string]bool), make(map[string]bool)
	goes, turn := set.Of(p.cut(0)...), abi.CurrentTurn(p.msgs)
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
