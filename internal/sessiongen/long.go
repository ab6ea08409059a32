package sessiongen

import (
	"fmt"
	"strings"

	"github.com/kagewasm/kagewasm/abi"
)

// Long is a session of a system prompt, a request, and so many turns of one
// tool call each, whose results are of resultWords words. Every turn names
// files of its own. It is the same at every call.
func Long(turns, resultWords int) []abi.Message {
	msgs := []abi.Message{
		{ID: "sys", Role: abi.RoleSystem, Content: abi.Text("You are a coding agent.")},
		{ID: "task", Role: abi.RoleUser, Content: abi.Text("Make the tests of /repo pass.")},
	}
	for i := range turns {
		call := fmt.Sprintf("call_%d", i)
		var b strings.Builder
		for w := range resultWords {
			fmt.Fprintf(&b, "word%d ", (i+w)%97)
		}
		msgs = append(msgs,
			abi.Message{ID: fmt.Sprintf("a%d", i), Role: abi.RoleAssistant,
				Content: abi.Text(fmt.Sprintf("Looking at pkg%d.", i)), ToolCalls: []abi.ToolCall{{ID: call, Name: "bash",
					Arguments: fmt.Sprintf(`{"command":"go test ./pkg%d/file_%d.go"}`, i, i)}}},
			abi.Message{ID: fmt.Sprintf("r%d", i), Role: abi.RoleTool, ToolCallID: call, Name: "bash",
				Content: abi.Text(b.String())})
	}
	return append(msgs, abi.Message{ID: "last", Role: abi.RoleUser, Content: abi.Text("Go on.")})
}
