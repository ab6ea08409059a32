package outcome_test

import (
	"testing"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/strategies/note/internal/outcome"
)

// TestKnown: how a call ended is read once, and not remembered where the reading was to stop.
func TestKnown(t *testing.T) {
	looks, goOn := 0, true
	h := outcome.Harness{Known: new(outcome.Known), GoOn: func() bool { looks++; return goOn }}
	call := abi.ToolCall{ID: "c", Name: "run", Arguments: `{"command":"make"}`}
	m := abi.Message{Role: abi.RoleTool, ToolCallID: "c", Content: abi.Text("main.go:3:1: undefined: x")}
	of := func() bool { return h.Of(&m, h.Does(&call)).Failed }
	if goOn = false; !of() || looks != 1 {
		t.Errorf("asked %d times whether to go on", looks)
	}
	if goOn = true; !of() || looks != 2 {
		t.Errorf("asked %d times whether to go on: it was remembered though it had to stop", looks)
	}
	if !of() || looks != 2 {
		t.Errorf("asked %d times whether to go on: it was read again", looks)
	}
	if m.IsError = true; !of() || looks != 3 {
		t.Errorf("asked %d times whether to go on: another result was taken for it", looks)
	}
	one, other := h.Does(&call), h.Does(&call)
	if one.Kind++; one.Kind == other.Kind {
		t.Error("who asks for a call changes it for others")
	}
}
