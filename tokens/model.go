package tokens

import "github.com/kagewasm/kagewasm/abi"

// Model is what is known of a model: by the catalog, by the operator's
// overrides, or nothing beyond the name. What it points to is shared and must
// not be changed.
type Model struct {
	// Provider is the canonical name of who serves the model: "openai",
	// "anthropic", "google", "aws", ... Empty where the name does not tell.
	Provider string
	// ID is the model's name at that provider, in lower case; what the caller
	// wrote where the catalog does not have the model.
	ID string
	// ContextWindow is the window in tokens, nil where it is unknown.
	ContextWindow *int
	// MaxOutput is the longest answer in tokens, nil where it is unknown.
	MaxOutput *int
	// Prices are nil where they are unknown; a model that is given away has
	// zero prices or none.
	Prices *Prices
	// Encoding is the one to count with.
	Encoding Encoding
	// ExactCounts is true where Encoding is the model's own. For everybody
	// but OpenAI it is an estimate: they publish no tokenizer.
	ExactCounts bool
	// TokenScale is how many tokens of the model stand for one of Encoding: 1 where counts
	// are exact or nothing better is known; for Claude, whose tokenizer is not public, what
	// others measured of its generation.
	TokenScale float64
	// BindsThinking is true for models that read what they thought only behind what
	// stood before it when they thought it: their provider refuses a request that
	// holds thinking behind a changed prefix, or leaves the thinking out. See
	// https://platform.claude.com/docs/en/build-with-claude/preserved-thinking.
	BindsThinking bool
}

// Window returns the window to work with, in tokens: the model's own, or [abi.FallbackWindow] where
// that is unknown.
func (m Model) Window() int {
	if m.ContextWindow != nil {
		return *m.ContextWindow
	}
	return abi.FallbackWindow
}

// Name returns "provider/id", or the id alone.
func (m Model) Name() string {
	if m.Provider == "" {
		return m.ID
	}
	return m.Provider + "/" + m.ID
}

// Rates are prices in USD per million tokens.
type Rates struct {
	Input  float64
	Output float64
	// CacheRead and CacheWrite are the prices of input that is read from the
	// provider's cache, and of input that is written to it; the price of input
	// where the provider has no other.
	CacheRead  float64
	CacheWrite float64
}

// Prices are the rates of a model. Off-peak discounts and other media than
// text are not in them.
type Prices struct {
	Rates
	// Tiers replace the rates of a whole request for long ones.
	Tiers []Tier
}

// Tier has the rates of requests with more than Above tokens of input.
type Tier struct {
	Above int
	Rates
}

// Usage is what one call used, in tokens.
type Usage struct {
	// Input is the input that came neither from the cache nor went into it.
	Input      int
	Output     int
	CacheRead  int
	CacheWrite int
}

// At returns the rates of a request with that much input, cached or not.
func (p *Prices) At(input int) Rates {
	r, above := p.Rates, -1
	for _, t := range p.Tiers {
		if input > t.Above && t.Above > above {
			r, above = t.Rates, t.Above
		}
	}
	return r
}

// Cost returns the price of a call in USD. It is 0 for nil prices: ask whether they are known before
// that is shown to anybody.
func (p *Prices) Cost(u Usage) float64 {
	if p == nil {
		return 0
	}
	r := p.At(u.Input + u.CacheRead + u.CacheWrite)
	return (float64(u.Input)*r.Input + float64(u.Output)*r.Output +
		float64(u.CacheRead)*r.CacheRead + float64(u.CacheWrite)*r.CacheWrite) / 1e6
}
