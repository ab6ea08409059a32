package kagewasm

import (
	"fmt"
	"math"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/strategies"
	"github.com/kagewasm/kagewasm/tokens"
)

// Cache says how much of a request stands at its beginning exactly as in the request before, so that a
// provider's prompt cache can serve it. In tokens. The request before is the one that [Request.Sent]
// names. Without that it is what the same Compactor last returned for the session, or the session as it
// came.
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

// cacheOf returns how much of the list that the model is given now a cache can serve.
func cacheOf(l *look, now strategies.List) Cache {
	c := Cache{PreviousTokens: l.req.Overhead + l.previous.Tokens, PrefixTokens: l.req.Overhead + l.previous.shared(now)}
	if now.Total > 0 {
		c.HitRate = float64(c.PrefixTokens) / float64(now.Total)
	}
	return c
}

// weigh returns the receipt of a compaction down to after tokens, of which the first prefix tokens stay
// as they were, with what making it cost.
func weigh(l *look, prefix, after int, cost Cost) *abi.Receipt {
	r := &abi.Receipt{FreedTokens: l.came.Total - after, Unit: abi.UnitUSD, Cost: cost.Compactor}
	var rates tokens.Rates
	if prices := l.opts.Lookup(l.req.Session.Model).Prices; prices != nil && !cost.PriceUnknown {
		rates = prices.At(l.scaled.reported().Tokens(l.came.Total))
		rates.CacheRead *= l.scaled.Factor // for what is counted here
		rates.CacheWrite *= l.scaled.Factor
	} else {
		rates, r.Unit, r.Cost = assumed, abi.UnitInputTokens, 0
		if u := cost.Usage; u != nil {
			r.Cost = (float64(u.InputTokens)*rates.Input + float64(u.OutputTokens)*rates.Output) / 1e6
		}
	}
	if l.req.Cold { // all there is would be written again
		r.Cost = max(0, r.Cost-float64(r.FreedTokens)*rates.CacheWrite/1e6)
	} else {
		r.Cost += float64(after-prefix) * max(0, rates.CacheWrite-rates.CacheRead) / 1e6
	}
	r.SavedPerCall = float64(r.FreedTokens) * rates.CacheRead / 1e6
	r.PaybackCalls = -1
	if r.SavedPerCall > 0 {
		r.PaybackCalls = int(math.Ceil(r.Cost / r.SavedPerCall))
	}
	return r
}

// notLost returns the receipt of a compaction that was made and is not put in place: the provider's cache has all
// that it had.
func notLost(of *abi.Receipt) *abi.Receipt {
	if of == nil {
		return nil
	}
	r := *of
	r.LostPrefixTokens = nil
	return &r
}

// tooDear returns the receipt of a compaction that would take too many calls to earn back what it
// costs, and nil where it would not, before anything is paid for it. A compaction that somebody asks
// for, or that has to be, is never too dear, nor is one at a bound that the policy sets in tokens or bytes.
func tooDear(l *look, v *strategies.View) *abi.Receipt {
	most := l.policy.When.PaybackCalls
	if most == 0 || l.req.Force || l.req.Reason == abi.TriggerOverflow || v.Total > v.Window || pastBound(l, v.List) {
		return nil
	}
	prefix := l.req.Overhead
	for i := range abi.PrefixEnd(v.Messages) {
		prefix += v.Tokens[i]
	}
	after := max(v.Target, prefix)
	var cost Cost
	if l.summarizes() {
		cost.Usage = &abi.ModelUsage{InputTokens: v.Total - after, OutputTokens: l.policy.Summarize.Tokens(v.Window)}
		cost.Compactor, cost.PriceUnknown = priced(l, l.summarizer(), cost.Usage)
	}
	r := weigh(l, prefix, after, cost)
	if r.PaybackCalls >= 0 && r.PaybackCalls <= most {
		return nil
	}
	return r
}

// costOf returns what models took for a compaction: the one that summarizes, and those that plugins
// asked.
func costOf(l *look, p planned) Cost {
	c := Cost{Model: p.model}
	for _, o := range p.outcomes {
		if o.Model != nil {
			c.Compactor += o.Model.Cost
		}
	}
	if p.usage == nil || p.usage.Calls == 0 {
		return c
	}
	c.Usage = p.usage
	usd := p.usage.Cost
	if usd == 0 {
		usd, c.PriceUnknown = priced(l, l.summarizer(), p.usage)
	}
	c.Compactor += usd
	return c
}

// priced returns what a model's calls cost in US dollars, and whether that is unknown.
func priced(l *look, model string, u *abi.ModelUsage) (usd float64, unknown bool) {
	prices := l.opts.Lookup(model).Prices
	return prices.Cost(tokens.Usage{Input: u.InputTokens, Output: u.OutputTokens}), prices == nil
}

// words returns a receipt in a line.
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
