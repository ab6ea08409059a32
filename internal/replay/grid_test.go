package replay_test

import (
	"cmp"
	"fmt"
	"hash/fnv"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	kagewasm "github.com/kagewasm/kagewasm"
	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/features"
	"github.com/kagewasm/kagewasm/internal/replay"
	"github.com/kagewasm/kagewasm/internal/sessiongen"
	"github.com/kagewasm/kagewasm/internal/shared"
	"github.com/kagewasm/kagewasm/internal/soak"
	"github.com/kagewasm/kagewasm/strategies/note"
	"github.com/kagewasm/kagewasm/tokens"
	"github.com/kagewasm/kagewasm/transcript"
)

var windows = []int{16_000, 64_000, 200_000}

// model is whose prices the agent's own calls are reckoned with.
const model = "anthropic/claude-sonnet-4-5"

// recording is a session file that was read.
type recording struct {
	name string
	*transcript.Session
}

// made is a session made up by a test.
func made(t rapid.TB, msgs []abi.Message) recording {
	s, err := transcript.Read(t.Name(), sessiongen.JSONL(msgs), transcript.Neutral)
	if err != nil {
		t.Fatal(err)
	}
	return recording{t.Name(), s}
}

// recordings are the project's own sessions and the shared ones, largest first.
func recordings(t *testing.T) (list []recording) {
	own, err := filepath.Glob(filepath.Join(shared.Root(t), "testdata", "*.jsonl"))
	if err != nil || len(own) == 0 {
		t.Fatal("no sessions in testdata", err)
	}
	size := make(map[string]int)
	for _, path := range shared.With(t, own) {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		s, err := transcript.Read(path, data, transcript.Neutral)
		if err != nil {
			t.Fatal(err)
		}
		name := strings.TrimSuffix(filepath.Base(path), ".jsonl")
		list, size[name] = append(list, recording{name, s}), len(data)
	}
	slices.SortStableFunc(list, func(a, b recording) int { return cmp.Compare(size[b.name], size[a.name]) })
	return list
}

// cell is one replay of the grid.
type cell struct {
	recording
	window   int
	strategy strategy
}

func (c cell) String() string { return fmt.Sprintf("%s/%d/%s", c.strategy.name, c.window, c.name) }

// grid is all cells, in CI a tenth of them, and by itself a fiftieth. Of three
// sessions, in the smallest window, each strategy has one in any case: of the
// largest, or of smaller ones where the test runs by itself.
func grid(t *testing.T) (cells []cell) {
	ways := allStrategies(t)
	all := recordings(t)
	nth, first := uint32(soak.Count(100, 10, 1)), min(soak.Count(9, 0, 0), len(all)-3)
	for i, r := range all {
		for _, w := range windows {
			for k, s := range ways {
				c := cell{r, w, s}
				h := fnv.New32a()
				h.Write([]byte(c.String()))
				if h.Sum32()%nth == 0 || w == windows[0] && k%3 == i-first {
					cells = append(cells, c)
				}
			}
		}
	}
	return cells
}

// TestReplay (K1, K2, K9, K10, I1, I10, N2, N3, T9, complaints 1, 2, 3, 5, 8, 9
// and 11): sessions replayed call by call, in three windows, with each
// strategy. No look breaks an invariant, nothing is orphaned that was not in
// the log, what is pinned never changes, no message is ever lost, and the
// providers would take every request. Of the input of all calls four fifths
// stand in the provider's cache, and what failed is told.
func TestReplay(t *testing.T) {
	features.Proves(t, "K1", "K2", "K9", "K10", "I1", "I10", "N2", "N3", "T9", "complaint 1", "complaint 2",
		"complaint 3", "complaint 5", "complaint 8", "complaint 9", "complaint 11")
	counter, err := tokens.New(tokens.O200k, tokens.Options{})
	if err != nil {
		t.Fatal(err)
	}
	var results table
	for _, c := range grid(t) {
		t.Run(c.String(), func(t *testing.T) {
			stats, problems := c.replay(t, counter)
			results.add(c, stats, problems)
		})
	}
	t.Log("\n" + results.String())
	t.Run("cached", func(t *testing.T) {
		shared.Sessions(t) // two sessions of our own are no measure of what sessions are like
		for _, name := range []string{"drop", "summarize"} {
			t.Run(name, func(t *testing.T) {
				if s := results.of(name); s.CachedShare < 0.80 {
					t.Errorf("%.1f%% of the input was cached, and 80%% should be", 100*s.CachedShare)
				}
			})
		}
	})
	// Below that the failures do not all fit beside the rest of a note.
	t.Run("failures", func(t *testing.T) {
		for key, s := range results.sums {
			if key.strategy == "delegate" || key.window < 64_000 {
				continue
			}
			t.Run(fmt.Sprint(key.strategy, " ", key.window), func(t *testing.T) {
				// A tenth may be missing, and one of the few in a sample.
				if least := min(s.Failed.Of*9/10, s.Failed.Of-1); s.Failed.Whole < least || s.Errors.Whole < least {
					t.Errorf("%+v of the approaches that failed are kept, and %+v of their errors", s.Failed, s.Errors)
				}
			})
		}
	})
}

// replay runs a cell and checks each step. It returns what it came to and how
// much was wrong.
func (c cell) replay(t *testing.T, counter abi.Counter) (stats replay.Stats, problems int) {
	opts := c.strategy.options
	opts.Counter = counter
	compactor, err := kagewasm.New(opts)
	if err != nil {
		t.Fatal(err)
	}
	check := &checker{t: t, recording: c.recording, counter: counter}
	result, err := replay.Run(t.Context(), replay.Options{
		Compactor: compactor, Counter: counter,
		Session:  abi.Session{ID: c.name, Model: model, ContextWindow: &c.window},
		Messages: c.Messages, Missing: note.Outlines()[0].Missing, Observe: check.step,
	})
	if err != nil {
		t.Fatal(err)
	}
	check.end()
	stats = result.Stats
	if stats.CachedTokens != stats.ReportedTokens {
		check.problem("%d tokens were cached, and the reports say %d", stats.CachedTokens, stats.ReportedTokens)
	}
	return stats, check.problems
}
