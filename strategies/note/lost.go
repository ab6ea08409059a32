package note

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/clip"
	"github.com/kagewasm/kagewasm/strategies/note/internal/names"
	"github.com/kagewasm/kagewasm/strategies/note/internal/outcome"
	"github.com/kagewasm/kagewasm/strategies/note/internal/work"
)

// Loss is something that a superseded message said. A note may tell it all the same.
type Loss struct {
	Kind LossKind `json:"kind"`
	// Message is the id of the message, empty where the text stands in several.
	Message string `json:"message,omitempty"`
	Text    string `json:"text"`
}

// LossKind says what somebody had committed to.
type LossKind string

// The kinds of losses, in the order of what they weigh.
const (
	LostRule     LossKind = "rule"     // what a person said must be, decided, corrected or did not allow
	LostDecision LossKind = "decision" // what the agent decided or found
	LostFailure  LossKind = "failure"  // what failed, and did not pass later
	LostFile     LossKind = "file"     // what was modified
	LostMessage  LossKind = "message"  // the rest
)

// maxLossLine is how much of a message stands for it, in characters.
const maxLossLine = 160

// Losses lists what went, first what people and the agent had committed to, each kind
// in the order of the session.
func Losses(ctx context.Context, s Session) []Loss {
	n := Build(ctx, s)
	memory := cmp.Or(s.Memory, new(Memory))
	s = s.oneResultEach().plain(memory)
	l := losses{said: make(map[string]bool)}
	l.gone, _ = s.parted()
	origins := abi.Origins(s.Messages)
	person := make(map[string]bool)
	for i := range s.Messages {
		person[s.Messages[i].ID] = origins[i] == abi.FromPerson
	}
	l.rules(person, work.New(s.harness(ctx, memory)))
	l.decisions()
	l.failures(n.names.Failures())
	l.files(n)
	l.rest(person)
	return l.list
}

// losses are what went, as far as it is listed.
type losses struct {
	gone []abi.Message
	list []Loss
	said map[string]bool // messages of which something is listed
}

func (l *losses) add(kind LossKind, id, text string) {
	l.list, l.said[id] = append(l.list, Loss{kind, id, text}), true
}

// rules are what persons said must be, what they corrected and did not allow, and behind these what may be none. Of the
// same words said again the last count.
func (l *losses) rules(person map[string]bool, w *work.Work) {
	var list []bound
	for i := range l.gone {
		m := &l.gone[i]
		for k := range m.ToolCalls {
			w.Call(&m.ToolCalls[k])
		}
		if m.Role == abi.RoleTool {
			if step := w.Result(m); step.Rejected != "" {
				list = append(list, bound{m.ID, "not allowed: " + step.Rejected, true})
			}
		}
		if person[m.ID] {
			list = append(list, boundBy(m)...)
		}
	}
	last := make(map[string]int)
	for i := range list {
		last[list[i].text] = i
	}
	for _, sure := range []bool{true, false} {
		for i, r := range list {
			if l.said[r.id] = true; r.sure == sure && last[r.text] == i {
				l.add(LostRule, r.id, r.text)
			}
		}
	}
}

// bound is a rule in the words of a person, and whether it surely is one.
type bound struct {
	id, text string
	sure     bool
}

// boundBy are the rules of a message. One that corrects what was done or said begins with that.
func boundBy(m *abi.Message) (list []bound) {
	first := correction(m.Words())
	for _, r := range bindings(m.Words()) {
		if !r.heads {
			list = append(list, bound{m.ID, strings.TrimSpace(r.under + " " + r.text), r.binds})
		}
	}
	if first == "" || strings.HasSuffix(first, ":") {
		return list
	}
	list = slices.DeleteFunc(list, func(r bound) bool { return r.text == first })
	return slices.Insert(list, 0, bound{m.ID, first, true})
}

// correction is the first sentence of words that correct what was done or said.
func correction(words string) string {
	if !corrects(words) {
		return ""
	}
	for line := range unfenced(words) {
		for s := range sentences(line) {
			return clip.CutChars(s, maxEntry, "...")
		}
	}
	return ""
}

// decisions are what the agent decided and found. It is known by other words than those of persons: "let's" and "make
// sure" announce steps here.
func (l *losses) decisions() {
	for i := range l.gone {
		if m := &l.gone[i]; m.Role == abi.RoleAssistant {
			for _, f := range sentencesThat(m.Text(), decidesOrFinds) {
				l.add(LostDecision, m.ID, f.String())
			}
		}
	}
}

// decidesOrFinds reports whether a sentence says what an agent decided, found or tried in vain, or what it does in the
// place of what.
func decidesOrFinds(s string) bool {
	return isWeighty(s+" ") || saysSomething(s) && (saysFinding(s) || choosingWords.says(s) && !strings.HasSuffix(s, ":"))
}

// failures are those that nothing settled, and that no person caused.
func (l *losses) failures(list []names.Failure) {
	for i := range list {
		f := &list[i]
		_, says, _ := strings.Cut(f.Text, "\n")
		if !f.Settled && !f.Changed && !outcome.Rejected(strings.TrimSpace(says)) {
			l.add(LostFailure, cmp.Or(f.In(), l.told(f.Text)), f.Text)
		}
	}
}

// told is the earlier note that tells a text, where one does.
func (l *losses) told(text string) string {
	for i := range slices.Backward(l.gone) {
		if m := &l.gone[i]; m.Kind == abi.KindSummary && strings.Contains(m.Text(), text) {
			return m.ID
		}
	}
	return ""
}

// files are those that were modified, in the order of their last change.
func (l *losses) files(n *Note) {
	list := n.Files().Modified
	slices.SortStableFunc(list, func(a, b string) int { return cmp.Compare(n.names.Changed(a), n.names.Changed(b)) })
	for _, path := range list {
		id := ""
		if at := n.names.Changed(path); at > 0 && at <= len(l.gone) {
			id = l.callOf(at - 1)
		}
		l.add(LostFile, id, path)
	}
}

// callOf is the id of the message with the call of a result, where that goes too, and else its own.
func (l *losses) callOf(at int) string {
	of := l.gone[at].ToolCallID
	for i := at - 1; of != "" && i >= 0; i-- {
		if m := &l.gone[i]; slices.ContainsFunc(m.ToolCalls, func(c abi.ToolCall) bool { return c.ID == of }) {
			return m.ID
		}
	}
	return l.gone[at].ID
}

// rest are the other messages: what persons said, then what the agent said, then calls and what came of them.
func (l *losses) rest(person map[string]bool) {
	for _, of := range []func(m *abi.Message) bool{
		func(m *abi.Message) bool { return person[m.ID] },
		func(m *abi.Message) bool { return m.Role == abi.RoleAssistant && m.Text() != "" },
		func(*abi.Message) bool { return true },
	} {
		for i := range l.gone {
			if m := &l.gone[i]; !l.said[m.ID] && of(m) {
				l.add(LostMessage, m.ID, lineOf(m))
			}
		}
	}
}

// lineOf is a line for a message.
func lineOf(m *abi.Message) string {
	text := m.Text()
	if text == "" && len(m.ToolCalls) > 0 {
		text = m.ToolCalls[0].Name + " " + m.ToolCalls[0].Arguments
	}
	return clip.Chars(clip.OneLine(text), maxLossLine)
}
