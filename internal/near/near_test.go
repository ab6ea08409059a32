package near_test

import (
	"slices"
	"testing"

	"github.com/kagewasm/kagewasm/internal/near"
)

func TestTo(t *testing.T) {
	known := []string{"window", "width", "wind", "overhead", "gpt-5", "o1", "compaction.agent",
		"compaction.upper_threshold"}
	for _, c := range []struct {
		what, name string
		n          int
		want       []string
	}{
		{"a letter that is missing", "windw", 1, []string{"wind"}},
		{"two are as near, in the order of the alphabet", "windw", 2, []string{"wind", "window"}},
		{"letters swapped, in another case", "OVREHEAD", 3, []string{"overhead"}},
		{"short names that share less than half", "foo", 3, nil},
		{"nothing is near", "zzzzzz", 3, nil},
		{"the beginning of one", "overh", 3, []string{"overhead"}},
		{"a slip in the beginning of one", "compaction.uper", 1, []string{"compaction.upper_threshold"}},
		{"what is shared does not count", "compaction.zzzzz", 3, nil},
	} {
		t.Run(c.what, func(t *testing.T) {
			if got := near.To(c.name, known, c.n); !slices.Equal(got, c.want) {
				t.Errorf("To(%q) = %q, want %q", c.name, got, c.want)
			}
		})
	}
}
