// Package toolname tells of which tool a result is, where the result does not: many logs name the tool in the call
// alone.
package toolname

import (
	"slices"

	"github.com/kagewasm/kagewasm/abi"
)

// Fill returns the messages with the tool of each result named as the last call names it that has its id. The list that
// is given stays as it is.
func Fill(msgs []abi.Message) []abi.Message {
	tools := make(map[string]string) // by the id of a call
	filled := msgs
	for i := range msgs {
		m := &msgs[i]
		for k := range m.ToolCalls {
			tools[m.ToolCalls[k].ID] = m.ToolCalls[k].Name
		}
		name := tools[m.ToolCallID]
		if m.Role != abi.RoleTool || m.Name != "" || name == "" {
			continue
		}
		if &filled[0] == &msgs[0] {
			filled = slices.Clone(msgs)
		}
		filled[i].Name = name
	}
	return filled
}
