package replay_test

import (
	"fmt"
	"strings"
	"text/tabwriter"

	"github.com/kagewasm/kagewasm/internal/replay"
)

// table is what the replays of a run came to, by strategy and window.
type table struct {
	keys  []tableKey
	sums  map[tableKey]*replay.Stats
	wrong map[tableKey]int // problems found
}

type tableKey struct {
	strategy string
	window   int
}

func (t *table) add(c cell, s replay.Stats, problems int) {
	key := tableKey{c.strategy.name, c.window}
	if t.sums == nil {
		t.sums, t.wrong = make(map[tableKey]*replay.Stats), make(map[tableKey]int)
	}
	t.wrong[key] += problems
	if t.sums[key] == nil {
		t.sums[key] = new(replay.Stats)
		t.keys = append(t.keys, key)
	}
	t.sums[key].Add(s)
}

// of is the sum over all windows of a strategy.
func (t *table) of(strategy string) (sum replay.Stats) {
	for key, s := range t.sums {
		if key.strategy == strategy {
			sum.Add(*s)
		}
	}
	return sum
}

func (t *table) String() string {
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "strategy\twindow\tcalls\tunsent\tcompactions\tper 100\tcached\tratio\tcomplete\tfailed "+
		"kept\terrors kept\tnames used\tcontinued\treread\tfallbacks\tagent $\tcompactor $\tviolations")
	for _, k := range t.keys {
		s := t.sums[k]
		fmt.Fprintf(w, "%s\t%d\t%d\t%d\t%d\t%.1f\t%.1f%%\t%.2f\t%.0f%%\t%.0f%%\t%.0f%%\t"+
			"%.1f%%\t%.1f%%\t%d\t%d\t%.2f\t%.3f\t%d\n",
			k.strategy, k.window, s.Calls, s.Unsent, s.Compactions, s.Per100Calls, 100*s.CachedShare, s.Ratio,
			s.Summaries.Percent(), s.Failed.Percent(), s.Errors.Percent(),
			replay.Share{Of: s.NamesListed, Whole: s.NamesUsed}.Percent(), s.Continuation.Percent(),
			s.Continuation.Reread, s.Fallbacks, s.Cost.Primary, s.Cost.Compactor, t.wrong[k])
	}
	w.Flush()
	return b.String()
}
