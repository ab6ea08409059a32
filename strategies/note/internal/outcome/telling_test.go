package outcome_test

import (
	"strings"
	"testing"
	"time"

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
		{"a test of Go that passed beside one that failed", "=== RUN   TestA\n=== PAUSE TestA\n=== RUN   TestB\n" +
			"=== PAUSE TestB\n=== CONT  TestA\n=== CONT  TestB\n    got: 7\n    want: 7\n=== NAME  TestA\n" +
			"    a_test.go:3: Sum\n    got: 1\n    want: 2\n--- FAIL: TestA (0.00s)\n--- PASS: TestB (0.00s)\nFAIL\n",
			"a_test.go:3: Sum / got: 1 / want: 2", ""},
		{"one that passes before it fails", "=== RUN   TestA\n=== PAUSE TestA\n=== RUN   TestB\n=== PAUSE TestB\n" +
			"=== CONT  TestA\n    a_test.go:3: Sum\n    got: 1\n    want: 2\n=== CONT  TestB\n--- PASS: TestB (0.00s)\n" +
			"--- FAIL: TestA (0.00s)\nFAIL\n",
			"a_test.go:3: Sum / got: 1 / want: 2", ""},
		{"one of the same name that failed elsewhere", "=== RUN   TestA\n    a_test.go:3: Sum\n    got: 1\n    want: 2\n" +
			"--- FAIL: TestA (0.00s)\n=== RUN   TestA\n    got: 7\n    want: 7\n--- PASS: TestA (0.00s)\n",
			"a_test.go:3: Sum / got: 1 / want: 2", ""},
		{"one that passed said the same", "=== RUN   TestA\n    got: 1\n    want: 2\n--- PASS: TestA (0.00s)\n" +
			"=== RUN   TestB\n    got: 1\n    want: 2\n--- FAIL: TestB (0.00s)\n", "got: 1 / want: 2", ""},
		{"one that passed later said the same", "=== RUN   TestA\n=== PAUSE TestA\n=== RUN   TestB\n=== PAUSE TestB\n" +
			"=== CONT  TestA\n    got: 1\n    want: 2\n=== CONT  TestB\n    got: 1\n    want: 2\n" +
			"--- FAIL: TestB (0.00s)\n--- PASS: TestA (0.00s)\n", "got: 1 / want: 2", ""},
		{"cases that wait", "=== RUN   TestA\n=== RUN   TestA/x\n=== PAUSE TestA/x\n    got: 1\n    want: 2\n" +
			"=== CONT  TestA/x\n    got: 3\n    want: 4\n--- PASS: TestA (0.00s)\n    --- PASS: TestA/x (0.00s)\n", "", ""},
		{"how it ended", "Command failed with exit code 1\ngot: 1\nwant: 2\n", "got: 1 / want: 2", ""},
		{"the ends of a long text", "Sum\ngot: 1\nwant: 2\n" + strings.Repeat("some line of a log\n", 1<<12) +
			"Sum\ngot: 5\nwant: 6\n" + strings.Repeat("some line of a log\n", 1<<12) + "Sum\ngot: 3\nwant: 4\n",
			"Sum / got: 1 / want: 2 / Sum / got: 3 / want: 4", ""},
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

// TestTellingIsBounded: a long output takes no longer to read than its ends do.
func TestTellingIsBounded(t *testing.T) {
	features.Proves(t, "N8")
	lines := strings.Split(strings.Repeat("a.go:3:\n", 1<<20), "\n")
	start := time.Now()
	outcome.Telling(lines)
	if took := time.Since(start); took > time.Second {
		t.Errorf("%v", took)
	}
}

// TestReasons: what is told as one line is known by its parts as well, as they stand in the output.
func TestReasons(t *testing.T) {
	features.Proves(t, "N8")
	for _, tc := range []struct{ text, reason, want string }{
		{"Sum is wrong\n  got: 1\n  want: 2\n", "Sum is wrong got: 1 want: 2", "Sum is wrong / got: 1 / want: 2"},
		{"thread 'b' panicked at t.rs:3:21:\nhalf\n", "t.rs:3:21: half", "t.rs:3:21: / half"},
		{"expect(received).toBe(expected)\n\nExpected: 6\nReceived: 5\n", "Expected: 6, Received: 5",
			"Expected: 6 / Received: 5"},
		{"a.go:3: no x\n", "a.go:3: no x", "a.go:3: no x"},
		{"ok\n", "", ""},
	} {
		if got := outcome.Reason(tc.text); got != tc.reason {
			t.Errorf("%q", got)
		}
		if got := strings.Join(outcome.Reasons(tc.text), " / "); got != tc.want {
			t.Errorf("%q, want %q", got, tc.want)
		}
	}
}
