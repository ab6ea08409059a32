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

// TestReplayShowsStops: after which compactions the next call needed what was gone is told, and what that was.
func TestReplayShowsStops(t *testing.T) {
	features.Proves(t, "I10", "N3")
	stop := func(needs ...replay.Need) *replay.Compaction {
		return &replay.Compaction{Call: 7, Continued: new(bool), Needed: needs}
	}
	file := replay.Need{After: 1, File: "internal/store/lease.go"}
	goesOn := &replay.Compaction{Continued: new(true), Needed: []replay.Need{{After: 2, Call: "bash make"}}}
	for _, tc := range []struct {
		why    string
		points []*replay.Compaction
		want   []string
	}{
		{"all go on", []*replay.Compaction{goesOn, {}}, nil},
		{"a file", []*replay.Compaction{goesOn, stop(file)}, []string{
			"note drop: compaction 2 of 2, at call 7, did not go on: the next call names internal/store/lease.go"}},
		{"a call", []*replay.Compaction{stop(replay.Need{After: 1, Call: "bash " + strings.Repeat("m", 90)},
			replay.Need{After: 2, Call: "bash later"})}, []string{
			"note drop: compaction 1 of 1, at call 7, did not go on: the next call makes again what went: bash " +
				strings.Repeat("m", 75) + "…"}},
		{"many files", []*replay.Compaction{stop(slices.Repeat([]replay.Need{{After: 1, File: "a.go"}}, 5)...)}, []string{
			"note drop: compaction 1 of 1, at call 7, did not go on: the next call names a.go, names a.go, names a.go, 2 more"}},
		{"many", slices.Repeat([]*replay.Compaction{stop(file)}, 8), []string{"compaction 1 of 8", "compaction 2 of 8",
			"compaction 3 of 8", "compaction 4 of 8", "compaction 5 of 8",
			"note drop: 3 more compactions did not go on: see --json"}},
	} {
		t.Run(tc.why, func(t *testing.T) {
			var b bytes.Buffer
			showStops(Printer{W: &b}, &ReplayedWay{ReplayedSum: ReplayedSum{Way: "drop"}, Points: tc.points})
			lines := slices.Collect(strings.Lines(b.String()))
			if len(lines) != len(tc.want) {
				t.Fatalf("%q", lines)
			}
			for i, want := range tc.want {
				if !strings.Contains(lines[i], want) {
					t.Errorf("got %q, want %q", lines[i], want)
				}
			}
		})
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
