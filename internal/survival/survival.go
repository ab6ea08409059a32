// Package survival measures, for tests, what a compaction keeps: of the exact
// names that an agent went on to use and had met before, how many are still
// there. It finds names in a way of its own, and not in that of the packages
// it judges.
package survival

import (
	"encoding/json"
	"strings"

	"github.com/kagewasm/kagewasm/abi"
)

// ahead is how many messages after a compaction say what was needed.
const ahead = 60

// Few is the number of needed names under which a compaction says too little
// to be judged by.
const Few = 10

// Needed are the names in what the agent says in the 60 messages after the
// compaction at i, or up to the next one, that stood before it.
func Needed(msgs []abi.Message, i int) map[string]bool {
	after := make(map[string]bool)
	for k := i + 1; k <= min(len(msgs)-1, i+ahead) && msgs[k].Kind != abi.KindSummary; k++ {
		if msgs[k].Role == abi.RoleAssistant {
			Names(Text(&msgs[k]), after)
		}
	}
	need := make(map[string]bool)
	for k := range msgs[:i] {
		text := Text(&msgs[k])
		if !mayHold(text, after) { // to find all names of a text takes longer
			continue
		}
		before := make(map[string]bool)
		Names(text, before)
		for name := range before {
			if after[name] {
				need[name] = true
				delete(after, name)
			}
		}
	}
	return need
}

// mayHold reports whether one of the names stands in a text, as a name or as part of one.
func mayHold(text string, names map[string]bool) bool {
	for name := range names {
		if strings.Contains(text, name[len("p:"):]) {
			return true
		}
	}
	return false
}

// Held is the share of the needed names that a text holds.
func Held(text string, need map[string]bool) float64 {
	have := make(map[string]bool)
	Names(text, have)
	n := 0
	for name := range need {
		if have[name] {
			n++
		}
	}
	return float64(n) / float64(max(1, len(need)))
}

// Text is what a message says and calls.
func Text(m *abi.Message) string {
	text := m.Text()
	if m.Content.IsParts() {
		if b, err := json.Marshal(m.Content); err == nil {
			text = string(b)
		}
	}
	for _, c := range m.ToolCalls {
		text += "\n" + c.Name + " " + c.Arguments
	}
	return text
}
