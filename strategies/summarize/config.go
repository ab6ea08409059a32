package summarize

import (
	"cmp"
	"slices"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/strategies/note"
)

// Name is the name of the strategy in reports and configuration.
const Name = "summarize"

// The defaults of [Config].
const (
	DefaultPreserveRecent   = 10
	DefaultMaxSummaryTokens = 1500
)

// Config tunes the strategy. The zero value is the documented default
// (FEATURES K25); negative numbers mean zero.
type Config struct {
	// Model is the alias to ask for. Empty: whichever the Model given to [Run]
	// takes, which is the agent's own.
	Model string
	// Prompt is the system prompt. Empty: [DefaultPrompt].
	Prompt string
	// Outline are the sections an answer must have. Zero: those of an outline
	// that ships and whose headings all stand in Prompt, which for the default
	// prompt is the first of [note.Outlines]; for a prompt of another form, none. An
	// outline given here is written into the request where Prompt lacks it.
	Outline note.Outline
	// WindowMessages is the least number of messages summarized at once, as
	// far as there are so many; one less where the last of them begins a turn.
	// More are where the target needs it. Default 20.
	WindowMessages int
	// PreserveRecent messages stay as they are: messages of the kinds
	// display_only, bookmark and metadata do not count. Default 10.
	PreserveRecent int
	// MaxSummaryTokens is the hard cap of a summary. Default 1,500.
	MaxSummaryTokens int
	// Room is what the caller puts around a summary, in tokens: the frame and
	// what a digest adds. The cut leaves room for it.
	Room int
	// ToolResultChars is how much of a tool result the model gets to read, in
	// characters; of a call's arguments twice that. Each further try has less:
	// three quarters, a half, a quarter, nothing. Default 200.
	ToolResultChars int
	// Chunks is in how many parts history is read, one after the other. There
	// are more where a request would be longer than InputTokens. Default 1.
	Chunks int
	// Serial asks for one request at a time. Otherwise the two parts of a
	// split turn are summarized side by side.
	Serial bool
	// Focus is what this summary should keep in view: a user's words or a
	// plugin's. It says what matters and changes none of the rules.
	Focus string
	// InputTokens bounds one request: the summarizer's window less its answer.
	// Default [abi.FallbackWindow] less MaxSummaryTokens.
	InputTokens int
	// Tries is how often the whole is tried at most. Default 5.
	Tries int
}

// Recent is the number of newest messages to begin with as [Prepare]'s
// keepLast.
func (c Config) Recent() int { return max(0, cmp.Or(c.PreserveRecent, DefaultPreserveRecent)) }

func (c Config) window() int { return max(0, cmp.Or(c.WindowMessages, 20)) }
func (c Config) limit() int  { return max(0, cmp.Or(c.MaxSummaryTokens, DefaultMaxSummaryTokens)) }
func (c Config) chunks() int { return max(1, c.Chunks) }

func (c Config) input() int {
	return max(0, cmp.Or(c.InputTokens, abi.FallbackWindow-c.limit()))
}

// levels are the characters of a tool result shown in each try (FEATURES A10).
func (c Config) levels() []int {
	n := max(0, cmp.Or(c.ToolResultChars, 200))
	levels := slices.Compact([]int{n, n * 3 / 4, n / 2, n / 4, 0})
	return levels[:min(len(levels), max(1, cmp.Or(c.Tries, 5)))]
}
