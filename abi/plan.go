package abi

import "github.com/kagewasm/kagewasm/internal/plainjson"

// Plan is a compaction proposed: by a strategy, by a plugin or by a model.
// It names messages by id and changes nothing by itself; the host's firewall
// checks it and applies it, whoever made it.
type Plan struct {
	// Source is who made the plan.
	Source Source `json:"source"`
	// Supersede are the ids of the messages that go. The originals stay
	// stored; the model no longer sees them.
	Supersede []string `json:"supersede"`
	// Insert are the messages that come. The host writes them in a frame of
	// its own: role user, a kind, fenced, marked as data.
	Insert []Insert `json:"insert,omitempty"`
	// Edit shortens tool output and tool-call arguments in messages that stay.
	Edit []Edit `json:"edit,omitempty"`
	// Summary is the text that stands for what is superseded. It is empty where only
	// the host's note stands for it. In the plan of a plugin's list it is what the
	// summaries in Insert say; the host's note goes with the first of them.
	Summary string `json:"summary,omitempty"`
	// AuditSummary is what the plan's maker says of it to people. No model is shown it.
	AuditSummary string `json:"audit_summary,omitempty"`

	// Note is how many tokens the plan leaves for its note; 0 is what its
	// budget said. It is for the host, and no part of the JSON.
	Note int `json:"-"`
	// Usage is what models took for the plan, failed calls too; nil where none
	// was asked. It is for the host, and no part of the JSON.
	Usage *ModelUsage `json:"-"`
	// Window is the window, in tokens, that a provider named for the model that was
	// asked; 0 where it named none. It is for the host, and no part of the JSON.
	Window int `json:"-"`
	// Failures say what the plan should have had and was made without. They are for
	// the report, and no part of the JSON.
	Failures []*Error `json:"-"`
}

// MarshalJSON writes the list of ids as a list even where it is nil.
func (p Plan) MarshalJSON() ([]byte, error) {
	type plain Plan
	p.Supersede = notNil(p.Supersede)
	return plainjson.Marshal(plain(p))
}

// Insert is one message that a plan adds.
type Insert struct {
	// Kind is [KindSummary] or [KindInjected].
	Kind Kind `json:"kind"`
	// Text is what the message says, without the frame.
	Text string `json:"text"`
	// After is the id of the message that it stands behind. Empty: right behind the task,
	// where it stands too if that is further on. It never parts a tool call from its results.
	After string `json:"after,omitempty"`
	// Source is where the text comes from; it is named in the frame.
	Source Source `json:"source"`
}

// Edit replaces one text inside a message that stays. Only tool results and
// tool-call arguments can be edited, never what a user, the system or the
// assistant said.
type Edit struct {
	ID string `json:"id"`
	// Call is the position in tool_calls of the call whose arguments are
	// replaced, or -1 for the content of a tool result.
	Call int    `json:"call"`
	Text string `json:"text"`
}

// EditContent is the Call of an [Edit] of a tool result's content.
const EditContent = -1

// Source names who made a plan or a text.
type Source struct {
	// Type is one of the SourceX constants.
	Type SourceType `json:"type"`
	// Name of the strategy, plugin or model.
	Name string `json:"name"`
	// Version and Digest of a plugin; Digest is "sha256:" and 64 hex digits.
	Version string `json:"version,omitempty"`
	Digest  string `json:"digest,omitempty"`
}

// SourceType is the kind of a [Source].
type SourceType string

const (
	SourceStrategy SourceType = "strategy"
	SourcePlugin   SourceType = "plugin"
	SourceModel    SourceType = "model"
	SourceHost     SourceType = "host"
)
