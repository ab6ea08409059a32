package cost_test

import (
	"fmt"
	"testing"

	"github.com/kagewasm/kagewasm/internal/cost"
)

// recorder hears of errors.
type recorder struct {
	testing.TB
	errors []string
}

func (r *recorder) Helper() {}

func (r *recorder) Errorf(format string, args ...any) {
	r.errors = append(r.errors, fmt.Sprintf(format, args...))
}

var sink int

func steps(n int) {
	for i := range n {
		sink += i
	}
}

// TestAtMost: what takes far more than it may is found out, and what takes less passes.
func TestAtMost(t *testing.T) {
	for _, tc := range []struct {
		name  string
		steps int
		found int
	}{
		{"ten times", 3_000_000, 0},
		{"five hundred times", 150_000_000, 1},
	} {
		t.Run(tc.name, func(t *testing.T) {
			heard := &recorder{TB: t}
			cost.AtMost(heard, 40, func() { steps(300_000) }, func() { steps(tc.steps) })
			if len(heard.errors) != tc.found {
				t.Errorf("%q", heard.errors)
			}
		})
	}
}
