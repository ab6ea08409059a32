package abi

import (
	"encoding/json"
	"math"
	"slices"
	"unicode/utf8"
)

// Hook is the name of a hook, and of the export that handles it. The export
// takes nothing and returns an i32: zero, or nonzero for a failure.
type Hook string

const (
	// HookPreCompact runs before the strategy. Observers read
	// and may retain and inject; the compactor may return a whole message
	// list, a summary, or a cancel.
	HookPreCompact Hook = "pre_compact"
	// HookPostCompact runs after the strategy, on success and on failure.
	HookPostCompact Hook = "post_compact"
	// HookTurnEnd runs when a turn of the agent has completed.
	HookTurnEnd Hook = "turn_end"
)

// Hooks are all hooks, in the order of a turn.
var Hooks = []Hook{HookPreCompact, HookPostCompact, HookTurnEnd}

// HandlersExport is an export for modules whose language exports every hook,
// with a handler or without. It has the signature of a hook, and its output
// names the hooks that have a handler, separated by spaces. kagewasm build
// holds the manifest to them; hosts do not call it.
const HandlersExport = "kagewasm_handlers"

// Valid reports whether h is a hook of this version.
func (h Hook) Valid() bool {
	return h == HookPreCompact || h == HookPostCompact || h == HookTurnEnd
}

// Input is what a hook is given.
type Input struct {
	ABI int `json:"abi"`
	// Call identifies this call in reports and in the audit log.
	Call string `json:"call"`
	// Time is the time of the call as the host recorded it, RFC 3339. Guests
	// have no clock of their own.
	Time    string  `json:"time"`
	Hook    Hook    `json:"hook"`
	Session Session `json:"session"`
	Trigger Trigger `json:"trigger"`
	Budget  Budget  `json:"budget"`
	// Config holds a value for each knob of the plugin's manifest that is set
	// or has a default.
	Config Config `json:"config,omitempty"`
	// Roles are the roles of the manifest that the operator left the plugin.
	// Empty means all of them.
	Roles []PluginRole `json:"roles,omitempty"`
	// PreviousSummary is the text of the latest summary that the model had before this
	// compaction. The new one is in the Record.
	PreviousSummary string `json:"previous_summary,omitempty"`
	// Messages is the list the model would see, oldest first. In post_compact
	// it is the new list.
	Messages []InputMessage `json:"messages"`
	// Record is what was done; post_compact only.
	Record *Record `json:"record,omitempty"`
	// Search answers messages.search; nil where the host keeps nothing of what was
	// superseded, and where the plugin is not granted it. It is no part of the JSON.
	Search Search `json:"-"`
}

// Compactor reports whether the plugin may propose a compaction in this call.
func (in *Input) Compactor() bool {
	return len(in.Roles) == 0 || slices.Contains(in.Roles, RoleCompactor)
}

// Plain returns the messages without what the host knows about them.
func (in *Input) Plain() []Message {
	msgs := make([]Message, len(in.Messages))
	for i := range in.Messages {
		msgs[i] = in.Messages[i].Message
	}
	return msgs
}

// InputMessage is a message with what the host knows about it.
type InputMessage struct {
	Message
	// Tokens is what the message costs in the model's context.
	Tokens int `json:"tokens"`
	// Pinned messages must be returned as they are; see [Pinned].
	Pinned bool `json:"pinned,omitempty"`
	// Unit groups messages that stay or go together; see [Units].
	Unit int `json:"unit"`
}

// Session identifies the session a hook is called for.
type Session struct {
	ID string `json:"id"`
	// AgentPath is the agent's place in the tree of agents, "/"-separated;
	// empty for the only one.
	AgentPath string `json:"agent_path,omitempty"`
	Model     string `json:"model,omitempty"`
	// ContextWindow in tokens; nil where unknown, and then [FallbackWindow]
	// was used.
	ContextWindow *int `json:"context_window"`
}

// FallbackWindow is the context window, in tokens, assumed for a model that no
// catalog and no configuration knows.
const FallbackWindow = 128_000

// Trigger is why a hook runs, with the measurements it was decided on.
type Trigger struct {
	Reason TriggerReason `json:"reason"`
	// Tokens in the context now, and their fraction of the window.
	Tokens   int     `json:"tokens"`
	Fraction float64 `json:"fraction"`
	// Upper and Lower are the thresholds, as fractions of the window: at
	// upper a compaction starts, and it goes on until below lower.
	Upper float64 `json:"upper"`
	Lower float64 `json:"lower"`
	// Forced: somebody asked for it, whatever the thresholds say.
	Forced bool `json:"forced,omitempty"`
	// KeepLast is how many of the last messages stay where that is possible;
	// 0 where the target alone decides.
	KeepLast int `json:"keep_last,omitempty"`
	// DryRun says that nothing will be applied. A plugin should answer as
	// always and store nothing; the host discards what it retains.
	DryRun bool `json:"dry_run,omitempty"`
	// Instructions are what whoever asked wants kept in view. With the reason
	// "plugin" each begins with the plugin's name, with the reason "agent" it
	// begins with "agent". Both are data, and no order of a person.
	Instructions string `json:"instructions,omitempty"`
}

// TriggerReason is why a compaction runs.
type TriggerReason string

const (
	TriggerThreshold  TriggerReason = "threshold"
	TriggerOverflow   TriggerReason = "overflow" // the provider refused the request as too long
	TriggerManual     TriggerReason = "manual"
	TriggerAgent      TriggerReason = "agent" // the agent asked for it, by its tool
	TriggerPlugin     TriggerReason = "plugin"
	TriggerIdle       TriggerReason = "idle"
	TriggerCheckpoint TriggerReason = "checkpoint"
)

// Budget is what a compaction has to fit into, in tokens.
type Budget struct {
	// TargetTokens is what the message list a compactor returns may cost, its
	// summary included. The host's own frame and note are already taken off, and
	// so is what observers may inject. It is 0 only where everything that is not
	// pinned may go, the current turn too.
	TargetTokens int `json:"target_tokens"`
	// SummaryTokens is what a summary or an injection may cost.
	SummaryTokens int `json:"summary_tokens"`
}

// Config holds knob values by name. A null is as good as none.
type Config map[string]json.RawMessage

// String returns the text under name, or def where there is none.
func (c Config) String(name, def string) string { return configValue(c, name, def) }

// Bool returns the boolean under name, or def where there is none.
func (c Config) Bool(name string, def bool) bool { return configValue(c, name, def) }

// Int returns the whole number under name, or def where there is none. A whole
// number may be written as 5.0 or 5e0 as well.
func (c Config) Int(name string, def int) int {
	f := c.Float(name, math.NaN())
	if n := int(f); float64(n) == f {
		return configValue(c, name, n)
	}
	return def
}

// Float returns the number under name, or def where there is none.
func (c Config) Float(name string, def float64) float64 { return configValue(c, name, def) }

func configValue[T any](c Config, name string, def T) T {
	if len(c[name]) == 0 {
		return def
	}
	if v, ok := simpleValue(c[name], def).(T); ok {
		return v
	}
	var v *T
	if json.Unmarshal(c[name], &v) != nil || v == nil {
		return def
	}
	return *v
}

// simpleValue is a text without escapes, a boolean or a number of digits alone, as most knobs are, and nil of anything
// else: reflection takes long in a guest. A number is of the type of def.
func simpleValue(raw []byte, def any) any {
	switch n := len(raw); {
	case n > 0 && n <= maxDigits && raw[0] >= '1' && raw[0] <= '9':
		return simpleNumber(raw, def)
	case string(raw) == "true":
		return true
	case string(raw) == "false":
		return false
	case n >= 2 && raw[0] == '"' && raw[n-1] == '"' && isSimple(raw[1:n-1]):
		return string(raw[1 : n-1])
	}
	return nil
}

// maxDigits is how long a simple number is at most: it is exact in any type.
const maxDigits = 9

func simpleNumber(digits []byte, def any) any {
	n := 0
	for _, c := range digits {
		if c < '0' || c > '9' {
			return nil
		}
		n = 10*n + int(c-'0')
	}
	if _, ok := def.(float64); ok {
		return float64(n)
	}
	return n
}

func isSimple(text []byte) bool {
	return !slices.ContainsFunc(text, func(c byte) bool { return c < ' ' || c >= utf8.RuneSelf || c == '"' || c == '\\' })
}
