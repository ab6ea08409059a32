package ui

import (
	"bytes"
	"strings"
	"testing"

	kagewasm "github.com/kagewasm/kagewasm"
	"github.com/kagewasm/kagewasm/internal/features"
)

// TestPrunedByName: what pruning took out is told by its name: a duplicate message is no
// tool result.
func TestPrunedByName(t *testing.T) {
	features.Proves(t, "A1", "A13")
	for want, p := range map[string]kagewasm.Pruned{
		"2 duplicate synthetic messages left out; 90 tokens saved": {Count: 2, TokensSaved: 90,
			IDs: []string{"s1", "s2"}, Removed: []string{"s1", "s2"}},
		"1 output shortened; 4,000 tokens saved": {Count: 1, TokensSaved: 4000, IDs: []string{"r1"}},
		"1 duplicate synthetic message left out, 2 outputs shortened, calls of 1 message shortened; 7 tokens saved": {
			Count: 4, TokensSaved: 7, IDs: []string{"s1", "r1", "r2", "a1"}, Removed: []string{"s1"},
			Calls: []string{"a1"}},
	} {
		t.Run(want, func(t *testing.T) {
			var b bytes.Buffer
			Report(Printer{W: &b}, Compaction{Path: "x", Result: &kagewasm.Result{Report: kagewasm.Report{Window: 1,
				Pruned: p}}})
			if !strings.Contains(b.String(), want+"\n") {
				t.Errorf("it says\n%s", b.String())
			}
		})
	}
}
