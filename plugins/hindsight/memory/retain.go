package memory

import (
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/plugins/hindsight/bank"
	"github.com/kagewasm/kagewasm/strategies/ledger"
	"github.com/kagewasm/kagewasm/strategies/redact"
)

// Types of memories, as Hindsight has them.
const (
	typeWorld      = "world"      // what a person said
	typeExperience = "experience" // what the agent said and did
)

// maxText is how much of a message is retained, in bytes: what is longer is
// pasted. maxCall is how much of a tool call, and maxResult of what came of it.
const (
	maxText   = 16 << 10
	maxCall   = 200
	maxResult = 400
)

// retain puts what is new into the bank: what people and the agent said, but
// for the current turn, which is not over, unless all is set.
func (p *pass) retain(all bool) {
	if !p.set.retain || p.in.Trigger.DryRun || p.store.Backend == nil {
		return
	}
	pr, err := p.loadProgress()
	if err != nil {
		p.warn("retain: what was retained already is not known, so nothing is", err)
		return
	}
	said := p.said(all)
	fresh := pr.fresh(said)
	if len(fresh) == 0 && pr.Turns == 0 {
		return
	}
	if len(fresh) > 0 {
		added, err := p.store.Retain(fresh)
		if err != nil {
			p.warn("retain", err)
			return
		}
		p.Log(abi.LogInfo, "of %d messages %d are new to the bank %s", len(said), added, p.set.bank)
	}
	pr.Turns = 0
	if err := p.saveProgress(pr); err != nil {
		p.warn("retain: what was retained cannot be noted", err)
	}
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
	results := p.results()
	for i := range p.msgs {
		if turn[i] {
			continue
		}
		text := p.textOf(i, results)
		if text == "" {
			continue
		}
		m := &p.msgs[i]
		memory := bank.Memory{ID: m.ID, Session: p.in.Session.ID, Author: author(m), Time: m.Timestamp, Type: typeWorld, Tags: p.set.retainTags, Text: text}
		if m.Role == abi.RoleAssistant {
			memory.Type = typeExperience
		}
		if memory.Time == "" {
			memory.Time = p.in.Time
		}
		memories = append(memories, memory)
	}
	return memories
}

// author is who says a message: a name where there is one, else the role.
func author(m *abi.Message) string {
	if m.Name != "" {
		return m.Name
	}
	return string(m.Role)
}

// textOf is what a message says that is worth keeping: nothing where it is not
// a person's or the agent's own word.
func (p *pass) textOf(i int, results map[int][]string) string {
	m := &p.msgs[i]
	if m.Kind != "" || m.Role != abi.RoleUser && m.Role != abi.RoleAssistant {
		return ""
	}
	text := strings.TrimSpace(abi.Defuse(m.Text()))
	if _, framed := abi.Unfence(text); framed {
		return "" // a summary or a memory that lost its kind on the way
	}
	for _, line := range results[i] {
		text = strings.TrimSpace(text + "\n" + line)
	}
	return clip(redacted(text), maxText)
}

// results are the tool calls of messages, a line for each with the beginning of
// what came of it; none unless they are asked for.
func (p *pass) results() map[int][]string {
	if !p.set.toolCalls {
		return nil
	}
	lines := make(map[int][]string)
	units, _ := abi.Units(p.msgs)
	for _, u := range units {
		answers := make(map[string]string)
		for _, i := range u[1:] {
			answers[p.msgs[i].ToolCallID] = p.msgs[i].Text()
		}
		for _, call := range p.msgs[u[0]].ToolCalls {
			line := "[" + call.Name + ": " + clip(oneLine(ledger.Subject(call.Arguments)), maxCall) + "]"
			if answer := oneLine(clip(answers[call.ID], 4*maxResult)); answer != "" {
				line += " → " + clip(answer, maxResult)
			}
			lines[u[0]] = append(lines[u[0]], line)
		}
	}
	return lines
}

// redactor takes secrets out of texts. A guest is a new instance in every
// call, so it is made when first needed.
var redactor = sync.OnceValue(func() *redact.Redactor {
	r, err := redact.New(nil)
	if err != nil {
		panic(err) // the defaults compile, or no test passes
	}
	return r
})

func redacted(text string) string {
	text, _ = redactor().Redact(text)
	return text
}

// oneLine is a text on one line.
func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

// clip is at most the first n bytes of s, and says that there were more.
func clip(s string, n int) string {
	const more = "…"
	if len(s) <= n {
		return s
	}
	for n = max(0, n-len(more)); n > 0 && !utf8.RuneStart(s[n]); n-- {
	}
	return s[:n] + more
}
