package kagewasm

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/firewall"
	"github.com/kagewasm/kagewasm/hooks"
	"github.com/kagewasm/kagewasm/strategies"
	"github.com/kagewasm/kagewasm/strategies/summarize"
)

// defaultSummaryTimeout is that of plugins' hooks (FEATURES O6).
const defaultSummaryTimeout = hooks.DefaultTimeout

// summarized is what a model makes of the session, or nil: where none may be
// asked, and where it fails. What it failed with is in the chain (K7, K23).
func (p *pass) summarized(ctx context.Context, pre *hooks.Pre) *firewall.Verdict {
	if !p.canSummarize() {
		p.sayWhy(pre)
		return nil
	}
	verdict, err := p.summarize(ctx)
	if err == nil {
		return verdict
	}
	pre.Fallback = true
	e := *abi.AsError(err)
	e.Op = cmp.Or(e.Op, summarize.Name)
	pre.Failures = append(pre.Failures, &e)
	return nil
}

// sayWhy notes that the strategy that was asked for cannot be followed.
func (p *pass) sayWhy(pre *hooks.Pre) {
	e := &abi.Error{Code: abi.CodeNoCompactor, Op: p.policy.Strategy, Phase: abi.PhaseCall}
	switch {
	case p.policy.Strategy == StrategyDelegate && !p.hooks.HasCompactor():
		e.Message, e.Hint = "no compactor plugin is loaded", "load one, or choose another strategy"
	case p.policy.Strategy == StrategySummarize && p.policy.Summarize.Off:
		e.Message, e.Hint = "summaries are switched off", "switch them on, or choose another strategy"
	case p.policy.Strategy == StrategySummarize:
		e.Message, e.Hint = "no model to write a summary", "configure one; what can be read off the session stands in its place"
	default:
		return
	}
	pre.Fallback = true
	pre.Failures = append(pre.Failures, e)
}

// summarize asks the model, once it is clear what goes.
func (p *pass) summarize(ctx context.Context) (*firewall.Verdict, error) {
	source := abi.Source{Type: abi.SourceModel, Name: p.summarizer()}
	var cfg summarize.Config
	var made choice
	plan, r := p.withFailures(p.room(p.view(), p.limits, source), func(r room) (plan abi.Plan) {
		cfg = p.summaryConfig(r)
		plan, made = p.cut(source, cfg.Room+cfg.MaxSummaryTokens, func(v *strategies.View) choice {
			prep, err := p.prepareSummary(v, cfg)
			if err != nil {
				return choice{why: err}
			}
			return choice{gone: prep.Supersede, summary: prep}
		})
		return plan
	})
	prep := made.summary
	if prep == nil {
		return nil, made.why
	}
	read, _ := p.read(plan.Supersede)
	prep.Todo = read.Todos()
	limit := defaultSummaryTimeout
	if ms := p.policy.Summarize.TimeoutMS; ms > 0 {
		limit = time.Duration(ms) * time.Millisecond
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	result, err := summarize.Run(ctx, careful{p.opts.Model}, prep, cfg, p.opts.Counter.Text)
	p.usage, p.report.Cost.Model = result.Usage, result.Model
	if err != nil {
		return nil, err
	}
	plan.Source.Name = cmp.Or(result.Model, plan.Source.Name)
	plan.Summary = result.Summary
	verdict, err := p.check(plan, r)
	if err != nil {
		return nil, err
	}
	p.report.Strategy, p.report.Source = StrategySummarize, &plan.Source
	return verdict, nil
}

// prepareSummary finds the most of the newest messages that can stay: as many
// as the policy wants, fewer where they do not fit, down to none (FEATURES A11).
// The error says why nothing can be summarized.
func (p *pass) prepareSummary(v *strategies.View, cfg summarize.Config) (*summarize.Preparation, error) {
	fits, most := 0, p.keepRecent(v, cfg)
	if prep, err := summarize.Prepare(v, cfg, most); err == nil && prep.Fits {
		return prep, nil
	}
	for fits+1 < most { // the more stay, the less fits
		mid := (fits + most) / 2
		if prep, err := summarize.Prepare(v, cfg, mid); err == nil && prep.Fits {
			fits = mid
		} else {
			most = mid
		}
	}
	return summarize.Prepare(v, cfg, fits)
}

func (p *pass) keepRecent(v *strategies.View, cfg summarize.Config) int {
	if r := p.recent(); r != (strategies.Recent{}) {
		return r.Count(v)
	}
	return cfg.Recent()
}

// summarizer is the alias of the model that writes summaries: the fast one
// where no person asked (FEATURES I9), the agent's own where none is named.
func (p *pass) summarizer() string {
	s := &p.policy.Summarize
	if s.FastModel != "" && p.req.Reason != abi.TriggerManual {
		return s.FastModel
	}
	return cmp.Or(s.Model, p.req.Session.Model)
}

// summaryTokens is the most a summary may have: what the policy says, and never
// more than an eighth of the window, which it would fill with the next ones.
func (p *pass) summaryTokens() int {
	return max(1, min(cmp.Or(p.policy.Summarize.MaxSummaryTokens, summarize.DefaultMaxSummaryTokens), p.limits.window/8))
}

// requestSlack is what a request to the summarizer holds beside what is
// counted, in tokens: frames, and the difference of tokenizers.
const requestSlack = 512

func (p *pass) summaryConfig(r room) summarize.Config {
	s := &p.policy.Summarize
	cfg := summarize.Config{
		Model: p.summarizer(), Prompt: s.Prompt, WindowMessages: s.WindowMessages, PreserveRecent: s.PreserveRecent,
		MaxSummaryTokens: p.summaryTokens(), Room: r.note + p.injectTokens(), ToolResultChars: s.ToolResultChars,
		Chunks: s.Chunks, Serial: s.Serial, Focus: p.req.Instructions,
	}
	if s.Outline != "" {
		cfg.Outline = p.outline()
	}
	if p.recent() != (strategies.Recent{}) {
		cfg.WindowMessages = len(p.messages) // everything but the recent end goes
	}
	window := p.opts.Lookup(cfg.Model).ContextWindow
	if window == nil && cfg.Model == p.req.Session.Model {
		window = p.req.Session.ContextWindow
	}
	if window != nil {
		cfg.InputTokens = max(1, *window-cfg.MaxSummaryTokens-min(requestSlack, *window/16))
	}
	return cfg
}

// careful makes a failure of a model that panics: it is the host's code, and runs
// in goroutines where the host could not recover.
type careful struct{ abi.Model }

func (c careful) Complete(ctx context.Context, r abi.ModelRequest) (_ abi.ModelResponse, err error) {
	defer func() {
		if v := recover(); v != nil {
			err = &abi.Error{Code: abi.CodeModel, Op: summarize.Name, Message: fmt.Sprintf("the model panicked: %v", v), Hint: "a fault of the host's model"}
		}
	}()
	return c.Model.Complete(ctx, r)
}
