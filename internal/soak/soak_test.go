package soak_test

import (
	"slices"
	"testing"

	"github.com/kagewasm/kagewasm/internal/soak"
)

func TestAmounts(t *testing.T) {
	items := []int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}
	tests := []struct {
		name, env string
		count     int
		sample    []int
		only      bool
	}{
		{"make test", "", 2, []int{0, 5}, false},
		{"CI", "ci", 4, []int{0, 2, 5, 7}, true},
		{"a soak", "1", 100, items, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Setenv(soak.Variable, tt.env)
			if got := soak.Count(2, 4, 100); got != tt.count {
				t.Errorf("Count: %d, want %d", got, tt.count)
			}
			if got := soak.Sample(items, 2, 4); !slices.Equal(got, tt.sample) {
				t.Errorf("Sample: %v, want %v", got, tt.sample)
			}
			ran := false
			t.Run("only", func(t *testing.T) {
				soak.Only(t, "a test of the amount")
				ran = true
			})
			if ran != tt.only {
				t.Errorf("a long test ran: %v, want %v", ran, tt.only)
			}
		})
	}
}
