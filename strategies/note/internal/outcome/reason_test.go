package outcome_test

import (
	"testing"

	"github.com/kagewasm/kagewasm/internal/features"
	"github.com/kagewasm/kagewasm/strategies/note/internal/outcome"
)

// TestReason: the line that says why, of compilers, test runners and linters.
func TestReason(t *testing.T) {
	features.Proves(t, "I4", "I10")
	for _, tc := range []struct{ why, text, want string }{
		{"a test of Go", "=== RUN   TestA\n    a_test.go:40: got 2, want 1\n--- FAIL: TestA (0.1s)",
			"a_test.go:40: got 2, want 1"},
		{"a compiler", "# kw/store\n./lease.go:12:3: undefined: lock", "./lease.go:12:3: undefined: lock"},
		{"pytest", "    def test():\nE       AssertionError: 2 != 1\n1 failed", "AssertionError: 2 != 1"},
		{"a traceback", "Traceback (most recent call last):\n  File \"a.py\", line 3, in f\nKeyError: 'x'", "KeyError: 'x'"},
		{"the last of several errors", "ValueError: a\nDuring handling another\nTypeError: b", "TypeError: b"},
		{"a linter", "ERRORS:\n- E999 SyntaxError: unmatched ')'", "- E999 SyntaxError: unmatched ')'"},
		{"a log beside a test", "hooks.go:196: 2026/01/31 INFO saved\n    overlap_test.go:63: Expected 2 points, " +
			"got 1\n--- FAIL: TestA",
			"overlap_test.go:63: Expected 2 points, got 1"},
		{"what the code says before the test does", "hooks.go:19: saved it\n    a_test.go:63: got 1, want 2",
			"a_test.go:63: got 1, want 2"},
		{"what a test logs before it fails",
			"--- FAIL: TestA (0.1s)\n    a_test.go:49: Initial HEAD\n    a_test.go:201: should be deleted\nFAIL",
			"a_test.go:201: should be deleted"},
		{"what a test logs behind it", "--- FAIL: TestA (0.1s)\n    a_test.go:4: begun\n    a_test.go:9: got 1, want 2\n" +
			"    a_test.go:12: in all: 20\nFAIL", "a_test.go:9: got 1, want 2"},
		{"what a test logs of what it is about", "--- FAIL: TestA (0.1s)\n    a_test.go:4: it should hold 5 lines\n" +
			"    a_test.go:9: got 1, want 2\nFAIL", "a_test.go:9: got 1, want 2"},
		{"the end of another test", "    a_test.go:351: got 1\n--- FAIL: TestB (0.1s)\n    b_test.go:12: not found\nFAIL",
			"b_test.go:12: not found"},
		{"a test that passed", "=== RUN   TestA\n    a_test.go:4: begun\n--- PASS: TestA\n=== RUN   TestB\n    " +
			"b_test.go:5: x\n" +
			"    b_test.go:9: got 1\n--- FAIL: TestB", "b_test.go:9: got 1"},
		{"a log alone", "hooks.go:196: level=info saved", ""},
		{"a frame of a stack", "panic: x\nmain.go:12 +0x1b", ""},
		{"a time", "2026/01/23 17:58:54 INFO saved", ""},
		{"a sentence about errors", "The last Error: it was handled", ""},
		{"nothing", "FAIL", ""},
	} {
		t.Run(tc.why, func(t *testing.T) {
			if got := outcome.Reason(tc.text); got != tc.want {
				t.Errorf("%q, want %q", got, tc.want)
			}
		})
	}
}
