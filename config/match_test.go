package config_test

import (
	"encoding/json"
	"testing"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/features"
)

// TestPredicates: an operator's predicates are data; everything that one
// says has to hold, and any of them keeps a message.
func TestPredicates(t *testing.T) {
	features.Proves(t, "K10")
	msg := &abi.Message{
		ID: "m7", Role: abi.RoleAssistant, Kind: "note", Content: abi.Text("Always run make check, port 8443."),
		ToolCalls: []abi.ToolCall{{ID: "c", Name: "Write_File", Arguments: "{}"}},
		Meta:      abi.Meta{"ticket": json.RawMessage(`{"n": 12, "open":true}`), "tag": json.RawMessage(`"x"`)},
	}
	result := &abi.Message{ID: "m8", Role: abi.RoleTool, Name: "write_file", Content: abi.Text("done")}
	plain := &abi.Message{ID: "m9", Role: abi.RoleUser, Content: abi.Text("hello")}
	for _, c := range []struct {
		why, predicate string
		keeps          []*abi.Message
	}{
		{"role", "{role: assistant}", []*abi.Message{msg}},
		{"kind", "{kind: note}", []*abi.Message{msg}},
		{"no kind is a kind", "{kind: \"\", role: user}", []*abi.Message{plain}},
		{"no kind alone says something", "{kind: \"\"}", []*abi.Message{result, plain}},
		{"tool, of calls and results, any case", "{tool: write_file}", []*abi.Message{msg, result}},
		{"tool and role", "{tool: WRITE_FILE, role: tool}", []*abi.Message{result}},
		{"words", "{contains: make check}", []*abi.Message{msg}},
		{"words in their case", "{contains: always}", nil},
		{"a pattern", "{matches: \"port \\\\d+\"}", []*abi.Message{msg}},
		{"a pattern in any case", "{matches: \"(?i)always|HELLO\"}", []*abi.Message{msg, plain}},
		{"all of it", "{contains: make check, matches: \"port [a-z]\"}", nil},
		{"id", "{id: m8}", []*abi.Message{result}},
		{"meta", "{meta: {tag: x}}", []*abi.Message{msg}},
		{"meta in another form", "{meta: {ticket: {open: true, n: 12}}}", []*abi.Message{msg}},
		{"meta of another value", "{meta: {tag: x, ticket: 12}}", nil},
		{"meta that is not there", "{meta: {gone: x}}", nil},
		{"any of them", "{id: m7}, {id: m9}", []*abi.Message{msg, plain}},
	} {
		t.Run(c.why, func(t *testing.T) {
			policy := load(t, "compaction: {always_keep: ["+c.predicate+"]}").Policy("")
			for _, m := range []*abi.Message{msg, result, plain} {
				t.Run(m.ID, func(t *testing.T) {
					want := false
					for _, k := range c.keeps {
						want = want || k == m
					}
					got := abi.Pinned([]abi.Message{{Role: abi.RoleUser, Content: abi.Text("first")}, *m}, policy.Keep.Always...)[1]
					if got != want {
						t.Errorf("%s: message %s kept %v, want %v", c.why, m.ID, got, want)
					}
				})
			}
		})
	}
}

// TestRedact: patterns of secrets, beside those that are known, or none at all.
func TestRedact(t *testing.T) {
	p := load(t, "compaction: {redact: [\"corp-[0-9a-f]{8}\"]}").Policy("")
	if len(p.Note.Redact) != 1 || !p.Note.Redact[0].MatchString("corp-0123abcd") || p.Note.NoRedact {
		t.Errorf("patterns %v, off %v", p.Note.Redact, p.Note.NoRedact)
	}
	c := load(t, "compaction: {redact: off}\nagents: {a: {compaction: {redact: [x]}}}")
	if p := c.Policy("b"); !p.Note.NoRedact || p.Note.Redact != nil {
		t.Errorf("off: %v, %v", p.Note.NoRedact, p.Note.Redact)
	}
	if p := c.Policy("a"); p.Note.NoRedact || len(p.Note.Redact) != 1 {
		t.Errorf("on again: %v, %v", p.Note.NoRedact, p.Note.Redact)
	}
}
