package toolname_test

import (
	"testing"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/toolname"
)

func TestFill(t *testing.T) {
	call := func(name string) abi.Message {
		return abi.Message{Role: abi.RoleAssistant, ToolCalls: []abi.ToolCall{{ID: "c", Name: name}}}
	}
	result := func(name string) abi.Message { return abi.Message{Role: abi.RoleTool, ToolCallID: "c", Name: name} }
	msgs := []abi.Message{call("read"), result(""), call("bash"), result(""), result("own"), {Role: abi.RoleTool}}
	filled := toolname.Fill(msgs)
	for i, want := range []string{"", "read", "", "bash", "own", ""} {
		if filled[i].Name != want {
			t.Errorf("message %d: %q, want %q", i, filled[i].Name, want)
		}
	}
	if msgs[1].Name != "" {
		t.Error("the list that was given is changed")
	}
	if toolname.Fill(nil) != nil {
		t.Error("of nothing comes something")
	}
}
