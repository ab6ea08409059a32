package toolcall_test

import (
	"testing"

	"github.com/kagewasm/kagewasm/internal/toolcall"
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
		t.Run(line, func(t *testing.T) {
			if got := toolcall.IsFailure(line); got != want {
				t.Errorf("%v, want %v", got, want)
			}
			if want && !toolcall.MayFail(line) {
				t.Errorf("%q is a failure, and the quick look passes over it", line)
			}
		})
	}
}
