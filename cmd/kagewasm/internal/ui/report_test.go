package ui

import (
	"bytes"
	"strings"
	"testing"

	kagewasm "github.com/kagewasm/kagewasm"
	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/hooks"
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

// TestWarningsAndCosts: a report tells its warnings, a line each, and what the models of plugins took beside the one
// that wrote the summary.
func TestWarningsAndCosts(t *testing.T) {
	features.Proves(t, "complaint 12", "complaint 6")
	asked := hooks.Outcome{Plugin: "notes", Hook: abi.HookPreCompact}
	asked.Model = &abi.ModelUsage{Calls: 1, InputTokens: 1000, OutputTokens: 100, Cost: 0.25, Model: "small"}
	var b bytes.Buffer
	Report(Printer{W: &b}, Compaction{Path: "x", Result: &kagewasm.Result{Report: kagewasm.Report{Window: 1,
		Warning: "too many tools\ntoo many bytes", Hooks: []hooks.Outcome{asked}, Cost: kagewasm.Cost{Compactor: 0.75,
			Model: "large", Usage: &abi.ModelUsage{InputTokens: 10, OutputTokens: 2}}}}})
	for _, want := range []string{"too many tools\n", "too many bytes\n", "large: 10 tokens in, 2 out, $0.5000\n",
		"small for notes (pre_compact): 1,000 tokens in, 100 out, $0.2500\n"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("no %q in\n%s", want, b.String())
		}
	}
}
