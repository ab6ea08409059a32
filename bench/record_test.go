package main

import (
	"encoding/json"
	"os"
	"testing"
)

// misses are comparisons that are lost, by how much at most: what is aimed at is not lowered
// for them, and they may not get worse. The others have to be won.
var misses = map[string]float64{
	"compacting pi-mono__before-compaction langchain":   0.8,
	"compacting entireio-cli__claude-25-730c langchain": 0.8,
	"compacting entireio-cli__claude-ad-ff02 langchain": 0.8,
	"compacting entireio-cli__claude-c0-8972 langchain": 0.8,
}

// TestTheLastRecord: the ratios of the run that BENCHMARKS.md shows are those aimed at, and
// it has all suites.
func TestTheLastRecord(t *testing.T) {
	data, err := os.ReadFile("results.json")
	if err != nil {
		t.Fatal(err)
	}
	var r Results
	if err := json.Unmarshal(data, &r); err != nil {
		t.Fatal(err)
	}
	for _, s := range suites {
		if len(r.rows(s.name)) == 0 {
			t.Errorf("nothing was measured of %s", s.name)
		}
	}
	for _, row := range r.Rows {
		want := max(row.Want, 1)
		if most, ok := misses[row.Suite+" "+row.Case+" "+row.Peer]; ok {
			want *= most
		}
		if !(row.Ratio >= want) {
			t.Errorf("%s, %s against %s: %.2f times, want %.2f", row.Suite, row.Case, row.Peer, row.Ratio, want)
		}
	}
}
