// Package soak says how much of a long test runs. There are three amounts:
// `make test` runs what fits into seconds, CI (KAGEWASM_SOAK=ci) runs every
// test with reduced counts, and `make soak` (KAGEWASM_SOAK=1) runs all of it.
//
// A test with counts takes them from [Count]. A test of which no smaller form
// would prove anything begins with [Only].
package soak

import (
	"flag"
	"os"
	"strconv"
	"testing"
)

// Variable is the environment variable that asks for more than `make test`
// runs: "ci" or "1".
const Variable = "KAGEWASM_SOAK"

// Count returns how many cases a test runs: quick by itself, ci in CI, and full
// in a soak.
func Count(quick, ci, full int) int {
	switch os.Getenv(Variable) {
	case "":
		return quick
	case "ci":
		return ci
	}
	return full
}

// Only skips a test in `make test`, with the reason: what takes so long.
func Only(tb testing.TB, reason string) {
	tb.Helper()
	if os.Getenv(Variable) == "" {
		tb.Skipf("%s: runs in CI and in make soak (%s=ci or 1)", reason, Variable)
	}
}

// Checks makes each property of the test be checked that many times: rapid takes the number
// from a flag.
func Checks(t *testing.T, n int) {
	t.Helper()
	checks := flag.Lookup("rapid.checks").Value
	before := checks.String()
	t.Cleanup(func() { _ = checks.Set(before) }) // which it was
	if err := checks.Set(strconv.Itoa(n)); err != nil {
		t.Fatal(err)
	}
}

// Sample returns every nth of the items such that at most Count(quick, ci,
// len(items)) are left, the same ones each time.
func Sample[T any](items []T, quick, ci int) []T {
	n := Count(quick, ci, len(items))
	if n >= len(items) {
		return items
	}
	few := make([]T, n)
	for i := range few {
		few[i] = items[i*len(items)/n]
	}
	return few
}
