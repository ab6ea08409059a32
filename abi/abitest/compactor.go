package abitest

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/kagewasm/kagewasm/abi"
)

// compactorRules judge the message lists of compactors, as the host's firewall
// will. Each looks at one thing and leaves what it cannot read to the others.
var compactorRules = []rule{
	{
		name: "compacts",
		explanation: "where half a session could go a compactor returns messages, a summary or a cancel; one that " +
			"says nothing is passed over",
		fix: "return messages with a ref for each one that stays, or a summary; cancel with a reason " +
			"where nothing should be done",
		when: compactor,
		check: func(ctx context.Context, c *checker) error {
			if a := c.session(ctx, "plain session"); a.err == nil && (a.out == nil || !a.out.Compacts() && !a.out.Cancel) {
				return errors.New("nothing returned")
			}
			return nil
		},
	},
	onList("known ids", "every message returned is one of the input, once, or a new one without an id",
		"return {ref: id} for messages of the input, each once, and no id for new ones", knownIDs),
	onList("nothing forged", "new messages are role user and kind compaction_summary or injected; of old ones "+
		"only tool output and tool-call arguments may differ",
		"give new messages role user and kind compaction_summary; return old ones by ref, or with nothing changed "+
			"but tool output and arguments", nothingForged),
	onList("pinned kept", "pinned messages are returned byte for byte: instructions outlast every compaction",
		"return every message with pinned set, by ref", pinnedKept),
	onList("units whole", "a tool call stays or goes with all its results, and with its pinned members: providers "+
		"refuse half a pair for good",
		"decide by input.messages[].unit: all of a unit stays, or all of it goes", unitsWhole),
	onList("order kept", "messages that stay are in the order they had",
		"return the messages in the order of the input", orderKept),
	onList("superseded complete", "superseded, where given, names exactly the messages that are not returned, once each",
		"leave superseded out, which the host then works out, or name all that is not returned", supersededComplete),
	onList("smaller", "what is returned costs less than before: a compaction that frees nothing runs again at "+
		"once, for ever",
		"cancel with a reason where nothing can go; keep a summary shorter than what it stands for", smaller),
	onList("within target", "where what is pinned, the current turn and a summary fit the target the result does too",
		"count with input.messages[].tokens, leave room for the summary, and let the oldest units go first", withinTarget),
}

// list is an answer with messages, matched with its input.
type list struct {
	in  *abi.Input
	out *abi.Output
	// at is the input message each output message stands for: -1 is a new
	// one, -2 one that the input does not have.
	at []int
	// kept is how often each input message is in the output.
	kept []int
}

func onList(name, explanation, fix string, judge func(*list) error) rule {
	return rule{name: name, explanation: explanation, fix: fix, when: compactor,
		answer: func(_ *abi.Manifest, in *abi.Input, out *abi.Output) error {
			if out.Messages == nil {
				return nil
			}
			return judge(match(in, out))
		}}
}

func match(in *abi.Input, out *abi.Output) *list {
	index := make(map[string]int, len(in.Messages))
	for i, m := range in.Messages {
		index[m.ID] = i
	}
	l := &list{in: in, out: out, at: make([]int, len(out.Messages)), kept: make([]int, len(in.Messages))}
	for i := range out.Messages {
		m := &out.Messages[i]
		id := m.Ref
		id = cmp.Or(id, m.ID)
		if id == "" {
			l.at[i] = -1
		} else if at, ok := index[id]; ok {
			l.at[i] = at
			l.kept[at]++
		} else {
			l.at[i] = -2
		}
	}
	return l
}

func knownIDs(l *list) error {
	for i, at := range l.at {
		if at == -2 {
			return fmt.Errorf("message %d: no %q in the input", i, l.out.Messages[i].Ref+l.out.Messages[i].ID)
		}
	}
	for i, n := range l.kept {
		if n > 1 {
			return fmt.Errorf("%q is returned %d times", l.in.Messages[i].ID, n)
		}
	}
	return nil
}

func nothingForged(l *list) error {
	for i, at := range l.at {
		m := &l.out.Messages[i]
		switch {
		case at == -1 && (m.Role != abi.RoleUser || len(m.ToolCalls) > 0 ||
			m.Kind != abi.KindSummary && m.Kind != abi.KindInjected):
			return fmt.Errorf("message %d: new, with role %q and kind %q", i, m.Role, m.Kind)
		case at >= 0 && m.Ref == "" && !sameText(edited(l.in.Messages[at].Message, &m.Message), m.Message):
			return fmt.Errorf("message %q says something else than before", m.ID)
		}
	}
	return nil
}

// edited is old with what may be edited taken from m.
func edited(old abi.Message, m *abi.Message) abi.Message {
	if old.Role == abi.RoleTool {
		old.Content = m.Content
	}
	if len(old.ToolCalls) == len(m.ToolCalls) {
		old.ToolCalls = slices.Clone(old.ToolCalls)
		for i := range old.ToolCalls {
			old.ToolCalls[i].Arguments = m.ToolCalls[i].Arguments
		}
	}
	return old
}

func sameText(a, b abi.Message) bool {
	x, errX := json.Marshal(a)
	y, errY := json.Marshal(b)
	return errX == nil && errY == nil && string(x) == string(y)
}

func pinnedKept(l *list) error {
	for i, m := range l.in.Messages {
		if m.Pinned && l.kept[i] == 0 {
			return fmt.Errorf("pinned %q is gone", m.ID)
		}
	}
	for i, at := range l.at {
		if at < 0 {
			continue
		}
		m, old := &l.out.Messages[i], &l.in.Messages[at]
		if m.Ref == "" && old.Pinned && !sameText(old.Message, m.Message) {
			return fmt.Errorf("pinned %q is changed", m.ID)
		}
	}
	return nil
}

func unitsWhole(l *list) error {
	stays := make(map[int]bool)
	for i, m := range l.in.Messages {
		if kept, seen := stays[m.Unit]; seen && kept != (l.kept[i] > 0) {
			return fmt.Errorf("the unit of %q is split", m.ID)
		}
		stays[m.Unit] = l.kept[i] > 0
	}
	return nil
}

func orderKept(l *list) error {
	last := -1
	for i, at := range l.at {
		if at >= 0 && at < last {
			return fmt.Errorf("message %d: %q stands after a later one", i, l.in.Messages[at].ID)
		}
		last = max(last, at)
	}
	return nil
}

func supersededComplete(l *list) error {
	if l.out.Superseded == nil {
		return nil
	}
	named := make(map[string]int)
	for _, id := range l.out.Superseded {
		named[id]++
	}
	for i, m := range l.in.Messages {
		gone := 0
		if l.kept[i] == 0 {
			gone = 1
		}
		if named[m.ID] != gone {
			return fmt.Errorf("%q: named %d times, returned %d times", m.ID, named[m.ID], l.kept[i])
		}
		delete(named, m.ID)
	}
	for id := range named {
		return fmt.Errorf("%q is not in the input", id)
	}
	return nil
}

// cost is what the answer costs: messages of the input as the host counted
// them, anything else estimated.
func (l *list) cost() (tokens, estimated int) {
	for i, at := range l.at {
		if m := &l.out.Messages[i]; at >= 0 && m.Ref != "" {
			tokens += l.in.Messages[at].Tokens
		} else if at != -2 {
			estimated += estimate(&m.Message)
		}
	}
	return tokens, estimated
}

func (l *list) before() (total int) {
	for _, m := range l.in.Messages {
		total += m.Tokens
	}
	return total
}

func smaller(l *list) error {
	tokens, estimated := l.cost()
	if before := l.before(); tokens+estimated >= before {
		return fmt.Errorf("%d tokens, %d before", tokens+estimated, before)
	}
	return nil
}

func withinTarget(l *list) error {
	budget := l.in.Budget
	if fixed(l.in)+budget.SummaryTokens > budget.TargetTokens {
		return nil
	}
	if tokens, estimated := l.cost(); tokens+estimated > budget.TargetTokens+slack(estimated)-estimated {
		return fmt.Errorf("%d tokens, the target is %d", tokens+estimated, budget.TargetTokens)
	}
	return nil
}

// fixed is what cannot go: the units with a pinned message or one of the
// current turn.
func fixed(in *abi.Input) (tokens int) {
	turn, stays := abi.CurrentTurn(in.Plain()), make(map[int]bool)
	for i, m := range in.Messages {
		if m.Pinned || turn[i] {
			stays[m.Unit] = true
		}
	}
	for _, m := range in.Messages {
		if stays[m.Unit] {
			tokens += m.Tokens
		}
	}
	return tokens
}
