package memory

import (
	"fmt"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/plugins/hindsight/bank"
	"github.com/kagewasm/kagewasm/plugins/hindsight/server"
)

// backend is where memories are kept: [bank.Bank] in the plugin's own storage,
// or [server.Bank].
type backend interface {
	// Retain takes memories in the order they were said, and returns how many
	// of them are new. On an error it has taken none for good.
	Retain(list []bank.Memory) (added int, err error)
	// Recall returns what bears on the query, best first.
	Recall(q bank.Query) ([]bank.Hit, error)
}

// store is the backend of one call; nil where it cannot be opened.
type store struct {
	backend
	// deliver sends what waits, where there is a server to send it to.
	deliver func()
}

func (p *pass) open() store {
	if p.set.server() {
		b := p.openServer()
		return store{b, b.Deliver}
	}
	nothing := func() {}
	b, err := bank.Open(p.KV(), "banks/"+p.set.key()+"/")
	if err != nil {
		p.lost("the bank cannot be opened", err)
		return store{nil, nothing}
	}
	return store{b, nothing}
}

func (p *pass) openServer() *server.Bank {
	s := &p.set
	return server.Open(server.Options{
		URL: s.apiURL, ID: s.bank, Timeout: s.timeout,
		BankMission: s.bankMission, RetainMission: s.retainMission,
		Effort: s.recallBudget, TagsMatch: s.tagsMatch, MaxTokens: p.injectBudget(),
		Agent: p.in.Session.AgentPath, Session: p.in.Session.ID, Context: s.context, FullSession: s.fullSession,
		Overlap: p.overlap,
		KV:      p.KV(), Prefix: "server/" + s.key() + "/",
		Now: p.in.Time, DryRun: p.in.Trigger.DryRun, HTTP: p.HTTP,
		Warn: func(format string, args ...any) { p.Log(abi.LogWarn, "server: "+format, args...) },
		Lost: func(format string, args ...any) { p.lost("server", fmt.Errorf(format, args...)) },
	})
}

// overlap are the memories of the turns right before the one with that id.
func (p *pass) overlap(id string) []bank.Memory {
	var before []bank.Memory
	for _, m := range p.said(true) {
		if m.ID == id {
			break
		}
		before = append(before, m)
	}
	turns, from := 0, len(before)
	for from > 0 && turns < p.set.overlapTurns {
		from--
		if before[from].Type == typeWorld {
			turns++
		}
	}
	return before[from:]
}
