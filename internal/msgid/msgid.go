// Package msgid gives messages ids that have none.
package msgid

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/set"
)

// Fill returns the messages, each with an id. One that has none gets an id made of what
// it says and of how many before it say the same, so that the same list always has the
// same ids, also after it grew. No id is given that is taken. Known are messages whose
// ids are known: where a list begins with the same messages, they keep them. The list
// itself is not changed.
func Fill(msgs, known []abi.Message, taken func(id string) bool) []abi.Message {
	if !slices.ContainsFunc(msgs, func(m abi.Message) bool { return m.ID == "" }) {
		return msgs
	}
	ids := make([]string, len(msgs))
	for i := range msgs {
		ids[i] = msgs[i].ID
	}
	used := set.Of(ids...)
	said := make(map[string]int)
	out, same := slices.Clone(msgs), true
	for i := range out {
		m := &out[i]
		same = same && i < len(known) && says(m, &known[i])
		if same && m.ID == "" && !used[known[i].ID] {
			m.ID = known[i].ID
		}
		if m.ID != "" {
			used[m.ID] = true
			continue
		}
		words := digest(m)
		for m.ID == "" || used[m.ID] || taken(m.ID) {
			m.ID = "m-" + words
			if n := said[words]; n > 0 {
				m.ID += fmt.Sprintf(".%d", n)
			}
			said[words]++
		}
		used[m.ID] = true
	}
	return out
}

// says reports whether a message is a known one, which may have got its id here.
func says(m, known *abi.Message) bool {
	with := *known
	if m.ID == "" {
		with.ID = ""
	}
	return m.Same(&with)
}

// digest is of all that a message says.
func digest(m *abi.Message) string {
	of := abi.Message{Role: m.Role, Content: m.Content, ToolCalls: m.ToolCalls, ToolCallID: m.ToolCallID, Name: m.Name,
		Kind: m.Kind}
	text, err := json.Marshal(&of)
	if err != nil { // a part that is no JSON
		text = []byte(string(m.Role) + "\x00" + m.Text())
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:6])
}
