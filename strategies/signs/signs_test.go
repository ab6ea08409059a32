package signs_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/kagewasm/kagewasm/strategies/signs"
)

func TestIsFailure(t *testing.T) {
	for line, want := range map[string]bool{
		"--- FAIL: TestX (0.01s)":                     true,
		"FAIL\tparcel/internal/store\t0.2s":           true,
		"panic: runtime error: index out of range":    true,
		"TypeError: x is not a function":              true,
		"store.go:12: error: undefined: Lease":        true,
		"bash: gof: command not found":                true,
		"cat: a.txt: No such file or directory":       true,
		"exit code 1":                                 true,
		"exit status 0":                               false,
		"ok  \tparcel/internal/store\t0.2s":           false,
		"we handle every failure in internal/worker":  false,
		"the store returns an error where it is full": false,
		"": false,
	} {
		if got := signs.IsFailure(line); got != want {
			t.Errorf("%q: %v, want %v", line, got, want)
		}
		if want && !signs.MayFail(line) {
			t.Errorf("%q is a failure, and the quick look passes over it", line)
		}
	}
}

func TestEnds(t *testing.T) {
	if s := "short"; signs.Ends(s) != s {
		t.Error("a short text is whole")
	}
	long := "first " + strings.Repeat("ü", 10_000) + " last"
	got := signs.Ends(long)
	if !strings.HasPrefix(got, "first") || !strings.HasSuffix(got, "last") || len(got) > 4100 || !utf8.ValidString(got) {
		t.Errorf("%d bytes, valid %v", len(got), utf8.ValidString(got))
	}
}
