package bpe_test

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/kagewasm/kagewasm/internal/soak"
	"github.com/kagewasm/kagewasm/tokens/internal/reference"
)

// TestWindows: a piece that is encoded a window at a time has the tokens that it has as a whole. The windows are as
// small as they can be, so that cuts matter, and begin again with larger ones.
func TestWindows(t *testing.T) {
	soak.Checks(t, soak.Count(40, 100, 100))
	const size = 192 // a token fits into three quarters of it
	for unit, parts := range map[string][]string{
		"letters": {"a", "b", "e", "in", "ing", "th", "x", "q", "international", "aaaaaaa"},
		"signs":   {"=", "-", "--", "*", "_", "#", "---------", "~", "+"},
		"spaces":  {"\t", " ", "\u00a0", "\u2028"},
	} {
		t.Run(unit, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				some := rapid.SliceOfN(rapid.SampledFrom(parts), 1, 4).Draw(t, "some")
				piece := strings.Join(rapid.SliceOfN(rapid.SampledFrom(some), 200, 600).Draw(t, "parts"), "")
				for name, e := range encodings {
					got, err := e.WindowIDs(t.Context(), piece, size)
					if want := reference.IDs(name, piece); err != nil || !slices.Equal(got, want) {
						t.Fatalf("%s: %q is %d, %v, want %d", name, piece, got, err, want)
					}
				}
			})
		})
	}
}
