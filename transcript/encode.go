package transcript

import (
	"fmt"
	"slices"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/excerpt"
	"github.com/kagewasm/kagewasm/transcript/internal/codec"
	"github.com/kagewasm/kagewasm/transcript/internal/jsondoc"
)

// Encode writes a message list as a session file: what is left of Messages
// after a compaction, in their order, and what came new. to may be [Same] or
// empty for the format that the session was read in.
//
// In the session's own format an entry with the id of a message that was read is that message and is written with its
// bytes; only the content of a tool result and the arguments of a tool call may differ, and are then replaced in
// place; an answer may have lost its thinking, see [abi.Message.WithoutThinking] and [Session.KeepsThinking]; and of
// what a person or the agent said, or a command of theirs put out, beginning and end may be left, see firewall.Shorten.
// Arguments in an answer that carries a provider's signature stay as they are, and so do those that are no text or
// object of the model's making (a screenshot). (Meta and Raw are the host's to change and are not compared.) An entry
// with another id is written as a new message. The file around the messages stays as it is.
//
// In another format the whole file is new, and what the format cannot hold is
// left out: see the package comment. In all but the neutral one messages that are for
// no model are left out, and the results of calls stand as providers take them.
//
// It refuses, with [abi.CodeUsage], lists that no compaction makes: an id
// twice, originals in another order, or changed elsewhere.
func (s *Session) Encode(msgs []abi.Message, to Format) ([]byte, error) {
	if to == "" || to == Same || to == s.Format {
		changes, err := s.compare(msgs)
		if err != nil {
			return nil, err
		}
		return s.log.Rewrite(changes), nil
	}
	f, err := formatOf(to)
	if err != nil {
		return nil, err
	}
	if to != Neutral {
		msgs = answered(forModels(msgs))
	}
	return f.Write(codec.About{Model: s.Model, Session: s.ID, Tools: s.Tools}, msgs), nil
}

// KeepsThinking reports whether what Encode writes in a format has the thinking of
// answers that lost it: agents' own logs do, and the agent decides what it sends.
func (s *Session) KeepsThinking(to Format) bool {
	return (to == "" || to == Same || to == s.Format) && !s.log.DropsThinking
}

// forModels are the messages that a model may see: none of an internal kind, and no
// result of a call in one.
func forModels(msgs []abi.Message) []abi.Message {
	list, hidden := make([]abi.Message, 0, len(msgs)), make([]bool, len(msgs))
	units, _ := abi.Units(msgs)
	for _, u := range units {
		if msgs[u[0]].Kind.Internal() {
			for _, i := range u {
				hidden[i] = true
			}
		}
	}
	for i := range msgs {
		if !hidden[i] && !msgs[i].Kind.Internal() {
			list = append(list, msgs[i])
		}
	}
	return list
}

// compare finds out what became of the messages that were read.
func (s *Session) compare(msgs []abi.Message) ([]codec.Change, error) {
	read := s.log.Messages
	index := make(map[string]int, len(read))
	for i, m := range read {
		index[m.ID] = i
	}
	changes := make([]codec.Change, 0, len(msgs))
	seen := make(map[string]bool, len(msgs))
	last := -1
	for i := range msgs {
		m := &msgs[i]
		if seen[m.ID] {
			return nil, badList("message %s stands there twice", jsondoc.Quoted(m.ID))
		}
		seen[m.ID] = true
		at, ok := index[m.ID]
		if !ok {
			changes = append(changes, codec.Change{Message: m, Index: -1})
			continue
		}
		if at < last {
			return nil, badList("message %s stands after %s, which it preceded",
				jsondoc.Quoted(m.ID), jsondoc.Quoted(read[last].ID))
		}
		last = at
		c, ok := compareMessage(&read[at].Message, m)
		if !ok {
			return nil, badList("message %s: only the content of a tool result, the arguments of tool calls, thinking and the "+
				"middle of what was said can change", jsondoc.Quoted(m.ID))
		}
		for _, words := range c.Words {
			if _, places, _ := s.log.Says(read[at], words); len(places) == 0 {
				return nil, badList("message %s: its words stand in the file in another form, and cannot be shortened there",
					jsondoc.Quoted(m.ID))
			}
		}
		c.Index = at
		changes = append(changes, c)
	}
	return changes, nil
}

// compareMessage finds out what changed in a message, and whether it may.
func compareMessage(old, now *abi.Message) (c codec.Change, ok bool) {
	c.Message = now
	same := old.Content.Equal(now.Content)
	switch {
	case same:
	case old.Role == abi.RoleTool:
		c.Content, same = true, true
	case old.Role == abi.RoleUser, old.Role == abi.RoleAssistant:
		c.Words, same = shortened(old.Content, now.Content)
	}
	if bare, thought := old.WithoutThinking(); !same && thought {
		if same = bare.Content.Equal(now.Content); !same {
			c.Words, same = shortened(bare.Content, now.Content)
		}
		c.Thinking = true
	}
	if !same || old.Role != now.Role || old.Kind != now.Kind || old.ToolCallID != now.ToolCallID ||
		old.Name != now.Name || old.IsError != now.IsError || old.Timestamp != now.Timestamp ||
		len(old.ToolCalls) != len(now.ToolCalls) {
		return c, false
	}
	for i, call := range now.ToolCalls {
		was := old.ToolCalls[i]
		if call.ID != was.ID || call.Name != was.Name {
			return c, false
		}
		if call.Arguments != was.Arguments {
			c.Args = append(c.Args, i)
		}
	}
	return c, true
}

// shortened are the texts of which only beginning and end are left. ok says that nothing
// else changed.
func shortened(old, now abi.Content) (list []codec.Words, ok bool) {
	if !old.IsParts() && !now.IsParts() {
		return []codec.Words{{Was: old.Text(), Is: now.Text()}}, excerpt.Is(now.Text(), old.Text())
	}
	if len(old.Parts()) != len(now.Parts()) {
		return nil, false
	}
	short := slices.Clone(old.Parts())
	for i, p := range now.Parts() {
		if was := short[i].Text; was != p.Text && excerpt.Is(p.Text, was) {
			list, short[i] = append(list, codec.Words{Was: was, Is: p.Text}), short[i].WithText(p.Text)
		}
	}
	return list, abi.Parts(short...).Equal(now)
}

func badList(format string, args ...any) error {
	return &abi.Error{Code: abi.CodeUsage, Op: "encode", Message: fmt.Sprintf(format, args...)}
}
