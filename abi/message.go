package abi

import (
	"bytes"
	"encoding/json"
	"slices"
)

// Role says who a message is from. Other values than those below are bad
// input.
type Role string

const (
	RoleSystem    Role = "system"
	RoleUser      Role = "user"
	RoleAssistant Role = "assistant"
	RoleTool      Role = "tool"
)

// Valid reports whether r is one of the four roles.
func (r Role) Valid() bool {
	switch r {
	case RoleSystem, RoleUser, RoleAssistant, RoleTool:
		return true
	}
	return false
}

// Kind says what a message is when it is not simply what its role says. The
// empty kind is an ordinary message; a user message of the empty kind is a
// real one, typed by a person. Unknown kinds pass through unchanged.
type Kind string

const (
	KindSummary       Kind = "compaction_summary" // inserted by a compaction, or found in a log that went through one
	KindInjected      Kind = "injected"           // inserted by an observer: recalled memory
	KindSynthetic     Kind = "synthetic"          // written by the harness, not by a person or a model
	KindDisplayOnly   Kind = "display_only"
	KindBookmark      Kind = "bookmark"
	KindMetadata      Kind = "metadata"
	KindEphemeral     Kind = "ephemeral"
	KindMeta          Kind = "meta"
	KindInstructions  Kind = "instructions" // project instructions placed in the log by the harness
	KindBash          Kind = "bash"         // a command a person ran from within the harness
	KindConsoleOutput Kind = "console_output"
)

// Message is one entry of a session in neutral form. One JSON object, one line
// of a .jsonl session file.
//
// ID is unique within a session. Sources without ids get positional ones
// (m00000, m00001, ...) that appear in reports alone.
type Message struct {
	ID         string     `json:"id,omitempty"`
	Role       Role       `json:"role"`
	Content    Content    `json:"content"`
	ToolCalls  []ToolCall `json:"tool_calls,omitempty"`
	ToolCallID string     `json:"tool_call_id,omitempty"` // on role tool: the call this answers
	Name       string     `json:"name,omitempty"`         // on role tool: the tool's name
	IsError    bool       `json:"is_error,omitempty"`     // on role tool: the source says the call failed
	Timestamp  string     `json:"timestamp,omitempty"`    // RFC 3339 where the source has one
	Kind       Kind       `json:"kind,omitempty"`
	Meta       Meta       `json:"meta,omitempty"`
	// Raw is what the source format holds beyond the neutral fields. The host
	// carries it along and never looks inside.
	Raw json.RawMessage `json:"raw,omitempty"`
}

// Internal reports whether messages of the kind are the harness's own, for no
// model: display_only, bookmark and metadata.
func (k Kind) Internal() bool {
	return k == KindDisplayOnly || k == KindBookmark || k == KindMetadata
}

// Text is the text of the message's content, without its tool calls.
func (m *Message) Text() string { return m.Content.Text() }

// Same reports whether both messages say the same and cost the same: all but
// their timestamps and metadata is equal. Messages that share their bytes are
// compared at next to no cost.
func (m *Message) Same(o *Message) bool {
	return m.ID == o.ID && m.Role == o.Role && m.Kind == o.Kind && m.ToolCallID == o.ToolCallID && m.Name == o.Name &&
		m.IsError == o.IsError && slices.Equal(m.ToolCalls, o.ToolCalls) && bytes.Equal(m.Raw, o.Raw) &&
		m.Content.Equal(o.Content)
}

// WithoutThinking returns an answer without the parts that are what the model
// thought, and whether it had any. One that was nothing else says "(no content)":
// providers refuse empty answers.
func (m *Message) WithoutThinking() (bare Message, had bool) {
	parts := m.Content.Parts()
	if m.Role != RoleAssistant || !slices.ContainsFunc(parts, Part.IsThinking) {
		return *m, false
	}
	bare = *m
	bare.Content = Parts(slices.DeleteFunc(slices.Clone(parts), Part.IsThinking)...)
	if len(bare.Content.Parts()) == 0 && len(m.ToolCalls) == 0 {
		bare.Content = Parts(TextPart("(no content)"))
	}
	return bare, true
}

// ToolCall is a model's request to run a tool.
type ToolCall struct {
	// ID pairs the call with its result. Real logs reuse ids and leave calls
	// unanswered; see [Units].
	ID   string `json:"id"`
	Name string `json:"name"`
	// Arguments is the argument document as text, usually a JSON object.
	// Sources that hold an object instead of a string are accepted; the
	// object's text stands here.
	Arguments string `json:"arguments"`
}

// UnmarshalJSON accepts arguments as a string or as any other JSON value, of
// which the compacted text is kept.
func (c *ToolCall) UnmarshalJSON(b []byte) error {
	var wire struct {
		ID        string          `json:"id"`
		Name      string          `json:"name"`
		Arguments json.RawMessage `json:"arguments"`
	}
	if err := json.Unmarshal(b, &wire); err != nil {
		return err
	}
	c.ID, c.Name, c.Arguments = wire.ID, wire.Name, ""
	switch {
	case len(wire.Arguments) == 0 || bytes.Equal(wire.Arguments, []byte("null")):
		return nil
	case wire.Arguments[0] == '"':
		return json.Unmarshal(wire.Arguments, &c.Arguments)
	}
	var buf bytes.Buffer
	if err := json.Compact(&buf, wire.Arguments); err != nil {
		return err
	}
	c.Arguments = buf.String()
	return nil
}

// Meta is free-form data about a message. Hosts and operators mark messages
// here; the engine knows [MetaAlwaysKeep], has the [Files] of a record stand under "files" of its
// summary, and passes the rest through. What plugins pin stands elsewhere, see [Keepers].
type Meta map[string]json.RawMessage

// MetaAlwaysKeep is the Meta key that pins a message: a JSON true keeps it
// verbatim through every compaction.
const MetaAlwaysKeep = "always_keep"

// Bool reports whether the value under key is the JSON literal true.
func (m Meta) Bool(key string) bool {
	return bytes.Equal(bytes.TrimSpace(m[key]), []byte("true"))
}
