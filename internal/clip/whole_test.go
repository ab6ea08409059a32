package clip_test

import (
	"testing"

	"github.com/kagewasm/kagewasm/internal/clip"
)

func TestWhole(t *testing.T) {
	for name, tc := range map[string]struct {
		text string
		n    int
		want string
	}{
		"what fits stays":           {"run_at 1773489600000", 20, "run_at 1773489600000"},
		"a number is not cut":       {"run_at 1773489600000, due", 12, "run_at 1773489600000, …"},
		"nothing but space is left": {"run_at 17734896 \n", 12, "run_at 17734896"},
		"at the end of a word":      {"run_at is due", 6, "run_at …"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := clip.Whole(tc.text, tc.n); got != tc.want {
				t.Errorf("%q, want %q", got, tc.want)
			}
		})
	}
}
