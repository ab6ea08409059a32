package kagewasm

import (
	"cmp"
	"fmt"
	"math"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/tokens"
)

// Cache is how much of a request stands at its beginning exactly as in the one
// before, so that a provider's prompt cache can serve it (FEATURES I1, I10). In
// tokens. The request before is the one that [Request.Sent] names; without it
// that which the same Compactor returned for the session last. Where there was
// none it is the session as it came.
type Cache struct {
	// PreviousTokens is the size of the request before.
	PreviousTokens int `json:"previous_tokens"`
	// PrefixTokens is the part of both that is the same, overhead included.
	PrefixTokens int `json:"prefix_tokens"`
	// HitRate is PrefixTokens over the tokens of this request.
	HitRate float64 `json:"hit_rate"`
}

// assumed are the rates of a model whose prices are not known: the ratios that
// providers with a prompt cache have in common.
var assumed = tokens.Rates{Input: 1e6, Output: 5e6, CacheRead: 0.1e6, CacheWrite: 1.25e6}

// receive notes what the model is given, and how much of it a cache can serve.
func (p *pass) receive(msgs []abi.Message) {
	c := Cache{PreviousTokens: p.req.Overhead + p.previous.Tokens, PrefixTokens: p.req.Overhead + p.previous.shared(msgs, p.after)}
	if p.report.TokensAfter > 0 {
		c.HitRate = float64(c.PrefixTokens) / float64(p.report.TokensAfter)
	}
	p.report.Metrics.Cache = c
	p.cost()
	if p.report.Compacted {
		p.report.Receipt = p.receipt(c.PrefixTokens, p.report.TokensAfter, p.report.Cost.Compactor, p.report.Cost.PriceUnknown)
		p.report.Receipt.LostPrefixTokens = c.PreviousTokens - c.PrefixTokens
	}
	if !p.req.DryRun {
		p.memo.sent = Sent{msgs, sum(p.after)}
	}
}

// receipt weighs a compaction down to after tokens, of which prefix stay as
// they were.
func (p *pass) receipt(prefix, after int, compactor float64, unpriced bool) *abi.Receipt {
	r := &abi.Receipt{FreedTokens: p.before - after, Unit: abi.UnitUSD}
	var rates tokens.Rates
	if prices := p.opts.Lookup(p.req.Session.Model).Prices; prices != nil && !unpriced {
		rates = prices.At(p.before)
	} else {
		rates, r.Unit = assumed, abi.UnitInputTokens
		u := p.usage
		compactor = (float64(u.InputTokens)*rates.Input + float64(u.OutputTokens)*rates.Output) / 1e6
	}
	r.Cost = compactor + float64(after-prefix)*max(0, rates.CacheWrite-rates.CacheRead)/1e6
	r.SavedPerCall = float64(r.FreedTokens) * rates.CacheRead / 1e6
	r.PaybackCalls = -1
	if r.SavedPerCall > 0 {
		r.PaybackCalls = int(math.Ceil(r.Cost / r.SavedPerCall))
	}
	return r
}

// paysBack is the gate: it refuses a compaction, before anything is paid for
// it, that would take too many calls to earn back what it costs. One that is
// asked for or has to be is never refused (FEATURES N10).
func (p *pass) paysBack() bool {
	if p.policy.PaybackCalls == 0 || p.req.Force || p.req.Reason == abi.TriggerOverflow || p.total > p.limits.window {
		return true
	}
	v := p.view()
	prefix := p.req.Overhead
	for i := range abi.PrefixEnd(p.messages) {
		prefix += p.tokens[i]
	}
	after := max(p.limits.target, prefix)
	cost, known := 0.0, true
	if p.canSummarize() {
		p.usage = abi.ModelUsage{InputTokens: v.Total - after, OutputTokens: p.summaryTokens()}
		cost, known = p.priced(p.summarizer(), p.usage)
		defer func() { p.usage = abi.ModelUsage{} }()
	}
	r := p.receipt(prefix, after, cost, !known)
	if r.PaybackCalls >= 0 && r.PaybackCalls <= p.policy.PaybackCalls {
		return true
	}
	p.report.Receipt = r
	return false
}

// cost reports what models took for the compaction: the one that summarizes,
// and those that plugins asked.
func (p *pass) cost() {
	c := &p.report.Cost
	c.Compactor = 0
	for _, o := range p.hookTimes {
		if o.Model != nil {
			c.Compactor += o.Model.Cost
		}
	}
	if p.usage.Calls == 0 {
		return
	}
	u, usd := p.usage, p.usage.Cost
	if usd == 0 {
		var known bool
		usd, known = p.priced(p.summarizer(), u)
		c.PriceUnknown = !known
	}
	c.Usage = &u
	c.Compactor += usd
	c.Model = cmp.Or(c.Model, p.summarizer())
}

// priced is what a model's calls cost in US dollars, as far as that is known.
func (p *pass) priced(model string, u abi.ModelUsage) (usd float64, known bool) {
	prices := p.opts.Lookup(model).Prices
	return prices.Cost(tokens.Usage{Input: u.InputTokens, Output: u.OutputTokens}), prices != nil
}

// words is a receipt in a line.
func words(r *abi.Receipt) string {
	calls := "never"
	if r.PaybackCalls >= 0 {
		calls = fmt.Sprintf("after %d calls", r.PaybackCalls)
	}
	if r.Unit == abi.UnitUSD {
		return fmt.Sprintf("it costs $%.4f once, saves $%.4f a call, and pays %s", r.Cost, r.SavedPerCall, calls)
	}
	return fmt.Sprintf("it costs %.0f input tokens once, saves %.0f a call, and pays %s", r.Cost, r.SavedPerCall, calls)
}
