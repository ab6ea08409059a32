package kagewasm

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/lists"
	"github.com/kagewasm/kagewasm/strategies"
	"github.com/kagewasm/kagewasm/strategies/note"
	"github.com/kagewasm/kagewasm/strategies/redact"
)

// The strategies.
const (
	// StrategyDrop removes the oldest. Where there is a model and Summarize.Off is not set, it has the
	// model summarize first.
	StrategyDrop = "drop"
	// StrategySummarize has a model write a summary of the oldest. Without a model, or where that
	// fails, drop follows.
	StrategySummarize = "summarize"
	// StrategyDelegate leaves the compaction to the compactor plugin. Where
	// there is none or it fails, drop follows, without a model.
	StrategyDelegate = "delegate"
	// StrategyCheckpoint compacts like drop, and waits for the operator to
	// approve the result.
	StrategyCheckpoint = "checkpoint"
)

// Policy says when and how an agent's session is compacted. It is plain data:
// copy it and change it. The zero value of each field is the default
// written beside it.
type Policy struct {
	// Disabled switches automatic compaction off; one that is asked for still
	// runs.
	Disabled bool
	// Strategy is the name of the strategy that makes the plan where no compactor plugin does: one of
	// [Strategies], or one of the host's own. Default drop.
	Strategy string
	// NoFloor switches off the floor, which is drop. Without a model that writes a summary and without
	// a compactor plugin only pruning happens then, and no hook is called. Default false: a compaction
	// always completes.
	NoFloor bool

	// Recovery is what a session does where the provider refuses a request as too long.
	// Default retry.
	Recovery Recovery
	// ObserverWaitMS is how long a compaction waits for observers, in milliseconds. What they inject or
	// pin counts if they have answered by then. Later ones go on, and only what they retain counts. After
	// a compaction, where nothing else counts, plugins are waited for a tenth as long.
	// Negative: the compaction does not wait. Default 500. An observer that may propose a plan or a
	// cancel is waited for like the compactor.
	ObserverWaitMS int

	// When says at which size a compaction starts, and how far it goes.
	When When
	// Prune shortens old tool output, and by choice tool-call arguments, before
	// anything is decided.
	Prune strategies.PruneConfig
	// Keep says which messages stay, and how large.
	Keep strategies.KeepConfig
	// Summarize is about the model that writes summaries.
	Summarize strategies.SummarizeConfig
	// Note is about the text that stands for superseded messages.
	Note strategies.NoteConfig
}

// Recovery is what a session does where the provider refuses a request as too long.
type Recovery string

const (
	// RecoverRetry compacts, and calls the model once more.
	RecoverRetry Recovery = "retry"
	// RecoverDescend keeps the last [RecoverFrom] messages, then one less at each refusal, down to
	// none. It may cost as many calls and summaries.
	RecoverDescend Recovery = "descend"
)

// RecoverFrom is how many messages [RecoverDescend] keeps at first.
const RecoverFrom = 10

// defaultObserverWaitMS is a wait that a person who waits for an answer hardly notices.
const defaultObserverWaitMS = 500

func (p *Policy) observerWait() time.Duration {
	return time.Duration(cmp.Or(p.ObserverWaitMS, defaultObserverWaitMS)) * time.Millisecond
}

// When says when a session is compacted, and down to what. MaxTokens is used rather than ReserveTokens,
// and ReserveTokens rather than the fractions.
type When struct {
	// Upper is the fraction of the window at which a compaction starts, Lower
	// the one it gets down to. Defaults: those of the profile.
	Upper, Lower float64
	// Profile names a pair of thresholds, see [Profiles]; "auto" takes the one
	// of the model's family. Default "default", 0.85 and 0.60.
	Profile string
	// MaxTokens, where set, is the number of tokens over which a compaction starts, whatever the window
	// is. It goes down to the same share of them that Lower is of Upper. An unknown window is taken to
	// hold as many tokens.
	MaxTokens int
	// ReserveTokens, where set, starts a compaction when fewer tokens than that
	// are left in the window, and Keep.Tokens is then 16,384 by default.
	ReserveTokens int
	// OutputReserve is a number of tokens that is taken off the window for the model's answer, before
	// anything else is worked out. Default 0.
	OutputReserve int
	// StrictWindow makes it an error that nothing says how large the window is: no catalog, no
	// configuration, no MaxTokens. By default 128,000 tokens are used.
	StrictWindow bool
	// MaxBytes, where set, bounds the body of the request in bytes, beside its tokens: providers refuse
	// large bodies, images above all.
	MaxBytes int
	// PaybackCalls, where set, is the most model calls that a compaction of a session that still fits
	// its window may take to earn back its cost. One that would take more is not made, unless it is due
	// at MaxTokens or MaxBytes: these hold whatever it costs.
	PaybackCalls int
	// Background compacts while the agent is idle, and puts the result in place at the next call.
	Background bool
	// IdleUpper is the fraction of the window over which an idle session is
	// compacted. Default half way between Lower and Upper.
	IdleUpper float64
}

// absolute reports whether a number of tokens decides when a compaction starts, and not a fraction of
// the window.
func (w *When) absolute() bool { return w.MaxTokens > 0 || w.ReserveTokens > 0 }

// Window returns the window to work with, in tokens of the model: the one that is known, else 128,000, or
// as many as a compaction starts at: nothing says that those do not fit.
func (w When) Window(known *int) int {
	if known != nil {
		return *known
	}
	return max(abi.FallbackWindow, w.MaxTokens+w.OutputReserve)
}

// Default thresholds, as fractions of the context window.
const (
	DefaultUpper = 0.85
	DefaultLower = 0.60
	// DefaultKeepRecentTokens is the default of Keep.Tokens where ReserveTokens is set.
	DefaultKeepRecentTokens = 16384
)

// Profile is a pair of thresholds that suits a family of models.
type Profile struct {
	Name         string
	Upper, Lower float64
	// Families are parts of the names of its models. It is empty for a profile that is chosen by name
	// alone.
	Families []string
}

// ProfileAuto is the name of the profile of the model's family, or the default profile where no family
// fits.
const ProfileAuto = "auto"

// Profiles returns all profiles, the default first. Conservative is for standard transformers, which
// use the middle of a long context badly.
func Profiles() []Profile {
	return []Profile{
		{Name: "default", Upper: DefaultUpper, Lower: DefaultLower},
		{Name: "conservative", Upper: 0.55, Lower: 0.45},
		{Name: "deepseek", Upper: 0.70, Lower: 0.60, Families: []string{"deepseek"}},
		{Name: "grok", Upper: 0.70, Lower: 0.60, Families: []string{"grok"}},
		{Name: "gemini", Upper: 0.50, Lower: 0.40, Families: []string{"gemini"}},
	}
}

// profileOf returns the profile of a name, for "auto" the one of the model's family, else the default.
// It returns false where the name is not known.
func profileOf(name, model string) (Profile, bool) {
	all := Profiles()
	model = strings.ToLower(model)
	i := slices.IndexFunc(all, func(p Profile) bool {
		if name != ProfileAuto {
			return p.Name == name
		}
		return slices.ContainsFunc(p.Families, func(f string) bool { return strings.Contains(model, f) })
	})
	if i >= 0 {
		return all[i], true
	}
	return all[0], name == "" || name == ProfileAuto
}

// Thresholds returns the fractions of the window that hold for a model: those that are set, else the
// profile's. They are not checked. Where the upper one is low and the lower one is not set, the lower
// one is scaled down with it.
func (w When) Thresholds(model string) (upper, lower float64) {
	p, _ := profileOf(w.Profile, model)
	upper = cmp.Or(w.Upper, p.Upper)
	return upper, cmp.Or(w.Lower, min(p.Lower, upper*p.Lower/p.Upper))
}

// Check returns a usage error where the policy makes no sense, and nil where it does. It knows only the
// strategies that ship.
func (p Policy) Check() error {
	_, err := p.resolved("", nil)
	return err
}

// resolved returns the policy with its defaults filled in for a model, or a usage error where it makes
// no sense.
func (p Policy) resolved(model string, own map[string]strategies.Strategy) (Policy, error) {
	when := &p.When
	if _, ok := profileOf(when.Profile, model); !ok {
		names := lists.Map(Profiles(), func(known Profile) string { return known.Name })
		return p, usage("profile %q: known are %s, %s", when.Profile, ProfileAuto, strings.Join(names, ", "))
	}
	p.Strategy = cmp.Or(p.Strategy, StrategyDrop)
	if known := append(Strategies(), slices.Sorted(maps.Keys(own))...); !slices.Contains(known, p.Strategy) {
		return p, usage("strategy %q: known are %s", p.Strategy, strings.Join(known, ", "))
	}
	p.Recovery = cmp.Or(p.Recovery, RecoverRetry)
	if p.Recovery != RecoverRetry && p.Recovery != RecoverDescend {
		return p, usage("recovery %q: known are retry and descend", p.Recovery)
	}
	p.Note.By = cmp.Or(p.Note.By, strategies.NoteByBoth)
	authors := []strategies.NoteBy{strategies.NoteByBoth, strategies.NoteByPlugin, strategies.NoteByHost}
	if !slices.Contains(authors, p.Note.By) {
		return p, usage("note %q: known are both, plugin and host", p.Note.By)
	}
	if _, ok := note.OutlineNamed(p.Summarize.Outline); !ok {
		names := lists.Map(note.Outlines(), func(o note.Outline) string { return o.Name })
		return p, usage("outline %q: known are %s", p.Summarize.Outline, strings.Join(names, " and "))
	}
	if when.Upper, when.Lower = when.Thresholds(model); !(when.Lower > 0 && when.Lower < when.Upper && when.Upper <= 1) {
		return p, usage("thresholds upper %v and lower %v: 0 < lower < upper <= 1 has to hold", when.Upper, when.Lower)
	}
	when.IdleUpper = cmp.Or(when.IdleUpper, (when.Upper+when.Lower)/2)
	for _, share := range []struct {
		name  string
		value float64
	}{{"idle_upper", when.IdleUpper}, {"trim threshold", p.Prune.Trim.Threshold}} {
		if share.value != 0 && !(share.value > 0 && share.value <= 1) {
			return p, usage("%s %v: give a fraction of the window, over 0 and at most 1", share.name, share.value)
		}
	}
	for _, n := range []struct {
		name  string
		value int
	}{
		{"max_tokens", when.MaxTokens}, {"reserve_tokens", when.ReserveTokens},
		{"output_reserve", when.OutputReserve}, {"max_bytes", when.MaxBytes}, {"payback_calls", when.PaybackCalls},
		{"trim max_tokens", p.Prune.Trim.MaxTokens}, {"recent messages", p.Keep.Messages},
		{"recent tokens", p.Keep.Tokens}, {"recent exchanges", p.Keep.Exchanges}, {"recent tool_tokens", p.Keep.ToolTokens},
		{"summarize timeout", p.Summarize.TimeoutMS}, {"max_summary_tokens", p.Summarize.MaxSummaryTokens},
	} {
		if n.value < 0 || n.value > maxTokens {
			return p, usage("%s %d: give 0 to %d", n.name, n.value, maxTokens)
		}
	}
	if when.ReserveTokens > 0 && !p.Keep.Recent() && p.Keep.ToolTokens == 0 {
		p.Keep.Tokens = DefaultKeepRecentTokens
	}
	return p, nil
}

// redactor returns what takes secrets out of all that a compaction inserts, stores and reports, since
// that outlives the message that held the secret.
func (p *Policy) redactor() (r *redact.Redactor, err error) {
	switch {
	case p.Note.NoRedact:
		r, err = redact.New([]redact.Pattern{})
	case len(p.Note.Redact) == 0:
		r = redact.Known()
	default:
		patterns := redact.Defaults()
		for _, expr := range p.Note.Redact {
			patterns = append(patterns, redact.Pattern{Kind: "custom", Expr: expr.String()})
		}
		r, err = redact.New(patterns)
	}
	if err != nil {
		return nil, &abi.Error{Code: abi.CodeUsage, Op: "compact", Message: err.Error(), Err: err, Hint: "fix the pattern"}
	}
	return r, nil
}

func usage(format string, args ...any) *abi.Error {
	return &abi.Error{Code: abi.CodeUsage, Op: "compact", Message: fmt.Sprintf(format, args...)}
}

// pastBound reports whether a session is past a bound that the policy sets in tokens or bytes.
func pastBound(l *look, now strategies.List) bool {
	return l.policy.When.MaxTokens > 0 && now.Total > l.limits.Upper || overBytes(l, now) > 0
}

// overBytes returns the bytes of a session that has more of them than a request may have, else 0.
func overBytes(l *look, now strategies.List) int {
	if most := l.limits.UpperBytes; most > 0 {
		if n := bytesOf(now.Messages); n > most {
			return n
		}
	}
	return 0
}

// bytesOf returns what messages add to the body of a request, in bytes.
func bytesOf(msgs []abi.Message) (n int) {
	for i := range msgs {
		n += strategies.Bytes(&msgs[i])
	}
	return n
}
