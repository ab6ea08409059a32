package strategies

import (
	"cmp"
	"slices"

	"github.com/kagewasm/kagewasm/abi"
)

// TrimConfig is about duplicate synthetic messages. The zero value is the
// default.
type TrimConfig struct {
	// Off switches it off.
	Off bool
	// Threshold is the fraction of the window over which to trim. Default 0.5.
	Threshold float64
	// MaxTokens, where set, is used instead of Threshold.
	MaxTokens int
}

// Due reports whether a request of so many tokens is to be trimmed.
func (c TrimConfig) Due(tokens, window int) bool {
	over := int(cmp.Or(c.Threshold, 0.5) * float64(window))
	return !c.Off && tokens > cmp.Or(c.MaxTokens, over)
}

// Trim returns the ids of synthetic messages that a later one repeats word for word, in session order.
// The newest stays: it says where the session is. Pinned messages, the current turn, and messages that
// have tool calls or answer one stay too.
func Trim(v *View) []string {
	type saying struct {
		role abi.Role
		text string
	}
	said := make(map[saying]bool)
	var ids []string
	for k := len(v.Units) - 1; k >= 0; k-- {
		u := v.Units[k]
		m := &v.Messages[u[0]]
		if m.Kind != abi.KindSynthetic || len(u) > 1 || len(m.ToolCalls) > 0 || m.Role == abi.RoleTool {
			continue
		}
		s := saying{m.Role, m.Text()}
		if m.Content.IsParts() {
			raw, err := m.Content.MarshalJSON()
			if err != nil {
				continue
			}
			s.text = "parts " + string(raw)
		}
		if said[s] && v.Candidate(u) {
			ids = append(ids, m.ID)
		}
		said[s] = true
	}
	slices.Reverse(ids)
	return ids
}
