package firewall

import (
	"encoding/json"
	"slices"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/excerpt"
)

// Excerpt says how much stays of a text that is too long for any request: about so many
// bytes of its beginning and of its end. The firewall writes what stands between them,
// so that nobody can put words into a person's mouth.
type Excerpt struct {
	ID         string
	Part       int // of the content; 0 where that is one text
	Head, Tail int
}

// Shorten leaves excerpts of what somebody said, a person or the agent, and of the output of commands
// that a person ran. Only the host calls it: no plan can. recall says in one line how the
// rest can be read. A message that is pinned for what it is keeps every byte: see
// [abi.Message.AlwaysKept]. So does a text of the agent's that its provider signed, or points into.
// Shorten returns what [Edit] returns.
func Shorten(msgs []abi.Message, tokens []int, list []Excerpt, recall string, count abi.Counter) (
	after []abi.Message, cost []int, changed []string) {
	of := make(map[string][]Excerpt, len(list))
	for _, e := range list {
		of[e.ID] = append(of[e.ID], e)
	}
	return change(msgs, tokens, count, func(m abi.Message) (abi.Message, bool) {
		done := false
		for _, e := range of[m.ID] {
			if short, ok := shortened(m, e, recall); ok {
				m, done = short, true
			}
		}
		return m, done
	})
}

// shortened returns m with one text cut to an excerpt.
func shortened(m abi.Message, e Excerpt, recall string) (abi.Message, bool) {
	says := (m.Role == abi.RoleUser || m.Role == abi.RoleAssistant) && m.Kind == "" ||
		m.Role == abi.RoleUser && m.Kind == abi.KindBash
	if !says || m.AlwaysKept() || e.Head <= 0 || e.Tail <= 0 {
		return m, false
	}
	parts := m.Content.Parts()
	whole := m.Text()
	if m.Content.IsParts() {
		if e.Part < 0 || e.Part >= len(parts) {
			return m, false
		}
		if m.Role == abi.RoleAssistant && !isPlain(&parts[e.Part]) {
			return m, false
		}
		whole = parts[e.Part].Text
	}
	text := excerpt.Of(whole, e.Head, e.Tail, m.ID, recall)
	if len(text) >= len(whole) {
		return m, false
	}
	if !m.Content.IsParts() {
		m.Content = abi.Text(text)
		return m, true
	}
	parts = slices.Clone(parts)
	parts[e.Part] = parts[e.Part].WithText(text)
	m.Content.KeepParts(parts)
	return m, true
}

// isPlain reports whether a part is a text, and nothing that only holds for all of it: a signature, places in it.
func isPlain(p *abi.Part) bool {
	raw, err := p.MarshalJSON()
	var fields map[string]json.RawMessage
	if err != nil || p.Type != "text" || json.Unmarshal(raw, &fields) != nil {
		return false
	}
	for key, value := range fields {
		switch text := string(value); {
		case key == "type", key == "text", key == "cache_control", text == "[]", text == "null":
		default:
			return false
		}
	}
	return true
}
