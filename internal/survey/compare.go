package survey

import (
	"cmp"
	"maps"
	"slices"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/hooks"
	"github.com/kagewasm/kagewasm/internal/lists"
	"github.com/kagewasm/kagewasm/internal/set"
)

// Comparison holds the differences between two surveys.
type Comparison struct {
	// Sessions are those of both surveys with another result.
	Sessions []Delta `json:"sessions"`
	// Same counts the sessions with the same result.
	Same int `json:"same"`
	// Came and Went are sessions of one survey alone, by name.
	Came []string `json:"came,omitempty"`
	Went []string `json:"went,omitempty"`
	// Totals are over the sessions of both.
	Totals Pair[Totals] `json:"totals"`
}

// Pair is a value before and after.
type Pair[T any] struct {
	Old T `json:"old"`
	New T `json:"new"`
}

// Delta holds the differences in the result of one session. Nil or empty fields are
// unchanged. Time, fuel and memory alone make no difference.
type Delta struct {
	Session string `json:"session"`
	// NewlyKept are messages that stay now and went before, by id, NewlyGone
	// the others.
	NewlyKept []string `json:"newly_kept,omitempty"`
	NewlyGone []string `json:"newly_gone,omitempty"`
	// Reason is the reason code, Strategy who made the plan.
	Reason      *Pair[abi.ReasonCode] `json:"reason_code,omitempty"`
	Strategy    *Pair[string]         `json:"strategy,omitempty"`
	TokensAfter *Pair[int]            `json:"tokens_after,omitempty"`
	Injected    *Pair[[]string]       `json:"injected,omitempty"`
	Summary     *Pair[string]         `json:"summary,omitempty"`
	Pinned      *Pair[[]string]       `json:"pinned,omitempty"`
	Retained    *Pair[[]string]       `json:"retained,omitempty"`
	// Failures are "hook: code", in order.
	Failures *Pair[[]string] `json:"failures,omitempty"`
	// Use sums up the plugin's calls, different or not.
	Use Pair[Use] `json:"use"`
}

// Compare says what is different in the new survey. Sessions are told by their
// names.
func Compare(old, new *Survey) *Comparison {
	before := make(map[string]*Outcome, len(old.Sessions))
	for i := range old.Sessions {
		before[old.Sessions[i].Session] = &old.Sessions[i]
	}
	c := &Comparison{Sessions: []Delta{}}
	var both Pair[[]Outcome]
	for i := range new.Sessions {
		now := &new.Sessions[i]
		was, ok := before[now.Session]
		if !ok {
			c.Came = append(c.Came, now.Session)
			continue
		}
		delete(before, now.Session)
		both.Old, both.New = append(both.Old, *was), append(both.New, *now)
		if d := delta(was, now); d.differs() {
			c.Sessions = append(c.Sessions, d)
		} else {
			c.Same++
		}
	}
	c.Went = slices.Sorted(maps.Keys(before))
	c.Totals = Pair[Totals]{totals(both.Old), totals(both.New)}
	return c
}

// Differs reports whether any result is another one.
func (c *Comparison) Differs() bool { return len(c.Sessions)+len(c.Came)+len(c.Went) > 0 }

func (d *Delta) differs() bool {
	return len(d.NewlyKept)+len(d.NewlyGone) > 0 || d.Reason != nil || d.Strategy != nil || d.TokensAfter != nil ||
		d.Injected != nil || d.Summary != nil || d.Pinned != nil || d.Retained != nil || d.Failures != nil
}

func delta(was, now *Outcome) Delta {
	a, b := &was.Report, &now.Report
	return Delta{
		Session:     now.Session,
		NewlyKept:   common(a.Superseded, b.Kept),
		NewlyGone:   common(a.Kept, b.Superseded),
		Reason:      changed(a.ReasonCode, b.ReasonCode),
		Strategy:    changed(was.strategy(), now.strategy()),
		TokensAfter: changed(a.TokensAfter, b.TokensAfter),
		Injected:    changedList(was.Injected, now.Injected),
		Summary:     changed(a.Summary, b.Summary),
		Pinned:      changedList(a.Pinned, b.Pinned),
		Retained:    changedList(was.retained(), now.retained()),
		Failures:    changedList(was.failed(), now.failed()),
		Use:         Pair[Use]{was.Use, now.Use},
	}
}

// strategy is who made the plan, and whether somebody else was to.
func (o *Outcome) strategy() string {
	if o.Report.Fallback {
		return o.Report.Strategy + ", by fallback"
	}
	return o.Report.Strategy
}

func (o *Outcome) retained() []string {
	return lists.Map(o.Report.Retained, func(f hooks.Fact) string { return f.Text })
}

// failed are the failures without their words, which can name functions by
// their numbers.
func (o *Outcome) failed() []string {
	return lists.Map(o.Failures(), func(e *abi.Error) string {
		return cmp.Or(string(e.Hook), e.Op) + ": " + string(e.Code)
	})
}

// common are the ids of b that are in a as well, in the order of b.
func common(a, b []string) []string {
	in := set.Of(a...)
	return lists.Filter(b, func(id string) bool { return in[id] })
}

func changed[T comparable](old, new T) *Pair[T] {
	if old == new {
		return nil
	}
	return &Pair[T]{old, new}
}

func changedList(old, new []string) *Pair[[]string] {
	if slices.Equal(old, new) {
		return nil
	}
	return &Pair[[]string]{old, new}
}

// Of returns the differences of a session, nil where there are none or nothing to
// compare with.
func (c *Comparison) Of(session string) *Delta {
	if c == nil {
		return nil
	}
	for i := range c.Sessions {
		if c.Sessions[i].Session == session {
			return &c.Sessions[i]
		}
	}
	return nil
}
