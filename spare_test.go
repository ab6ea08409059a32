package kagewasm_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	kagewasm "github.com/kagewasm/kagewasm"
	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/features"
	"github.com/kagewasm/kagewasm/internal/modeltest"
	"github.com/kagewasm/kagewasm/internal/shared"
	"github.com/kagewasm/kagewasm/strategies"
	"github.com/kagewasm/kagewasm/transcript"
)

// brief is a model whose summaries are a few lines, whatever it was allowed.
type brief struct{}

func (brief) Complete(_ context.Context, r abi.ModelRequest) (abi.ModelResponse, error) {
	return abi.ModelResponse{Text: inForm(modeltest.Request{ModelRequest: r}, "all is well"), StopReason: abi.StopEnd}, nil
}

// TestTargetsAreMonotoneWithAModel: what a summary does not use of the room that was left for
// it goes to messages that stay, and what those leave to the note: on every session a larger
// target leaves as much or more, but for the few tokens by which a note is shorter than it may be, and what is left
// comes near it. Where little more goes than is summarized at once at least, the target does not decide.
func TestTargetsAreMonotoneWithAModel(t *testing.T) {
	features.Proves(t, "K2", "K25")
	const windowMessages, slack = 20, 16
	c := newCompactor(t, kagewasm.Options{Counter: realCounter(), Model: brief{}})
	long := shared.Glob(t, "data", "sessions", "entireio-cli__claude-51-a265047d72-3.jsonl")
	for _, path := range append(corpus(t), long...) {
		t.Run(filepath.Base(path), func(t *testing.T) {
			in, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			s, err := transcript.Read("in", in, "")
			if err != nil {
				t.Fatal(err)
			}
			before := 0
			for _, target := range []int{2500, 3000, 3500, 4000, 4500, 5000, 6000, 7000} {
				req := request(64_000, s.Messages)
				req.Force, req.Target = true, &target
				r := compact(t, c, req).Report
				if len(r.Superseded) <= 2*windowMessages { // as many go at once, whatever the target is
					continue
				}
				if r.TokensAfter < before-slack {
					t.Errorf("target %d leaves %d tokens, a smaller one %d: %s", target, r.TokensAfter, before, r.Reason)
				}
				before = r.TokensAfter
				if unused := target - before; r.Compacted && unused > target/5 {
					t.Errorf("target %d leaves %d tokens", target, before)
				}
			}
		})
	}
}

// TestTheLastMessagesStayWithAModel: who asks for the last messages to stay has as many as fit
// the target beside the summary as it is, and never fewer than who does not ask.
func TestTheLastMessagesStayWithAModel(t *testing.T) {
	features.Proves(t, "A3")
	for _, path := range shared.Glob(t, "data", "sessions", "entireio-cli__claude-51-a265047d72-3.jsonl") {
		msgs := shared.Messages(t, path)
		kept := make(map[int]int)
		for _, last := range []int{0, 10} {
			c := newCompactor(t, kagewasm.Options{Counter: realCounter(), Model: brief{},
				Policy: kagewasm.Policy{Keep: strategies.KeepConfig{Messages: last}}})
			r := compact(t, c, request(12_000, msgs)).Report
			if r.Strategy != kagewasm.StrategySummarize || r.TokensAfter > 7200 {
				t.Fatalf("by %s, %d tokens: %v", r.Strategy, r.TokensAfter, r.Failures)
			}
			kept[last] = r.MessagesAfter
		}
		if kept[10] < 11 { // the task, the summary and nine: a call and its results stay whole
			t.Errorf("%d messages are left where the last 10 are to stay, %d where nobody asks", kept[10], kept[0])
		}
	}
}
