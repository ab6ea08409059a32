package ui

import (
	"testing"

	"github.com/kagewasm/kagewasm/internal/features"
	"github.com/kagewasm/kagewasm/strategies"
)

// TestPreparedTellsDue: the threshold is reached by what the session costs as it is, also where less than that is left
// once old output is shortened.
func TestPreparedTellsDue(t *testing.T) {
	features.Proves(t, "T4")
	const asked = "compacted all the same: that was asked for, or max_bytes is passed"
	const shortened = "reached, but not with the 43,796 that are left once old output is shortened, "
	for _, tc := range []struct {
		before, pruned int
		due            bool
		want           string
	}{
		{361_319, 361_319, true, "reached, so it is compacted"},
		{361_319, 43_796, true, shortened + "and " + asked},
		{361_319, 43_796, false, shortened + "so no more is done without --force"},
		{43_796, 43_796, true, "not reached, and " + asked},
		{43_796, 43_796, false, "not reached, so nothing is done without --force"},
		{361_319, 361_319, false, "reached, but compaction is switched off, so nothing is done without --force"},
	} {
		made := strategies.Preparation{TokensBefore: tc.before, TokensPruned: tc.pruned, StartsAt: 323_000, Due: tc.due}
		if got := dueOf(&made); got != tc.want {
			t.Errorf("%+v: %q", tc, got)
		}
	}
}
