package firewall

import (
	"cmp"
	"strings"

	"github.com/kagewasm/kagewasm/abi"
)

// FromOutput turns a compactor's message list into a plan. msgs is the list that the compactor was
// given. What is missing is superseded, what differs is edited, and what is new is inserted, after the
// message that the list has before it. A summary beside the list is the plan's AuditSummary. FromOutput
// refuses an answer that names a message that the session does not have, names one twice, changes the
// order, rewrites what somebody said, or poses as somebody.
func FromOutput(msgs []abi.Message, out *abi.Output, source abi.Source) (abi.Plan, error) {
	r := reading{msgs: msgs, index: make(map[string]int, len(msgs)), seen: make([]bool, len(msgs)), last: -1}
	r.plan.Source = source
	for i := range msgs {
		r.index[msgs[i].ID] = i
	}
	for i := range out.Messages {
		m, read := &out.Messages[i], r.known
		if m.Ref == "" && m.ID == "" {
			read = r.added
		}
		if err := read(m); err != nil {
			return abi.Plan{}, err
		}
	}
	for i := range msgs {
		if !r.seen[i] {
			r.plan.Supersede = append(r.plan.Supersede, msgs[i].ID)
		}
	}
	var said []string
	for k, texts := range r.texts {
		in := &r.plan.Insert[k]
		if in.Text = strings.Join(texts, "\n\n"); in.Kind == abi.KindSummary {
			said = append(said, in.Text)
		}
	}
	r.plan.Summary, r.plan.AuditSummary = strings.Join(said, "\n\n"), out.Summary
	return r.plan, r.accounted(out.Superseded)
}

// reading is a message list of which a part is read.
type reading struct {
	msgs  []abi.Message
	index map[string]int
	seen  []bool
	last  int
	plan  abi.Plan
	texts [][]string // of each of the plan's insertions
}

// known reads an entry that names an input message.
func (r *reading) known(m *abi.OutputMessage) error {
	id := m.Ref
	id = cmp.Or(id, m.ID)
	i, ok := r.index[id]
	switch {
	case !ok:
		return refuse(abi.CodeUnknownID, "returns %q, which is not in the session (new messages have no id)", id)
	case r.seen[i]:
		return refuse(abi.CodeDuplicateID, "returns %q twice", id)
	case i < r.last:
		return refuse(abi.CodeOrder, "returns %q after a later message", id)
	}
	r.seen[i], r.last = true, i
	if m.Ref != "" {
		return nil
	}
	return r.compare(&r.msgs[i], &m.Message)
}

// compare finds what a returned message changed, and allows edits of tool output and arguments alone.
// Fields that nobody reads as words (timestamps, meta, raw) stay the host's, whatever the answer has in
// them.
func (r *reading) compare(was, is *abi.Message) error {
	if is.Role != was.Role || is.ToolCallID != was.ToolCallID || is.Kind != was.Kind {
		return refuse(abi.CodeForged, "returns %q with another role, kind or call id", was.ID)
	}
	if !is.Content.Equal(was.Content) {
		if was.Role != abi.RoleTool {
			return refuse(abi.CodeEdit, "rewrites what %q (%s) says", was.ID, was.Role)
		}
		r.plan.Edit = append(r.plan.Edit, abi.Edit{ID: was.ID, Call: abi.EditContent, Text: is.Text()})
	}
	if len(is.ToolCalls) != len(was.ToolCalls) {
		return refuse(abi.CodeEdit, "returns %q with %d tool calls instead of %d", was.ID, len(is.ToolCalls),
			len(was.ToolCalls))
	}
	for k, c := range is.ToolCalls {
		if c.ID != was.ToolCalls[k].ID || c.Name != was.ToolCalls[k].Name {
			return refuse(abi.CodeForged, "returns %q with another tool call", was.ID)
		}
		if c.Arguments != was.ToolCalls[k].Arguments {
			r.plan.Edit = append(r.plan.Edit, abi.Edit{ID: was.ID, Call: k, Text: c.Arguments})
		}
	}
	return nil
}

// added reads an entry that names no input message. Summaries next to each other become one.
func (r *reading) added(m *abi.OutputMessage) error {
	text, err := newMessage(&m.Message)
	if err != nil {
		return err
	}
	in := abi.Insert{Kind: m.Kind, Source: r.plan.Source}
	if r.last >= 0 {
		in.After = r.msgs[r.last].ID
	}
	if n := len(r.plan.Insert) - 1; n >= 0 && in.Kind == abi.KindSummary && r.plan.Insert[n] == in {
		r.texts[n] = append(r.texts[n], text)
		return nil
	}
	r.plan.Insert, r.texts = append(r.plan.Insert, in), append(r.texts, []string{text})
	return nil
}

// newMessage returns the text of a new message.
func newMessage(m *abi.Message) (string, error) {
	if m.Role != abi.RoleUser || m.Kind != abi.KindSummary && m.Kind != abi.KindInjected {
		return "", refuse(abi.CodeForged, "adds a message of role %q and kind %q: new ones are role user, kind %s or %s",
			m.Role, m.Kind, abi.KindSummary, abi.KindInjected)
	}
	if len(m.ToolCalls) > 0 || m.ToolCallID != "" {
		return "", refuse(abi.CodeForged, "adds a message with tool calls")
	}
	if text := strings.TrimSpace(m.Text()); text != "" {
		return text, nil
	}
	return "", refuse(abi.CodeForged, "adds an empty message")
}

// accounted checks the list of superseded ids against what is missing.
func (r *reading) accounted(superseded []string) error {
	if len(superseded) == 0 {
		return nil // the list is what is missing
	}
	listed := make(map[string]bool, len(superseded))
	for _, id := range superseded {
		i, ok := r.index[id]
		switch {
		case !ok:
			return refuse(abi.CodeUnknownID, "supersedes %q, which is not in the session", id)
		case listed[id]:
			return refuse(abi.CodeDuplicateID, "supersedes %q twice", id)
		case r.seen[i]:
			return refuse(abi.CodeUnaccounted, "supersedes %q and returns it", id)
		}
		listed[id] = true
	}
	for _, id := range r.plan.Supersede {
		if !listed[id] {
			return refuse(abi.CodeUnaccounted, "%q is neither returned nor superseded", id)
		}
	}
	return nil
}
