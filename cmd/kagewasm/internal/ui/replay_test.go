package ui

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/features"
	"github.com/kagewasm/kagewasm/internal/replay"
)

// TestReplayNotes: a failure is no compaction by drop, unless it had one.
func TestReplayNotes(t *testing.T) {
	features.Proves(t, "N3")
	failures := map[abi.Code]int{abi.CodeDeadline: 2, abi.CodeBusy: 1}
	const failed, byDrop = "failures on the way: busy × 1, deadline × 2", "3 compactions by drop in its place"
	for _, tc := range []struct {
		stats replay.Stats
		want  []string
	}{
		{replay.Stats{}, nil},
		{replay.Stats{Failures: failures}, []string{failed}},
		{replay.Stats{Fallbacks: 3}, []string{byDrop}},
		{replay.Stats{Fallbacks: 3, Failures: failures}, []string{byDrop, failed}},
	} {
		if got := notesOf(&ReplayedSum{Stats: tc.stats}); !slices.Equal(got, tc.want) {
			t.Errorf("got %q, want %q", got, tc.want)
		}
	}
}

// TestReplayGoesOn: where no call follows a compaction, nobody knows whether the work goes on.
func TestReplayGoesOn(t *testing.T) {
	features.Proves(t, "N3")
	for _, tc := range []struct {
		is   replay.Continuation
		want string
	}{
		{replay.Continuation{}, "-"},
		{replay.Continuation{Compactions: 2, Continued: 1}, "50%"},
	} {
		var b bytes.Buffer
		showWays(Printer{W: &b}, []ReplayedSum{{Way: "drop", Stats: replay.Stats{Compactions: 2, Continuation: tc.is}}})
		fields := strings.Fields(b.String())
		if got := fields[len(fields)-1]; got != tc.want {
			t.Errorf("%+v: %q, want %q", tc.is, got, tc.want)
		}
	}
}

// TestReplayMarksCosts: a cost of calls that were not sent, or that no provider takes, is marked.
func TestReplayMarksCosts(t *testing.T) {
	features.Proves(t, "N3")
	for _, tc := range []struct {
		is   replay.Stats
		want string
	}{
		{replay.Stats{Cost: replay.Cost{Primary: 1}}, "$1.000"},
		{replay.Stats{Cost: replay.Cost{Primary: 1}, Unsent: 3}, "$1.000*"},
		{replay.Stats{Cost: replay.Cost{Primary: 1}, OverWindow: 3}, "$1.000*"},
		{replay.Stats{Cost: replay.Cost{Unknown: true}, Unsent: 3}, "unknown"},
	} {
		var b bytes.Buffer
		showWays(Printer{W: &b}, []ReplayedSum{{Way: "drop", Stats: tc.is}})
		explained := strings.Contains(b.String(), "\n  * no price to compare")
		if marked := strings.HasSuffix(tc.want, "*"); !strings.Contains(b.String(), " "+tc.want+" ") || explained != marked {
			t.Errorf("%+v: %s", tc.is, b.String())
		}
	}
}
