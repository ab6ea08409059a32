package strategies

import (
	"slices"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/firewall"
)

// List is a list of messages and their cost; [NewList] makes one. Nobody writes to a list: what changes
// something returns another one.
type List struct {
	Messages []abi.Message
	// Tokens is the cost of each message. Total is that of the whole request: messages, tool
	// definitions and overhead.
	Tokens []int
	Total  int
	// Pinned marks the messages that stay; see abi.Pinned. It is nil where it is not needed.
	Pinned []bool
}

// NewList returns a list with its total. overhead is the cost of the request beside the messages, in
// tokens.
func NewList(msgs []abi.Message, tokens []int, pinned []bool, overhead int) List {
	l := List{msgs, tokens, overhead, pinned}
	for _, n := range tokens {
		l.Total += n
	}
	return l
}

// Edited returns the list with edits in it, and the ids of the messages that
// changed.
func (l List) Edited(edits []abi.Edit, count abi.Counter) (after List, changed []string) {
	return l.changed(firewall.Edit(l.Messages, l.Tokens, edits, count))
}

// Shortened returns the list with excerpts in it, and the ids of the messages that
// changed.
func (l List) Shortened(list []firewall.Excerpt, recall string, count abi.Counter) (after List, changed []string) {
	return l.changed(firewall.Shorten(l.Messages, l.Tokens, list, recall, count))
}

func (l List) changed(msgs []abi.Message, tokens []int, ids []string) (List, []string) {
	if len(ids) == 0 {
		return l, nil
	}
	after := l
	after.Messages, after.Tokens = msgs, tokens
	for i := range l.Tokens {
		after.Total += tokens[i] - l.Tokens[i]
	}
	return after, ids
}

// Bare returns the list without what the model thought after the first place where it differs from the
// list that came, and the ids of the messages that changed. What is pinned in that stays.
func (l List) Bare(came List, count abi.Counter) (after List, changed []string) {
	after = l
	after.Messages, changed = firewall.DropThinking(came.Messages, came.Pinned, l.Messages)
	if len(changed) == 0 {
		return l, nil
	}
	after.Tokens = slices.Clone(l.Tokens)
	for i := range after.Messages {
		if !after.Messages[i].Same(&l.Messages[i]) {
			after.Tokens[i] = count.Message(&after.Messages[i])
			after.Total += after.Tokens[i] - l.Tokens[i]
		}
	}
	return after, changed
}

// Without returns the list without messages, which are named in session order.
func (l List) Without(ids []string) List {
	if len(ids) == 0 {
		return l
	}
	stay := max(0, len(l.Messages)-len(ids)) // to grow a list of many messages takes several times its memory
	after := List{Messages: make([]abi.Message, 0, stay), Tokens: make([]int, 0, stay), Total: l.Total,
		Pinned: make([]bool, 0, stay)}
	for i := range l.Messages {
		if len(ids) > 0 && l.Messages[i].ID == ids[0] {
			after.Total -= l.Tokens[i]
			ids = ids[1:]
			continue
		}
		after.Messages = append(after.Messages, l.Messages[i])
		after.Tokens = append(after.Tokens, l.Tokens[i])
		after.Pinned = append(after.Pinned, l.Pinned[i])
	}
	return after
}

// PinnedAs returns the list with the pins that another one has, by id.
func (l List) PinnedAs(other List) List {
	pins := make(map[string]bool)
	for i := range other.Messages {
		pins[other.Messages[i].ID] = other.Pinned[i]
	}
	l.Pinned = make([]bool, len(l.Messages))
	for i := range l.Messages {
		l.Pinned[i] = pins[l.Messages[i].ID]
	}
	return l
}

// ids returns the ids of the marked messages, in session order.
func (l List) ids(marked []bool) []string {
	var ids []string
	for i := range l.Messages {
		if marked[i] {
			ids = append(ids, l.Messages[i].ID)
		}
	}
	return ids
}
