package abi_test

import (
	"encoding/json"
	"testing"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/features"
	"github.com/kagewasm/kagewasm/internal/strictjson"
)

func TestOutputForms(t *testing.T) {
	features.Proves(t, "K30")
	for name, c := range map[string]struct {
		doc            string
		zero, compacts bool
	}{
		"null":            {`null`, true, false},
		"empty":           {`{}`, true, false},
		"retain":          {`{"retain":["a"]}`, false, false},
		"empty retain":    {`{"retain":[]}`, true, false},
		"inject":          {`{"inject":"x"}`, false, false},
		"request":         {`{"request_compaction":{}}`, false, false},
		"always keep":     {`{"always_keep":["m1"]}`, false, false},
		"release":         {`{"release":["m1"]}`, false, false},
		"cancel":          {`{"cancel":true,"reason":"r"}`, false, false},
		"reason alone":    {`{"reason":"r"}`, true, false},
		"summary":         {`{"summary":"s"}`, false, true},
		"messages":        {`{"messages":[{"ref":"m1"}],"superseded":["m2"]}`, false, true},
		"an empty list":   {`{"messages":[]}`, false, true},
		"null list":       {`{"messages":null}`, true, false},
		"superseded only": {`{"superseded":["m2"]}`, true, false},
	} {
		t.Run(name, func(t *testing.T) {
			var out abi.Output
			if err := json.Unmarshal([]byte(c.doc), &out); err != nil {
				t.Fatal(err)
			}
			if out.IsZero() != c.zero || out.Compacts() != c.compacts {
				t.Errorf("zero %v, compacts %v", out.IsZero(), out.Compacts())
			}
		})
	}
	if !(*abi.Output)(nil).IsZero() {
		t.Error("no output says something")
	}
}

func TestOutputMarshal(t *testing.T) {
	for want, v := range map[string]any{
		`{"ref":"m1"}`: abi.OutputMessage{Ref: "m1", Message: abi.Message{Role: abi.RoleUser, Content: abi.Text("ignored")}},
		`{"role":"user","content":"a\u003cb","kind":"compaction_summary"}`: abi.OutputMessage{
			Message: abi.Message{Role: abi.RoleUser, Kind: abi.KindSummary, Content: abi.Text("a<b")}},
		`{}`:                             abi.Output{},
		`{"messages":[]}`:                abi.Output{Messages: []abi.OutputMessage{}},
		`{"messages":[{"ref":"m1"}]}`:    abi.Output{Messages: []abi.OutputMessage{{Ref: "m1"}}},
		`{"cancel":true,"reason":"why"}`: abi.Output{Cancel: true, Reason: "why"},
	} {
		t.Run(want, func(t *testing.T) {
			if got, err := json.Marshal(v); err != nil || string(got) != want {
				t.Errorf("got %s (%v), want %s", got, err, want)
			}
		})
	}
}

func TestOutputMessageReads(t *testing.T) {
	var out abi.Output
	doc := `{"messages":[{"ref":"m1"},{"id":"m2","role":"tool","content":"cut","tool_call_id":"c"}]}`
	if err := strictjson.Decode([]byte(doc), &out); err != nil {
		t.Fatal(err)
	}
	if out.Messages[0].Ref != "m1" || out.Messages[1].ID != "m2" || out.Messages[1].Text() != "cut" {
		t.Errorf("read %+v", out.Messages)
	}
}

const inputDocument = `{
  "abi": 1, "call": "c1", "time": "2026-01-02T03:04:05Z", "hook": "pre_compact",
  "session": {"id": "s1", "agent_path": "", "model": "m", "context_window": 200000},
  "trigger": {"reason": "threshold", "tokens": 1, "fraction": 0.9, "upper": 0.85, "lower": 0.6},
  "budget": {"target_tokens": 100, "summary_tokens": 10},
  "messages": [
    {"id": "m00000", "role": "assistant", "content": "Let me look.", "tool_calls": [{"id": "call_0", "name": "read", "arguments": "{}"}],
     "tokens": 400, "pinned": false, "unit": 0},
    {"id": "m00001", "role": "tool", "tool_call_id": "call_0", "name": "read", "content": "func main() {}", "tokens": 400, "pinned": false, "unit": 0}
  ]
}`

// TestInputReads reads what plugins are given; an unknown window says null
// .
func TestInputReads(t *testing.T) {
	features.Proves(t, "K21")
	var in abi.Input
	if err := json.Unmarshal([]byte(inputDocument), &in); err != nil {
		t.Fatal(err)
	}
	if in.Hook != abi.HookPreCompact || len(in.Messages) != 2 || in.Messages[1].Tokens != 400 ||
		in.Messages[1].ToolCallID != "call_0" {
		t.Errorf("read %+v", in)
	}
	in.Session.ContextWindow = nil
	doc, err := json.Marshal(in.Session)
	if err != nil || string(doc) != `{"id":"s1","model":"m","context_window":null}` {
		t.Errorf("an unknown window says null: %s, %v", doc, err)
	}
}

func TestConfigValues(t *testing.T) {
	c := abi.Config{
		"s": json.RawMessage(`"x"`), "b": json.RawMessage(`true`), "i": json.RawMessage(`7`), "f": json.RawMessage(`0.5`),
		"whole": json.RawMessage(`5.0`), "exp": json.RawMessage(`1e3`), "big": json.RawMessage(`9007199254740993`),
		"huge": json.RawMessage(`1e300`), "null": json.RawMessage(`null`), "broken": json.RawMessage(`{`),
	}
	for _, k := range []struct {
		why       string
		got, want any
	}{
		{"a text", c.String("s", "d"), "x"},
		{"no such knob", c.String("none", "d"), "d"},
		{"not a text", c.String("i", "d"), "d"},
		{"null is no text", c.String("null", "d"), "d"},
		{"not JSON", c.String("broken", "d"), "d"},
		{"a boolean", c.Bool("b", false), true},
		{"not a boolean", c.Bool("s", true), true},
		{"null is no boolean", c.Bool("null", true), true},
		{"a whole number", c.Int("i", 1), 7},
		{"a whole number with a point", c.Int("whole", 1), 5},
		{"a whole number with an exponent", c.Int("exp", 1), 1000},
		{"a number beyond a float's precision", c.Int("big", 1), 9007199254740993},
		{"not whole", c.Int("f", 1), 1},
		{"too large", c.Int("huge", 1), 1},
		{"null is no number", c.Int("null", 1), 1},
		{"a number", c.Float("f", 1), 0.5},
		{"a whole one too", c.Float("i", 1), 7.0},
		{"no number", c.Float("s", 1), 1.0},
	} {
		t.Run(k.why, func(t *testing.T) {
			if k.got != k.want {
				t.Errorf("%s: got %v, want %v", k.why, k.got, k.want)
			}
		})
	}
}
