package strategies

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/strategies/note"
)

// summarizeName is the Op of errors.
const summarizeName = "summarize"

const (
	defaultPreserveRecent   = 10
	defaultMaxSummaryTokens = 1500
	defaultSummaryTimeout   = abi.PlanTime
	// requestSlack is how many tokens a request to the summarizer has beside those that are counted:
	// frames, and the difference of tokenizers.
	requestSlack = 512
)

// SummarizeConfig is about the model that writes summaries. The zero value uses
// the agent's own model and the default prompt; negative numbers mean zero.
type SummarizeConfig struct {
	// Off never asks a model.
	Off bool
	// Model is the alias of the model that writes the summary. Default the
	// agent's own.
	Model string
	// FastModel, where set, is used instead of Model, except for a compaction that a person asked for.
	FastModel string
	// Prompt is the text of the prompt. Default [DefaultPrompt].
	Prompt string
	// Outline names the sections: handoff or continuation. They are written into the request where
	// Prompt lacks them. Default: the outline whose headings all stand in Prompt, which is handoff for
	// the prompt that ships, and none for a prompt of another form.
	Outline string
	// WindowMessages is the least number of messages summarized at once, as far
	// as there are so many: one fewer if the last of them begins a turn, more if
	// the target requires it. Default 20.
	WindowMessages int
	// PreserveRecent is how many messages at the end stay out of a summary, as far as
	// the target holds them beside it: see [Spare]. Where it is enough to cut output among
	// them, nothing goes. Messages of the kinds display_only, bookmark and metadata do not
	// count. Default 10.
	PreserveRecent int
	// MaxSummaryTokens bounds a summary; an eighth of the window does too, and a quarter of the model's.
	// Default 1,500.
	MaxSummaryTokens int
	// ToolResultChars is how many characters of a tool result the model gets to read, and of a call's
	// arguments twice as many. Each further try has less: three quarters, a half, a quarter, nothing.
	// Of arguments 200 characters stay. Default 200.
	ToolResultChars int
	// Chunks is the number of steps in which history is read, each building on the one before. There
	// are more where a request would not fit the model. Default 1.
	Chunks int
	// Serial asks for one thing at a time. Otherwise the two parts of a split
	// turn are summarized side by side.
	Serial bool
	// TimeoutMS is how long the making of a plan may take, in milliseconds: all calls for one summary
	// together, and the call of a plugin that proposes one. Default five minutes.
	TimeoutMS int
}

// Recent returns how many of the newest messages are to stay.
func (c *SummarizeConfig) Recent() int { return preserved(c.PreserveRecent) }

func preserved(n int) int { return max(0, cmp.Or(n, defaultPreserveRecent)) }

// Tokens returns the most tokens of a summary in a window: never more than an eighth, since the next
// few would otherwise fill it.
func (c *SummarizeConfig) Tokens(window int) int { return max(1, min(c.limit(), window/8)) }

func (c *SummarizeConfig) window() int { return max(0, cmp.Or(c.WindowMessages, 20)) }
func (c *SummarizeConfig) limit() int {
	return max(0, cmp.Or(c.MaxSummaryTokens, defaultMaxSummaryTokens))
}

// levels returns how many characters of a tool result each try shows.
func (c *SummarizeConfig) levels() []int {
	n := max(0, cmp.Or(c.ToolResultChars, 200))
	return slices.Compact([]int{n, n * 3 / 4, n / 2, n / 4, 0})
}

// Summarize has a model write what stands for the oldest messages.
//
// What the model reads is a transcript inside a frame that marks it as data,
// never more than its window takes with all around it: history that does not fit
// is read in parts, each summary feeding the next. What it answers is checked
// before anybody sees it. An answer that is empty, cut off, longer than what it
// replaces, not in the form asked for, or no summary at all is refused with
// [abi.CodeBadSummary], and asked for again with shorter tool results, a bounded
// number of times. So it is where the model fails, unless less text cannot help: a
// key that is refused, a model that is not there, half a minute lost with failures.
// Where a provider says what its model takes, the next try is the first that fits it in
// as many requests; there are more requests only where no try would fit.
// Where one part of a split turn is refused to the last, the other
// part is the summary, and the plan says so.
type Summarize struct {
	Drop
	// Config says which model is asked, by Config.Model, and how.
	Config SummarizeConfig
	Model  abi.Model
	// Window is the window of the model asked, in tokens. Nil: 128,000 are used.
	Window *int
	// Focus is what this summary should keep in view: a user's words or a
	// plugin's. It says what matters and changes none of the rules.
	Focus string
}

var _ Strategy = Summarize{}

// Plan implements [Strategy]. It asks the model once it is clear what goes.
func (s Summarize) Plan(ctx context.Context, v *View, b Budget) (abi.Plan, error) {
	limit := defaultSummaryTimeout
	if ms := s.Config.TimeoutMS; ms > 0 {
		limit = time.Duration(ms) * time.Millisecond
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	cfg := s.summary(v)
	c, budget := s.ready(v, b, &cfg)
	if c.err != nil {
		return abi.Plan{}, c.err
	}
	if b.Read != nil {
		c.ready.Todo = b.Read(c.gone, c.edits).Todos()
	}
	w, err := c.ready.write(ctx, s.Model, cfg)
	return abi.Plan{
		Source:    abi.Source{Type: abi.SourceModel, Name: cmp.Or(w.Model, s.Config.Model)},
		Supersede: c.gone, Edit: c.edits, Summary: w.Summary, Note: budget, Usage: &w.Usage, Failures: w.Refused,
		Window: w.Window,
	}, err
}

// ready chooses what goes, and returns with it how many tokens that leaves for the note.
func (s Summarize) ready(v *View, b Budget, cfg *summary) (c choice, budget int) {
	cfg.host = b.Host
	return b.settle(v, func(budget int) choice {
		cfg.budget = budget
		return s.choose(v, budget+cfg.limit(), func(v *View) choice {
			ready, err := s.most(v, *cfg)
			if err != nil {
				return choice{err: err}
			}
			return choice{gone: ready.Supersede, ready: ready}
		})
	})
}

// summary is one summary to be written.
type summary struct {
	SummarizeConfig
	// sections are the sections that an answer must have. Zero: those of the prompt.
	sections note.Outline
	// budget is how many tokens the host puts around a summary, and host how many it has in the note
	// itself. The cut leaves room for both.
	budget, host int
	// older: what is older than the recent end goes, whatever the target is. exact: somebody said how large that end is.
	older, exact bool
	focus        string
	// inputTokens is the most tokens of one request. 0 is what [abi.FallbackWindow] leaves.
	inputTokens int
}

func (c *summary) chunks() int { return max(1, c.Chunks) }
func (c *summary) input() int {
	return max(0, cmp.Or(c.inputTokens, abi.FallbackWindow-c.limit()))
}

// bound takes the window of the model over: an answer has a quarter of it at most, and a request what that leaves.
func (c *summary) bound(window int) {
	c.MaxSummaryTokens = max(1, min(c.limit(), window/4))
	c.inputTokens = max(1, window-c.limit()-min(requestSlack, window/16))
}

func (s Summarize) summary(v *View) summary {
	cfg := summary{SummarizeConfig: s.Config, focus: s.Focus}
	cfg.MaxSummaryTokens = s.Config.Tokens(v.Window)
	if s.Config.Outline != "" {
		cfg.sections, _ = note.OutlineNamed(s.Config.Outline)
	}
	if s.Keep.Recent() {
		cfg.WindowMessages = len(v.Messages) // everything but the recent end goes
		cfg.older, cfg.exact = v.olderThan(s.Keep.start(v)), true
	}
	if s.Window != nil {
		cfg.bound(*s.Window)
	}
	return cfg
}

// most returns the preparation of the summary that leaves the most of the newest messages: as many as
// the configuration wants, fewer where they do not fit, down to none. The error says why nothing can be
// summarized.
func (s Summarize) most(v *View, cfg summary) (*preparation, error) {
	fits, most := 0, cfg.Recent()
	if s.Keep.Recent() {
		most = s.Keep.count(v)
	}
	if ready, err := prepare(v, cfg, most); err == nil && ready.Fits {
		return ready, nil
	}
	for fits+1 < most { // the more stay, the less fits
		mid := (fits + most) / 2
		if ready, err := prepare(v, cfg, mid); err == nil && ready.Fits {
			fits = mid
		} else {
			most = mid
		}
	}
	return prepare(v, cfg, fits)
}
