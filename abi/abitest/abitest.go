package abitest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"testing"

	"github.com/kagewasm/kagewasm/abi"
)

// Plugin answers calls. The input must not be kept or changed.
type Plugin interface {
	Call(ctx context.Context, in *abi.Input) (*abi.Output, abi.CallStats, error)
}

// Result is the outcome of one rule.
type Result struct {
	// Rule is its name, in lower case words: stable, for tests and reports.
	Rule string `json:"rule"`
	// Explanation says what the rule asks and why.
	Explanation string `json:"explanation"`
	// Err is how it was broken, nil where it was kept.
	Err error `json:"-"`
}

// String is the rule, and where it was broken how and why it matters.
func (r Result) String() string {
	if r.Err == nil {
		return r.Rule
	}
	return fmt.Sprintf("%s: %v\n%s", r.Rule, r.Err, r.Explanation)
}

// Run checks p against every rule that applies to its manifest, each as a
// subtest.
func Run(t *testing.T, m *abi.Manifest, p Plugin) {
	t.Helper()
	c := newChecker(m, p)
	for _, r := range rulesFor(m) {
		t.Run(r.name, func(t *testing.T) {
			if err := r.check(t.Context(), c); err != nil {
				t.Error(r.result(err))
			}
		})
	}
}

// Check is [Run] without a test: the outcome of each rule that applies. The
// plugin is called some 40 times; every call is bounded by ctx and by the
// plugin's own limits.
func Check(ctx context.Context, m *abi.Manifest, p Plugin) []Result {
	c := newChecker(m, p)
	var results []Result
	for _, r := range rulesFor(m) {
		results = append(results, r.result(r.check(ctx, c)))
	}
	return results
}

// CheckOutput reports what a host would refuse or warn of in the answer of
// pre_compact to in, or nil: the same rules, over one answer.
func CheckOutput(m *abi.Manifest, in *abi.Input, out *abi.Output) error {
	var errs []error
	for _, r := range rules {
		if r.answer != nil && r.applies(m) {
			if err := r.answer(m, in, out); err != nil {
				errs = append(errs, fmt.Errorf("%s: %w", r.name, err))
			}
		}
	}
	return errors.Join(errs...)
}

// rule is one thing that is asked. Either check drives the plugin itself, or
// answer judges each of its answers to the kit's sessions.
type rule struct {
	name, explanation string
	when              func(m *abi.Manifest) bool // nil: always
	check             func(ctx context.Context, c *checker) error
	answer            func(m *abi.Manifest, in *abi.Input, out *abi.Output) error
}

func (r *rule) applies(m *abi.Manifest) bool { return r.when == nil || r.when(m) }

func (r *rule) result(err error) Result {
	return Result{Rule: r.name, Explanation: r.explanation, Err: err}
}

// rulesFor are the rules that apply, all with a check.
func rulesFor(m *abi.Manifest) []rule {
	var list []rule
	for _, r := range rules {
		if !r.applies(m) {
			continue
		}
		if judge := r.answer; judge != nil {
			r.check = func(ctx context.Context, c *checker) error { return c.each(ctx, judge) }
		}
		list = append(list, r)
	}
	return list
}

// checker calls the plugin, once for each session.
type checker struct {
	m       *abi.Manifest
	p       Plugin
	inputs  map[string]*abi.Input
	answers map[string]*answer
}

type answer struct {
	out   *abi.Output
	stats abi.CallStats
	err   error
}

func newChecker(m *abi.Manifest, p Plugin) *checker {
	c := &checker{m: m, p: p, inputs: make(map[string]*abi.Input), answers: make(map[string]*answer)}
	for _, s := range sessions {
		c.inputs[s.name] = NewInput(m, s.messages(), 0)
	}
	return c
}

// call gives the plugin a copy of in, so that nothing it does to its input
// reaches another call.
func (c *checker) call(ctx context.Context, in *abi.Input) (a answer) {
	var clone abi.Input
	doc, err := json.Marshal(in)
	if err == nil {
		err = json.Unmarshal(doc, &clone)
	}
	if err != nil {
		return answer{err: fmt.Errorf("the kit's own input: %w", err)}
	}
	a.out, a.stats, a.err = c.p.Call(ctx, &clone)
	return a
}

// session is the answer to pre_compact on the kit's session of that name.
func (c *checker) session(ctx context.Context, name string) answer {
	if c.answers[name] == nil {
		a := c.call(ctx, c.inputs[name])
		c.answers[name] = &a
	}
	return *c.answers[name]
}

// each judges the answers to all sessions. One that was an error is another
// rule's.
func (c *checker) each(ctx context.Context, judge func(*abi.Manifest, *abi.Input, *abi.Output) error) error {
	for _, s := range sessions {
		a := c.session(ctx, s.name)
		if a.err != nil || a.out == nil {
			continue
		}
		if err := judge(c.m, c.inputs[s.name], a.out); err != nil {
			return fmt.Errorf("session %q: %w", s.name, err)
		}
	}
	return nil
}
