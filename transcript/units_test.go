package transcript_test

import (
	"slices"
	"testing"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/features"
	"github.com/kagewasm/kagewasm/internal/soak"
	"github.com/kagewasm/kagewasm/transcript"
)

// Calls and results pair up after reading as they do in the source, by a count
// that knows nothing of abi.Units, and stay paired when the session is written
// and read again.
func TestPairsSurviveReading(t *testing.T) {
	features.Proves(t, "K9")
	all := samples(t)
	for _, s := range soak.Sample(all, 60, len(all)) {
		t.Run(string(s.format)+"/"+s.name, func(t *testing.T) {
			got := read(t, s.data, transcript.Auto)
			calls, results := abi.Orphans(got.Messages)
			openCalls, strayResults := countOrphans(got.Messages)
			if len(calls) != openCalls || len(results) != strayResults {
				t.Errorf("%d open calls and %d stray results, counted %d and %d", len(calls), len(results), openCalls, strayResults)
			}
			for _, to := range transcript.Formats() {
				if len(s.data) > 150_000 && to != transcript.Neutral {
					continue // the smaller ones say the same of the other formats
				}
				again := read(t, encode(t, got, got.Messages, to), to)
				if c, r := countOrphans(again.Messages); c != openCalls || r != strayResults {
					t.Errorf("as %s: %d open calls and %d stray results, want %d and %d", to, c, r, openCalls, strayResults)
				}
			}
		})
	}
}

// countOrphans looks ahead from each call for its result, instead of keeping a
// table of open calls, and back from each result for its call.
func countOrphans(msgs []abi.Message) (calls, results int) {
	for i, m := range msgs {
		for k, c := range m.ToolCalls {
			again := false // the same message calls with this id once more
			for _, later := range m.ToolCalls[k+1:] {
				again = again || later.ID == c.ID
			}
			if again || nextResult(msgs[i+1:], c.ID) < 0 {
				calls++
			}
		}
	}
	for i, m := range msgs {
		called := slices.ContainsFunc(msgs[:i], func(m abi.Message) bool {
			return slices.ContainsFunc(m.ToolCalls, func(c abi.ToolCall) bool { return c.ID == msgs[i].ToolCallID })
		})
		if m.Role == abi.RoleTool && !called {
			results++
		}
	}
	return calls, results
}

// nextResult is the first result with an id before anybody calls with it again.
func nextResult(msgs []abi.Message, id string) int {
	for i, m := range msgs {
		if m.Role == abi.RoleTool && m.ToolCallID == id {
			return i
		}
		for _, c := range m.ToolCalls {
			if c.ID == id {
				return -1
			}
		}
	}
	return -1
}
