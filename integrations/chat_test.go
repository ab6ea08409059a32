package integrations_test

import (
	"encoding/json"
	"testing"

	"github.com/kagewasm/kagewasm/internal/agenttest"
)

// chatPairsWhole fails where a request of chat completions has a result that no call before it asked for, or a call
// without its result right behind it.
func chatPairsWhole(t *testing.T, n int, r agenttest.Request) {
	t.Helper()
	open := make(map[string]bool)
	for i, raw := range r.Messages {
		var m struct {
			Role       string `json:"role"`
			ToolCallID string `json:"tool_call_id"`
			ToolCalls  []struct {
				ID string `json:"id"`
			} `json:"tool_calls"`
		}
		if err := json.Unmarshal(raw, &m); err != nil {
			t.Fatal(err)
		}
		if m.Role == "tool" {
			if !open[m.ToolCallID] {
				t.Errorf("request %d, message %d: a result of %s, which was not called", n, i, m.ToolCallID)
			}
			delete(open, m.ToolCallID)
			continue
		}
		if len(open) > 0 {
			t.Errorf("request %d, message %d: calls without results: %v", n, i, open)
			return
		}
		for _, c := range m.ToolCalls {
			open[c.ID] = true
		}
	}
}
