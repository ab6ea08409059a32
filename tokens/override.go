package tokens

import "slices"

// Override is what an operator says about models. Whatever it sets wins over
// the catalog; what it leaves at its zero value stays the catalog's.
//
// It covers the models of Provider, or of every provider where that is empty,
// that are called Model, or all of them where that is empty. Both may be any of
// the names that [Catalog.Resolve] takes; Model alone may be "provider/model".
// Of several that cover a model the one that
// names more wins, and of two that name as much the later.
type Override struct {
	Provider string
	Model    string

	// ContextWindow and MaxOutput are in tokens; values below 1 set nothing.
	ContextWindow *int
	MaxOutput     *int
	// Prices in USD per million tokens. A model whose catalog prices have
	// tiers loses them where one of these is set; where the catalog has no
	// prices the ones not set here are zero, but for the cache's, which are
	// the input's.
	Input      *float64
	Output     *float64
	CacheRead  *float64
	CacheWrite *float64
	// Encoding to count with. It is taken for the model's own.
	Encoding Encoding
	// TokenScale is Model.TokenScale; the encoding is an estimate then. 0 sets nothing.
	TokenScale float64
}

// weight orders overrides: provider and model, model, provider, neither.
func (o *Override) weight() (w int) {
	if o.Model != "" {
		w += 2
	}
	if o.Provider != "" {
		w++
	}
	return w
}

func sorted(os []Override) []Override {
	return slices.SortedStableFunc(slices.Values(os), func(a, b Override) int { return a.weight() - b.weight() })
}

// covers reports whether o is about the model, given folded and canonical.
func (o *Override) covers(provider, id string) bool {
	if o.Provider != "" && canonical(fold(o.Provider)) != provider {
		return false
	}
	return o.Model == "" || slices.Contains(spellings(id), fold(o.Model))
}

func (o *Override) apply(m *Model) {
	if o.ContextWindow != nil && *o.ContextWindow > 0 {
		m.ContextWindow = new(*o.ContextWindow)
	}
	if o.MaxOutput != nil && *o.MaxOutput > 0 {
		m.MaxOutput = new(*o.MaxOutput)
	}
	if o.Encoding != "" {
		m.Encoding, m.ExactCounts, m.TokenScale = o.Encoding, true, 1
	}
	if o.TokenScale > 0 {
		m.ExactCounts, m.TokenScale = false, o.TokenScale
	}
	o.price(m)
}

func (o *Override) price(m *Model) {
	if o.Input == nil && o.Output == nil && o.CacheRead == nil && o.CacheWrite == nil {
		return
	}
	var p Prices
	if m.Prices != nil {
		p.Rates = m.Prices.Rates
	} else if o.Input != nil {
		p.CacheRead, p.CacheWrite = *o.Input, *o.Input
	}
	for _, set := range []struct{ to, from *float64 }{
		{&p.Input, o.Input}, {&p.Output, o.Output}, {&p.CacheRead, o.CacheRead}, {&p.CacheWrite, o.CacheWrite},
	} {
		if set.from != nil {
			*set.to = *set.from
		}
	}
	m.Prices = &p
}
