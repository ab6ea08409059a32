package memory

import (
	"cmp"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/plugins/hindsight/bank"
)

// Types of memories, as Hindsight has them.
const (
	typeWorld      = "world"      // what a person said
	typeExperience = "experience" // what the agent said and did
)

// maxFresh is how much is retained in one call at most, in bytes: as much as
// there is time for.
const maxFresh = 4 << 20

// retain puts what is new into the bank: what people and the agent said, but
// for the current turn, which is not over, unless all is set.
func (p *pass) retain(all bool) {
	if !p.set.retain || p.in.Trigger.DryRun || p.store.backend == nil {
		return
	}
	pr, err := p.loadProgress()
	if err != nil {
		p.lost("retain: what was retained already is not known, so nothing is", err)
		return
	}
	said := p.said(all)
	fresh, left := pr.fresh(said, maxFresh)
	if len(fresh) == 0 && pr.Turns == 0 {
		return
	}
	if left > 0 {
		p.Log(abi.LogWarn, "retain: more than %d MiB are new, and there is no time for the newest %d messages: "+
			"those that go now are not remembered", maxFresh>>20, left)
	}
	if len(fresh) > 0 {
		added, err := p.store.Retain(fresh)
		if err != nil {
			p.lost(notRetained(err), err)
			return
		}
		p.Log(abi.LogInfo, "of %d messages %d are new to the bank %s", len(said), added, p.set.bank)
	}
	pr.Turns = 0
	if err := p.saveProgress(pr); err != nil {
		p.warn("retain: what was retained cannot be noted", err)
	}
}

// notRetained says what failed. A storage that is full stays full: nothing is
// forgotten that nobody asked to forget.
func notRetained(err error) string {
	if abi.CodeOf(err) == abi.CodeQuota {
		return "retain: the storage is full and nothing more is remembered; " +
			"copy it with kagewasm memory export hindsight FOLDER, " +
			"then delete below banks/ in the storage the folder of a bank that can go"
	}
	return "retain"
}

// turnIsDue counts the turn that has ended, and reports whether it is time to
// retain.
func (p *pass) turnIsDue() bool {
	if !p.set.retain || p.in.Trigger.DryRun {
		return false
	}
	if p.set.everyTurns <= 1 {
		return true
	}
	pr, err := p.loadProgress()
	if err != nil {
		p.warn("counting turns", err)
		return true
	}
	if pr.Turns++; pr.Turns >= p.set.everyTurns {
		return true
	}
	if err := p.saveProgress(pr); err != nil {
		p.warn("counting turns", err)
	}
	return false
}

// said are the messages of the session as memories.
func (p *pass) said(all bool) (memories []bank.Memory) {
	turn := make([]bool, len(p.msgs))
	if !all {
		turn = abi.CurrentTurn(p.msgs)
	}
	for i, text := range p.read() {
		if turn[i] || text == "" {
			continue
		}
		m := &p.msgs[i]
		memory := bank.Memory{
			ID: m.ID, Session: p.in.Session.ID, Author: author(m), Time: cmp.Or(m.Timestamp, p.in.Time),
			Type: typeWorld, Tags: p.set.retainTags, Text: text,
		}
		if m.Role == abi.RoleAssistant {
			memory.Type = typeExperience
		}
		memories = append(memories, memory)
	}
	return memories
}

// author is who says a message: a name where there is one, else the role.
func author(m *abi.Message) string {
	return cmp.Or(m.Name, string(m.Role))
}
