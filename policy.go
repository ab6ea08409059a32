package kagewasm

import (
	"regexp"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/strategies"
	"github.com/kagewasm/kagewasm/strategies/summarize"
)

// The strategies (FEATURES K4).
const (
	// StrategyDrop lets the oldest go. Where a model is there and
	// Summarize.Off is not set it summarizes first (K23).
	StrategyDrop = strategies.NameDrop
	// StrategySummarize has a model write what stands for the oldest. Without
	// a model, or where that fails, drop follows.
	StrategySummarize = summarize.Name
	// StrategyDelegate leaves the compaction to the compactor plugin. Where
	// there is none or it fails, drop follows, without a model (K7).
	StrategyDelegate = "delegate"
	// StrategyCheckpoint makes a plan and waits for the operator to approve it
	// (K29).
	StrategyCheckpoint = "checkpoint"
)

// Strategies are the names of all strategies, the default first.
func Strategies() []string {
	return []string{StrategyDrop, StrategySummarize, StrategyDelegate, StrategyCheckpoint}
}

// Policy says when and how an agent's session is compacted. It is plain data:
// copy it and change it. The zero value of each field is the default
// written beside it; where references disagree that is kaged's.
type Policy struct {
	// Disabled switches automatic compaction off; one that is asked for still
	// runs (FEATURES T1).
	Disabled bool
	// Strategy is what makes the plan where no compactor plugin does. Default
	// drop.
	Strategy string

	// Upper is the fraction of the window over which a compaction starts, Lower
	// the one it gets down to (K2). Defaults: those of the profile.
	Upper, Lower float64
	// Profile names a pair of thresholds (I3), see [Profiles]; "auto" takes the
	// one of the model's family. Default "default", 0.85 and 0.60.
	Profile string
	// MaxTokens, where set, is the number of tokens over which a compaction
	// starts, whatever the window is (A2). It gets down to the same share of
	// them that Lower is of Upper.
	MaxTokens int
	// ReserveTokens, where set, starts a compaction when fewer tokens than that
	// are left in the window (T1), and Recent.Tokens is then 16,384 by default.
	// MaxTokens goes before it, and it before the fractions.
	ReserveTokens int
	// OutputReserve is taken off the window for the model's answer, before
	// anything is reckoned (I2). Default 0.
	OutputReserve int
	// StrictWindow makes it an error that nothing says how large the window is:
	// no catalog, no configuration, no MaxTokens (A7). By default 128,000
	// tokens are used (K21).
	StrictWindow bool
	// MaxBytes, where set, bounds the request in bytes beside its tokens:
	// providers refuse large bodies, images above all.
	MaxBytes int

	// Trim takes duplicate synthetic messages out early (A1).
	Trim TrimPolicy
	// Prune shortens old tool output, and by choice tool-call arguments, before
	// anything is decided (K20, I7, A13).
	Prune strategies.PruneConfig
	// MessageTokens caps one tool result, or one call's arguments, in what a
	// compaction leaves: what is over keeps its beginning and end. By default
	// only what stands in the way is cut: where what has to stay does not fit,
	// to half of the bound and then less; where one of the newest messages
	// would go, to a quarter of the target; what would go just before the rest,
	// to the room that is left. Negative switches it off.
	MessageTokens int

	// Recent is what stays word for word at the end.
	Recent RecentPolicy
	// Summarize is about the model that writes summaries.
	Summarize SummarizePolicy
	// LedgerTokens is what the host says in a summary beside a model's or a
	// plugin's: what failed, todos, files, exact names; without them all of it.
	// At most half of the target. 0 is 7% of what goes, up to 10,000, and at
	// least an eighth of the target, up to 4,000; the last failures come beside
	// it. Negative switches it off.
	LedgerTokens int
	// InjectTokens is what plugins' injected texts may cost together. Default
	// 2,000, and never more than an eighth of the target.
	InjectTokens int
	// AlwaysKeep are the operator's predicates: messages for which one reports
	// true are never touched (K10).
	AlwaysKeep []func(*abi.Message) bool
	// Redact are patterns of secrets, beside those that are known, that are
	// taken out of whatever a compaction inserts. NoRedact switches all off.
	Redact   []*regexp.Regexp
	NoRedact bool

	// NoFloor switches the mechanical floor off: without a model that writes a
	// summary and without a compactor plugin only pruning happens, and no hook
	// is called (A8). Default off: a compaction always completes.
	NoFloor bool
	// PaybackCalls, where set, refuses a compaction below the window that would
	// take more model calls than that to earn back what it costs (N10).
	PaybackCalls int
	// Background compacts while the agent is idle, and takes the result with
	// the next call (I6).
	Background bool
	// IdleUpper is the fraction of the window over which an idle session is
	// compacted. Default half way between Lower and Upper.
	IdleUpper float64
}

// TrimPolicy is about duplicate synthetic messages (FEATURES A1, A2).
type TrimPolicy struct {
	// Off switches it off.
	Off bool
	// Threshold is the fraction of the window over which to trim. Default 0.5.
	Threshold float64
	// MaxTokens, where set, is used instead of Threshold.
	MaxTokens int
}

// RecentPolicy is what stays at the end of a session, word for word. With the
// zero value as much stays as fits the target. What is set here lets more go
// than the target asks for: the larger of all that are set stays. Nothing here
// makes a compaction fail: where it does not fit, less stays, down to nothing
// (A11).
type RecentPolicy struct {
	// Messages at the end, not counting display_only, bookmark and metadata
	// (A3).
	Messages int
	// Tokens at the end (T1, I2), by whole units.
	Tokens int
	// Exchanges at the end: a message of a person with all that follows (I2).
	Exchanges int
	// ToolTokens cuts tool output in what stays to about so many tokens each,
	// beginning and end (I2).
	ToolTokens int
}

// SummarizePolicy is about the model that writes summaries (FEATURES K23 to
// K25, A4, A9, I9). The zero value uses the agent's own model and the default
// prompt.
type SummarizePolicy struct {
	// Off never asks a model (K26's toggle).
	Off bool
	// Model is the alias of the model that writes the summary. Default the
	// agent's own.
	Model string
	// FastModel, where set, is used for everything but what a person asked for
	// (I9).
	FastModel string
	// Prompt is the text of the prompt. Default the one that ships.
	Prompt string
	// Outline names the sections: handoff (default) or continuation.
	Outline string
	// WindowMessages is the least number of messages to summarize at once.
	// Default 20.
	WindowMessages int
	// PreserveRecent is how many messages at the end stay out of a summary
	// where that is possible. Default 10.
	PreserveRecent int
	// MaxSummaryTokens bounds the summary. Default 1,500.
	MaxSummaryTokens int
	// ToolResultChars is what the summarizer sees of a tool result. Default
	// 200.
	ToolResultChars int
	// Chunks summarizes in so many steps, each building on the one before.
	// Default 1.
	Chunks int
	// Serial asks the provider for one thing at a time (T5).
	Serial bool
	// TimeoutMS bounds all calls for one summary. Default five minutes, as for
	// plugins (O6).
	TimeoutMS int
}
