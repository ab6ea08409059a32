package hostile_test

import (
	"strings"
	"testing"
	"unicode"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/features"
	"github.com/kagewasm/kagewasm/runtime"
)

// what a guest says is bounded and safe to show, whatever it is.
func TestHostileOutput(t *testing.T) {
	features.Proves(t, "N1")
	s := newSandbox(t, runtime.Options{})
	for _, g := range some(Output(), 12) {
		t.Run(g.Name, func(t *testing.T) {
			stats, _ := s.try(t, g, abi.Limits{})
			for _, l := range stats.Logs {
				if strings.ContainsFunc(l.Message, unicode.IsControl) {
					t.Errorf("a log line with control characters: %q", l.Message)
				}
			}
		})
	}
}

// an answer costs its host no more than the call may cost, whatever it asks for.
func TestHostileAnswers(t *testing.T) {
	features.Proves(t, "N1")
	newSandbox(t, runtime.Options{}).tryAll(t, some(Answers(), 10), abi.Limits{MemoryMB: 16})
}
