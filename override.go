package kagewasm

import (
	"slices"
	"strings"

	"github.com/kagewasm/kagewasm/strategies/note"
)

// Overrides are what one compaction does differently; no configuration changes
// (FEATURES K26). Zero values override nothing.
type Overrides struct {
	Strategy string `json:"strategy,omitempty"`
	// Summarize switches the model on or off.
	Summarize *bool `json:"summarize,omitempty"`
	// Upper and Lower are fractions of the window. An upper one alone takes the
	// lower one along where that would not be below it.
	Upper float64 `json:"upper_threshold,omitempty"`
	Lower float64 `json:"lower_threshold,omitempty"`
	// Prompt is the text of the summary's prompt.
	Prompt string `json:"prompt,omitempty"`
}

// apply returns the policy with the overrides in it.
func (o *Overrides) apply(p Policy) Policy {
	if o == nil {
		return p
	}
	if o.Strategy != "" {
		p.Strategy = o.Strategy
	}
	if o.Summarize != nil {
		p.Summarize.Off = !*o.Summarize
	}
	if o.Prompt != "" {
		p.Summarize.Prompt = o.Prompt
	}
	if o.Upper != 0 || o.Lower != 0 {
		p.MaxTokens, p.ReserveTokens = 0, 0
	}
	if o.Upper != 0 {
		if p.Lower >= o.Upper {
			p.Lower = 0
		}
		p.Upper = o.Upper
	}
	if o.Lower != 0 {
		p.Lower = o.Lower
	}
	return p
}

// Check says what in a policy makes no sense, as a usage error; nil where
// nothing does.
func (p Policy) Check() error {
	_, err := p.resolved("")
	return err
}

// resolved is the policy with its defaults filled in for a model.
func (p Policy) resolved(model string) (Policy, error) {
	profile, ok := profileOf(p.Profile, model)
	if !ok {
		var names []string
		for _, known := range Profiles() {
			names = append(names, known.Name)
		}
		return p, usage("profile %q: known are %s, %s", p.Profile, ProfileAuto, strings.Join(names, ", "))
	}
	if p.Strategy == "" {
		p.Strategy = StrategyDrop
	}
	if !slices.Contains(Strategies(), p.Strategy) {
		return p, usage("strategy %q: known are %s", p.Strategy, strings.Join(Strategies(), ", "))
	}
	if _, ok := note.OutlineNamed(p.Summarize.Outline); !ok {
		return p, usage("outline %q: known are %s and %s", p.Summarize.Outline, note.Outlines()[0].Name, note.Outlines()[1].Name)
	}
	if p.Upper, p.Lower = profile.thresholds(p.Upper, p.Lower); !(p.Lower > 0 && p.Lower < p.Upper && p.Upper <= 1) {
		return p, usage("thresholds upper %v and lower %v: 0 < lower < upper <= 1 has to hold", p.Upper, p.Lower)
	}
	if p.IdleUpper == 0 {
		p.IdleUpper = (p.Upper + p.Lower) / 2
	}
	if p.Trim.Threshold == 0 {
		p.Trim.Threshold = defaultTrim
	}
	for _, share := range []struct {
		name  string
		value float64
	}{{"idle_upper", p.IdleUpper}, {"trim threshold", p.Trim.Threshold}} {
		if !(share.value > 0 && share.value <= 1) {
			return p, usage("%s %v: give a fraction of the window, over 0 and at most 1", share.name, share.value)
		}
	}
	for _, n := range []struct {
		name  string
		value int
	}{
		{"max_tokens", p.MaxTokens}, {"reserve_tokens", p.ReserveTokens}, {"output_reserve", p.OutputReserve}, {"max_bytes", p.MaxBytes},
		{"trim max_tokens", p.Trim.MaxTokens}, {"recent messages", p.Recent.Messages}, {"recent tokens", p.Recent.Tokens},
		{"recent exchanges", p.Recent.Exchanges}, {"recent tool_tokens", p.Recent.ToolTokens}, {"payback_calls", p.PaybackCalls},
		{"summarize timeout", p.Summarize.TimeoutMS}, {"max_summary_tokens", p.Summarize.MaxSummaryTokens},
	} {
		if n.value < 0 || n.value > maxTokens {
			return p, usage("%s %d: give 0 to %d", n.name, n.value, maxTokens)
		}
	}
	if p.ReserveTokens > 0 && p.Recent == (RecentPolicy{}) {
		p.Recent.Tokens = DefaultKeepRecentTokens
	}
	if p.InjectTokens == 0 {
		p.InjectTokens = defaultInject
	}
	return p, nil
}

// Defaults of tau's mode (FEATURES T1).
const (
	DefaultReserveTokens    = 8192
	DefaultKeepRecentTokens = 16384
)

const (
	defaultTrim   = 0.5
	defaultInject = 2000
)
