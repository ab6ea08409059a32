package abi

import "github.com/kagewasm/kagewasm/internal/plainjson"

// Output is what a hook answers. The empty output and JSON null mean "nothing
// to say"; a plugin with both roles may fill the fields of both.
//
// Of an observer: Retain, Inject, AlwaysKeep, Release; with the capability
// compaction.request also RequestCompaction, and with compaction.summary
// Summary, Cancel and Reason.
//
// Of a compactor, in pre_compact: Messages with Superseded, or Summary alone
// (the host then makes the cut), or Cancel with a Reason.
type Output struct {
	// Retain are facts to keep beyond this session, [MaxRetained] at most. The
	// host stores them in the plugin's namespace with where they came from.
	Retain []string `json:"retain,omitempty"`
	// Unstored says what the plugin should remember and could not store, and
	// why. The report has it as a failure of [CodeState]. A compaction that the
	// plugin proposes is then refused, since what it would take away is
	// remembered nowhere. The rest of the answer counts.
	Unstored string `json:"unstored,omitempty"`
	// Inject is text to put before the model after the compaction. The host
	// frames it as data and caps its tokens.
	Inject string `json:"inject,omitempty"`
	// RequestCompaction asks for a compaction when the turn has completed: at
	// once of turn_end, later of the hooks of a compaction, unless another one
	// comes before. The host bounds how often in a row it listens, and not at
	// all in a compaction that a plugin asked for.
	RequestCompaction *CompactionRequest `json:"request_compaction,omitempty"`
	// AlwaysKeep are ids of messages to pin, in this compaction and all that
	// follow. What plugins pin lasts as far as it takes at most half of what is
	// left after a compaction; beyond that it holds for this one.
	AlwaysKeep []string `json:"always_keep,omitempty"`
	// Release are ids of messages that the plugin pinned in this compaction or
	// an earlier one, and that need not stay any more.
	Release []string `json:"release,omitempty"`

	// Messages is the whole new list.
	Messages []OutputMessage `json:"messages,omitzero"`
	// Superseded are the ids of the input messages that are not in Messages;
	// where it is given it has to name them all.
	Superseded []string `json:"superseded,omitempty"`
	// Summary stands for what is superseded. Beside Messages it is for people: it goes
	// to the record, the audit log and the report, and the model is not shown it.
	Summary string `json:"summary,omitempty"`
	// Covers says what a Summary alone stands for. Empty: as much as has to go; the host
	// makes the cut.
	Covers Covers `json:"covers,omitempty"`

	// Cancel asks not to compact, for the given Reason; the host bounds how
	// often in a row it listens. Of a compactor it leaves the compaction to
	// the strategy.
	Cancel bool   `json:"cancel,omitempty"`
	Reason string `json:"reason,omitempty"`
}

// Covers is what a summary stands for.
type Covers string

// CoversAll is everything before the last entry, but for what is pinned and the current
// turn.
const CoversAll Covers = "all"

// CompactionRequest asks for a compaction.
type CompactionRequest struct {
	// Instructions are what the compaction should keep in view.
	Instructions string `json:"instructions,omitempty"`
}

// OutputMessage is one entry of a compactor's list. It is one of:
//
//   - {"ref": ID}: the input message, unchanged (the cheap way);
//   - a message with the id of an input message: that message, of which only
//     tool output and tool-call arguments may differ;
//   - a message without an id, role user, kind compaction_summary or injected:
//     a new one. Its id and frame are the host's. It stands where the list has it, but
//     never before the task, between a tool call and its results, or behind calls
//     whose results may still arrive. Summaries next to each other become one.
//
// Anything else is refused: ids that the input does not have, a second use of
// an id, new messages that pose as somebody.
type OutputMessage struct {
	Ref string `json:"ref,omitempty"`
	Message
}

// IsZero reports whether the output says nothing.
func (o *Output) IsZero() bool {
	return o == nil || len(o.Retain) == 0 && o.Unstored == "" && o.Inject == "" && o.RequestCompaction == nil &&
		len(o.AlwaysKeep)+len(o.Release) == 0 && !o.Compacts() && !o.Cancel
}

// Compacts reports whether the output proposes a compaction.
func (o *Output) Compacts() bool { return o.Messages != nil || o.Summary != "" }

// MarshalJSON writes a reference as {"ref": ID} and anything else as the
// message.
func (m OutputMessage) MarshalJSON() ([]byte, error) {
	if m.Ref != "" {
		return plainjson.Marshal(struct {
			Ref string `json:"ref"`
		}{m.Ref})
	}
	return plainjson.Marshal(m.Message)
}
