package plug

import (
	"fmt"
	"strings"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/transcript"
)

// Sample is a session to try a plug with, in a format: calls of a tool, two at a time, and a person who wants one more
// thing now and then.
func Sample(format transcript.Format) ([]byte, error) {
	var list []abi.Message
	add := func(m abi.Message) {
		m.ID = fmt.Sprintf("sample-%d", len(list))
		m.Timestamp = fmt.Sprintf("2026-01-02T03:%02d:%02d.000Z", len(list)/60, len(list)%60)
		list = append(list, m)
	}
	for step := range 40 {
		if step%10 == 0 {
			add(abi.Message{Role: abi.RoleUser, Content: abi.Text(fmt.Sprintf("Look at part %d of the service.", step/10))})
		}
		calls := abi.Message{Role: abi.RoleAssistant, Content: abi.Text(fmt.Sprintf("I read files %d.", step))}
		for k := range 2 {
			calls.ToolCalls = append(calls.ToolCalls, abi.ToolCall{ID: fmt.Sprintf("call_%d_%d", step, k), Name: "read",
				Arguments: fmt.Sprintf(`{"path":"service/part%d_%d.go"}`, step, k)})
		}
		add(calls)
		for _, c := range calls.ToolCalls {
			add(abi.Message{Role: abi.RoleTool, ToolCallID: c.ID,
				Content: abi.Text(strings.Repeat(fmt.Sprintf("func part%d() { listen(%d) }\n", step, 5000+step), 30))})
		}
	}
	return new(transcript.Session).Encode(list, format)
}
