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

// Rule is one thing that is asked of a plugin.
type Rule struct {
	// Name is in lower case words: stable, for tests and reports.
	Name string
	// Explanation says what the rule asks and why, Fix what to do where it is
	// broken.
	Explanation, Fix string
	// Skip is why the rule does not apply to the plugin; empty where it does.
	Skip string
	// Check calls the plugin, and says how the rule is broken: nil where it is
	// kept. Rules that do not apply are not checked.
	Check func(ctx context.Context) error
}

// Rules are all rules, bound to a plugin: for callers that pick some, or watch
// them being checked. They share the plugin's answers, so check them one after
// the other.
func Rules(m *abi.Manifest, p Plugin) []Rule {
	c := newChecker(m, p)
	list := make([]Rule, len(rules))
	for i, r := range rules {
		check := func(ctx context.Context) error {
			if r.answer != nil {
				return c.each(ctx, r.answer)
			}
			return r.check(ctx, c)
		}
		list[i] = Rule{Name: r.name, Explanation: r.explanation, Fix: r.fix, Skip: r.skip(m), Check: check}
	}
	return list
}

// Run checks p against every rule that applies to its manifest, each as a
// subtest that quotes the rule's explanation where it fails. The plugin is
// called some 70 times.
func Run(t *testing.T, m *abi.Manifest, p Plugin) {
	t.Helper()
	for _, r := range Rules(m, p) {
		if r.Skip != "" {
			continue
		}
		t.Run(r.Name, func(t *testing.T) {
			if err := r.Check(t.Context()); err != nil {
				t.Errorf("%s: %v\nwhy: %s\nfix: %s", r.Name, err, r.Explanation, r.Fix)
			}
		})
	}
}

// CheckOutput reports what a host would refuse or warn of in the answer of
// pre_compact to in, or nil: the same rules, over one answer.
func CheckOutput(m *abi.Manifest, in *abi.Input, out *abi.Output) error {
	var errs []error
	for _, r := range rules {
		if r.answer != nil && r.skip(m) == "" {
			if err := r.answer(m, in, out); err != nil {
				errs = append(errs, fmt.Errorf("%s: %w", r.name, err))
			}
		}
	}
	return errors.Join(errs...)
}

// rule is a [Rule] of any plugin. Either check drives the plugin itself, or
// answer judges each of its answers to the kit's sessions.
type rule struct {
	name, explanation, fix string
	when                   func(m *abi.Manifest) string // why not; nil: always
	check                  func(ctx context.Context, c *checker) error
	answer                 func(m *abi.Manifest, in *abi.Input, out *abi.Output) error
}

func (r *rule) skip(m *abi.Manifest) string {
	if r.when == nil {
		return ""
	}
	return r.when(m)
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
