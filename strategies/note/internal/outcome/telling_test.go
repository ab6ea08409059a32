package outcome_test

import (
	"strings"
	"testing"

	"github.com/kagewasm/kagewasm/internal/features"
	"github.com/kagewasm/kagewasm/strategies/note/internal/outcome"
)

// TestTelling: the lines that say what failed are those of the runner, and not the first ones that look like an error.
func TestTelling(t *testing.T) {
	features.Proves(t, "N8", "I10")
	const rust = "running 3 tests\ntest a ... ok\ntest b ... FAILED\n\nfailures:\n\n---- b stdout ----\n\n" +
		"thread 'b' (31) panicked at t.rs:3:21:\nassertion `left == right` failed: adding 2 and 3\n" +
		"  left: -1\n right: 5\nnote: run with `RUST_BACKTRACE=1`\n\n" +
		"test result: FAILED. 1 passed; 1 failed"
	const jest = "PASS a.test.js\nFAIL b.test.js\n  ● adds\n\n" +
		"    expect(received).toBe(expected) // Object.is equality\n" +
		"\n    Expected: 6\n    Received: 5\n\n      at Object.toBe (b.test.js:7:45)\n\nSummary of all failing tests\n" +
		"    expect(received).toBe(expected) // Object.is equality\n\n    Expected: 6\n    Received: 5\n"
	const pytest = "FE\n=== ERRORS ===\nE   fixture 'x' not found\na_test.py:9\n" +
		"E   assert 6 == 7\na_test.py:5: AssertionError\nFAILED a_test.py::test_a - assert 6 == 7\n" +
		"ERROR a_test.py::test_b\n1 failed, 1 error in 0.02s"
	for _, tc := range []struct{ why, text, want, reason string }{
		{"Rust", rust, "thread 'b' (31) panicked at t.rs:3:21: / assertion `left == right` failed: adding 2 and 3 / " +
			"left: -1 / right: 5",
			"t.rs:3:21: assertion `left == right` failed: adding 2 and 3 left: -1 right: 5"},
		{"Jest, once", jest, "expect(received).toBe(expected) // Object.is equality / Expected: 6 / Received: 5",
			"Expected: 6, Received: 5"},
		{"pytest, by its summary", pytest, "FAILED a_test.py::test_a - assert 6 == 7 / ERROR a_test.py::test_b", ""},
		{"nothing", "ok\nall is well\n", "", ""},
	} {
		t.Run(tc.why, func(t *testing.T) {
			lines := strings.Split(tc.text, "\n")
			var got []string
			for _, i := range outcome.Telling(lines) {
				got = append(got, strings.TrimSpace(lines[i]))
			}
			if s := strings.Join(got, " / "); s != tc.want {
				t.Errorf("%q", s)
			}
			if got := outcome.Reason(tc.text); tc.reason != "" && got != tc.reason {
				t.Errorf("reason %q", got)
			}
		})
	}
}
