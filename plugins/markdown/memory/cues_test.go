package memory

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// TestCues: a cue is found in a text wherever it stands, a word between spaces and a run anywhere, and nothing else.
func TestCues(t *testing.T) {
	for name := range cueLists {
		words, runs := cueLists[name], cueLists[name+" unspaced"]
		if strings.HasSuffix(name, " unspaced") || len(words) == 0 {
			continue
		}
		cues := newCues(name)
		parts := slices.Concat(words, runs, []string{"x", "ein", "的", "문", "ไ", "é", "\xff", "1", " "})
		rapid.Check(t, func(t *rapid.T) {
			text := strings.Join(rapid.SliceOfN(rapid.SampledFrom(parts), 0, 6).Draw(t, "parts"),
				rapid.SampledFrom([]string{"", " "}).Draw(t, "between"))
			for _, text := range []string{text, " " + text + " ", normalize(text)} {
				holds := func(list []string, around string) bool {
					return slices.ContainsFunc(list, func(s string) bool { return strings.Contains(text, around+s+around) })
				}
				if got, want := cues.in(text), holds(words, " ") || holds(runs, ""); got != want {
					t.Errorf("%s: %q holds a cue: %v, want %v", name, text, got, want)
				}
			}
		})
	}
}
