package names_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/kagewasm/kagewasm/strategies/note/internal/names"
)

// TestWordMetBefore: what a word names is what it names alone, whatever words stood before it, in quotes and without.
func TestWordMetBefore(t *testing.T) {
	lines := []string{"`Change-Id`", "Change-Id", "a/b", "`a/b`", "lease.Store", "lease.Store", "x.go:12", "HAT136", "a/b"}
	var alone []string
	for _, l := range lines {
		alone = append(alone, names.ScanAll(l, false)...)
	}
	if got := names.ScanAll(strings.Join(lines, "\n"), false); !slices.Equal(got, alone) {
		t.Errorf("together they name %q, want %q", got, alone)
	}
}
