package evidence

import (
	"cmp"
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	kagewasm "github.com/kagewasm/kagewasm"
	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/clip"
)

// Caller calls one plugin, as runtime.Plugin does. What it keeps has to last
// from call to call.
type Caller interface {
	Call(ctx context.Context, in *abi.Input) (*abi.Output, abi.CallStats, error)
}

// Plugin is a memory plugin as a [Memory]: sessions come to it as the messages
// of pre_compact, all of which are about to go; a question comes as the last
// message of another session, and the turns it recalls are those whose message
// ids stand in what it injects, in that order.
type Plugin struct {
	caller  Caller
	counter abi.Counter
	agent   string
	turns   []string // the turns that were retained: message t00012 is turn 12
	tokens  int      // of all turns
	retains []abi.CallStats
	recalls []abi.CallStats
	unnamed int // injections that name no message
}

// Where a turn is from takes some tokens of a line, too.
const provenanceTokens = 40

// room is how many tokens a plugin may inject: twice what the figures look at,
// fifty turns or 12% of all, as the best are longer than others.
func (p *Plugin) room() int {
	most := max(50*p.tokens/max(1, len(p.turns)), int(partOfText*float64(p.tokens)))
	return 2 * (most + 50*provenanceTokens)
}

// NewPlugin makes a memory of a plugin. What it keeps for the agent has to be
// empty: a conversation is an agent's own, as other agents see nothing of it.
func NewPlugin(c Caller, counter abi.Counter, agentPath string) *Plugin {
	return &Plugin{caller: c, counter: counter, agent: agentPath}
}

// Calls are the calls until now: one for each session, one for each question.
func (p *Plugin) Calls() (retains, recalls []abi.CallStats) { return p.retains, p.recalls }

// Retain calls pre_compact with the session's turns, and a target that lets
// none of them stay.
func (p *Plugin) Retain(ctx context.Context, s *Session) error {
	in := p.input(s.ID, s.Date)
	for i := range s.Turns {
		t := &s.Turns[i]
		role := abi.RoleUser
		if t.Speaker == string(abi.RoleAssistant) {
			role = abi.RoleAssistant
		}
		p.say(in, abi.Message{ID: messageID(len(p.turns)), Role: role, Name: t.Speaker, Content: abi.Text(t.Text()),
			Timestamp: timestamp(s.Date)})
		p.turns = append(p.turns, t.ID)
		p.tokens += in.Messages[i].Tokens
	}
	_, stats, err := p.call(ctx, in)
	p.retains = append(p.retains, stats)
	return err
}

// Recall calls pre_compact with the question, and reads what is injected.
func (p *Plugin) Recall(ctx context.Context, q *Question) ([]Passage, error) {
	in := p.input("question", q.Date)
	in.Trigger.DryRun = true // what is asked is not remembered
	in.Budget = abi.Budget{TargetTokens: 2 * p.room(), SummaryTokens: p.room()}
	p.say(in, abi.Message{ID: "question", Role: abi.RoleUser, Content: abi.Text(q.Text)})
	out, stats, err := p.call(ctx, in)
	p.recalls = append(p.recalls, stats)
	if err != nil || out == nil {
		return nil, err
	}
	found := p.recalled(out.Inject)
	if out.Inject != "" && len(found) == 0 {
		p.unnamed++
	}
	return found, nil
}

// Unnamed is how many injections named no message, so that nobody can tell
// what was recalled.
func (p *Plugin) Unnamed() int { return p.unnamed }

func (p *Plugin) input(session, date string) *abi.Input {
	window := abi.FallbackWindow
	return &abi.Input{
		ABI: abi.Version, Call: fmt.Sprintf("c%d", len(p.retains)+len(p.recalls)), Time: cmp.Or(timestamp(date),
			undated), Hook: abi.HookPreCompact,
		Session: abi.Session{ID: session, AgentPath: p.agent, ContextWindow: &window},
		Trigger: abi.Trigger{Reason: abi.TriggerManual, Forced: true, Upper: kagewasm.DefaultUpper,
			Lower: kagewasm.DefaultLower},
	}
}

// say adds a message; none calls tools, so each is a unit of its own.
func (p *Plugin) say(in *abi.Input, m abi.Message) {
	in.Messages = append(in.Messages, abi.InputMessage{Message: m, Tokens: p.counter.Message(&m), Unit: len(in.Messages)})
}

func (p *Plugin) call(ctx context.Context, in *abi.Input) (*abi.Output, abi.CallStats, error) {
	for i, pinned := range abi.Pinned(in.Plain()) {
		in.Trigger.Tokens += in.Messages[i].Tokens
		in.Messages[i].Pinned = pinned
	}
	in.Trigger.Fraction = float64(in.Trigger.Tokens) / float64(*in.Session.ContextWindow)
	return p.caller.Call(ctx, in)
}

func messageID(turn int) string { return fmt.Sprintf("t%05d", turn) }

// recalled are the turns whose messages a text names, in that order, each with
// the line that names it and those that follow without a name.
func (p *Plugin) recalled(text string) (found []Passage) {
	for line := range strings.Lines(text) {
		for _, turn := range p.named(line) {
			found = append(found, Passage{Turn: turn})
		}
		if len(found) > 0 {
			found[len(found)-1].Text += line
		}
	}
	return found
}

// named are the turns whose messages a line names. Expressions would take a tenth of a recall for it.
func (p *Plugin) named(line string) (turns []string) {
	for i := 0; i < len(line); {
		end := i + 1
		if line[i] == 't' && (i == 0 || !isWord(line[i-1])) {
			end += clip.Digits(line[i+1:])
			n, err := strconv.Atoi(line[i+1 : end])
			whole := end == len(line) || !isWord(line[end])
			if whole && err == nil && n < len(p.turns) && messageID(n) == line[i:end] {
				turns = append(turns, p.turns[n])
			}
		}
		i = end
	}
	return turns
}

func isWord(c byte) bool {
	return c == '_' || '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
}

// dateLayouts are how LoCoMo and LongMemEval write dates.
var dateLayouts = []string{time.RFC3339, "3:04 pm on 2 January, 2006", "2006/01/02 (Mon) 15:04", "2006/01/02",
	"2006-01-02 15:04", time.DateOnly}

// undated is the time of calls about conversations without dates.
const undated = "2026-01-01T00:00:00Z"

// timestamp is a date as messages have it, empty where it cannot be read.
func timestamp(date string) string {
	for _, layout := range dateLayouts {
		if t, err := time.Parse(layout, date); err == nil {
			return t.Format(time.RFC3339)
		}
	}
	return ""
}
