package check

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/abi/abitest"
	"github.com/kagewasm/kagewasm/runtime"
)

// stateRules are about what an answer depends on.
func (s *subject) stateRules() []abitest.Rule {
	return []abitest.Rule{
		{
			Name: "fresh loads",
			Explanation: "a module that is loaded again, over an empty storage, answers the same input with the same " +
				"bytes: on this machine, on the next one, in a replay",
			Fix:  "take nothing from addresses or counters; answers of servers and models are replayed (--replay)",
			Skip: s.handles(abi.HookPreCompact), Check: s.freshLoads,
		},
		{
			Name: "isolation",
			Explanation: "an answer depends on its input and on what is stored, not on the calls before it: hosts call " +
				"plugins in any order, several at a time, and throw instances away",
			Fix:  "keep nothing outside of the storage; answers of servers and models are replayed (--replay)",
			Skip: s.handles(abi.HookPreCompact), Check: s.isolated,
		},
	}
}

// afresh loads the module over an empty storage and calls f with it.
func (s *subject) afresh(ctx context.Context, f func(*runtime.Plugin) ([]byte, error)) ([]byte, error) {
	s.kv.Clear()
	p, err := s.load(ctx, s.opts.Plugin)
	if err != nil {
		return nil, err
	}
	defer p.Close(context.WithoutCancel(ctx))
	return f(p)
}

// answer calls the module and returns its output as JSON.
func (s *subject) answer(ctx context.Context, p *runtime.Plugin, in *abi.Input) ([]byte, error) {
	out, _, err := s.call(ctx, p, in)
	if err != nil {
		return nil, err
	}
	return json.Marshal(out)
}

func (s *subject) freshLoads(ctx context.Context) error {
	var first []byte
	for range 2 {
		again, err := s.afresh(ctx, func(p *runtime.Plugin) ([]byte, error) {
			var all []byte
			for _, n := range []int{8, 2, 8} {
				doc, err := s.answer(ctx, p, s.input(n))
				if err != nil {
					return nil, fmt.Errorf("a session of %d exchanges: %w", n, err)
				}
				all = append(append(all, doc...), '\n')
			}
			return all, nil
		})
		if err != nil {
			return err
		}
		if first != nil && !bytes.Equal(first, again) {
			return fmt.Errorf("two loads answer sessions of 8, 2 and 8 exchanges differently: %s", differ(first, again))
		}
		first = again
	}
	return nil
}

func (s *subject) isolated(ctx context.Context) error {
	alone, err := s.afresh(ctx, func(p *runtime.Plugin) ([]byte, error) { return s.answer(ctx, p, s.input(8)) })
	if err != nil {
		return fmt.Errorf("a session of 8 exchanges: %w", err)
	}
	after, err := s.afresh(ctx, func(p *runtime.Plugin) ([]byte, error) {
		for range 2 {
			other := s.input(3)
			other.Session.ID, other.Call, other.Trigger.DryRun = "another", "c0", false
			if _, err := s.answer(ctx, p, other); err != nil {
				return nil, fmt.Errorf("a session of 3 exchanges: %w", err)
			}
		}
		s.kv.Clear() // what is stored may matter
		for range 2 {
			if _, err := s.answer(ctx, p, s.input(5)); err != nil {
				return nil, fmt.Errorf("a dry run of 5 exchanges: %w", err)
			}
		}
		return s.answer(ctx, p, s.input(8))
	})
	if err != nil {
		return err
	}
	if !bytes.Equal(alone, after) {
		return fmt.Errorf("a session of 8 exchanges is answered differently after calls for others: %s", differ(alone, after))
	}
	return nil
}

// differ shows where two answers begin to differ.
func differ(a, b []byte) string {
	at := 0
	for at < min(len(a), len(b)) && a[at] == b[at] {
		at++
	}
	from := max(0, at-20)
	return fmt.Sprintf("…%.80q and …%.80q", a[from:], b[from:])
}
