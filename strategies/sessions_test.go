package strategies_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/features"
	"github.com/kagewasm/kagewasm/internal/shared"
	"github.com/kagewasm/kagewasm/strategies"
	"github.com/kagewasm/kagewasm/tokens"
	"github.com/kagewasm/kagewasm/transcript"
)

// TestRealSessions: over recorded sessions the firewall takes every edit
// of every step, one after the other, and each step finds nothing more to do
// when it is done again. Every sixth session is counted with a model's own
// encoding, the others by their length, which is faster.
func TestRealSessions(t *testing.T) {
	features.Proves(t, "I7", "A13", "A1")
	model, err := tokens.New("", tokens.Options{})
	if err != nil {
		t.Fatal(err)
	}
	var counter abi.Counter
	cfg := strategies.PruneConfig{ShortenTokens: 2000, Reference: true, ProtectTokens: 8000, MinimumSavings: -1,
		Arguments: strategies.ArgumentsIteration}
	const limit = 1000
	steps := []struct {
		name string
		do   func(*strategies.View) []abi.Edit
	}{
		{"I7 prune", func(v *strategies.View) []abi.Edit {
			return strategies.Prune(v.List, cfg, counter)
		}},
		{"A13 arguments", func(v *strategies.View) []abi.Edit {
			return strategies.PruneArguments(v, false, cfg)
		}},
		{"I2 recent", func(v *strategies.View) []abi.Edit {
			return strategies.ShortenRecent(v, 500, []string{})
		}},
		{"complaint 5 cap", func(v *strategies.View) []abi.Edit { return strategies.Cap(v, limit) }},
	}
	saved, before := make([]int, len(steps)), 0
	paths := shared.With(t, nil)
	recorded := len(paths) > 0
	if !recorded { // said in the log; the sample is of one kind only
		paths = []string{filepath.Join(shared.Root(t), "testdata", "demo.jsonl")}
	}
	for n, path := range paths {
		if counter = count; n%6 == 0 {
			counter = model
		}
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		s, err := transcript.Read(path, data, transcript.Auto)
		if err != nil {
			t.Fatal(err)
		}
		v := counted(s.Messages, counter)
		before += v.Total
		for k, step := range steps {
			t.Run(step.name, func(t *testing.T) {
				edits := step.do(v)
				after := counted(edited(t, v.Messages, edits, counter), counter)
				saved[k] += v.Total - after.Total
				if again := step.do(after); len(again) > 0 {
					t.Errorf("%s: %s again: %d edits, the first %.200v", filepath.Base(path), step.name, len(again), again[0])
				}
				v = after
			})
		}
		for i := range v.Messages {
			if !v.Pinned[i] {
				checkCapped(t, &v.Messages[i], limit, counter)
			}
		}
	}
	for k, step := range steps {
		t.Run(step.name, func(t *testing.T) {
			t.Logf("%-16s saves %7d of %d tokens", step.name, saved[k], before)
			if recorded && saved[k] == 0 {
				t.Errorf("%s saves nothing anywhere: nothing was shown", step.name)
			}
		})
	}
}

func counted(msgs []abi.Message, counter abi.Counter) *strategies.View {
	counts := make([]int, len(msgs))
	for i := range msgs {
		counts[i] = counter.Message(&msgs[i])
	}
	return strategies.NewView(strategies.NewList(msgs, counts, abi.Pinned(msgs), 0), strategies.Limits{Window: 16_000},
		counter)
}
