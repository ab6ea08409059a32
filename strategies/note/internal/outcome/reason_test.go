package outcome_test

import (
	"strings"
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
		{"a traceback below a warning", "w.py:3: DeprecationWarning: old\nTraceback (most recent call last):\n  File " +
			"\"a.py\", line 3, in f\nKeyError: 'x'", "KeyError: 'x'"},
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
		{"a linter that marks what is wrong", "src/a.ts:205:2 parse ━━━━\n\n  × expected a semicolon, but found none\n\n" +
			"  > 205 │ interface A {\n\nFound 49 errors.\n  × Some errors were emitted.",
			"× expected a semicolon, but found none"},
		{"a compiler of Rust", "error[E0382]: borrow of moved value: `x`\n --> src/main.rs:4:20\nerror: could not compile",
			"error[E0382]: borrow of moved value: `x`"},
		{"tests that a runner marks", "× a.test.ts > adds 3ms\nAssertionError: 2 != 1", "AssertionError: 2 != 1"},
		{"a mark and no words", "× ×", ""},
		{"a test of Maven", "[INFO] Scanning\n[ERROR] Tests run: 4, Failures: 1, Errors: 0\n[ERROR] Failures: \n" +
			"[ERROR]   CartTest.merges:33 expected: <2> but was: <3>\n[INFO] BUILD FAILURE",
			"CartTest.merges:33 expected: <2> but was: <3>"},
		{"what Maven says behind it", "[INFO] Scanning\n[ERROR] To see the full stack trace, re-run with -e.", ""},
		{"nothing", "FAIL", ""},
	} {
		t.Run(tc.why, func(t *testing.T) {
			if got := outcome.Reason(tc.text); got != tc.want {
				t.Errorf("%q, want %q", got, tc.want)
			}
		})
	}
}

// TestFailing: where more than one test failed an output names them, as test runners write it.
func TestFailing(t *testing.T) {
	features.Proves(t, "N13")
	for _, tc := range []struct{ why, text, want string }{
		{"tests of Go",
			"--- FAIL: TestA (0.1s)\n    a_test.go:4: no\n--- FAIL: TestB (0.1s)\n    --- FAIL: TestB/two (0.1s)\nFAIL",
			"these tests failed: TestA, TestB"},
		{"one alone", "--- FAIL: TestB (0.1s)\n    --- FAIL: TestB/one (0.1s)\n    --- FAIL: TestB/two (0.1s)\nFAIL", ""},
		{"one twice", "--- FAIL: TestA (0.1s)\n--- FAIL: TestA (0.2s)", ""},
		{"pytest", "FAILED tests/a_test.py::test_one - AssertionError: 2 != 1\nFAILED tests/a_test.py::test_two\n2 failed",
			"these tests failed: a_test.py::test_one, a_test.py::test_two"},
		{"cargo", "test lease::one ... FAILED\ntest lease::two ... ok\ntest lease::three ... FAILED",
			"these tests failed: lease::one, lease::three"},
		{"unittest", "FAIL: test_one (lease.Test)\n----\nFAIL: test_two (lease.Test)",
			"these tests failed: test_one, test_two"},
		{"jest", "  ✕ holds a lease (3 ms)\n  ✓ ends\n  ✕ renews it", "these tests failed: holds a lease, renews it"},
		{"many", strings.Join(strings.Split("--- FAIL: TestA.--- FAIL: TestB.--- FAIL: TestC.--- FAIL: TestD."+
			"--- FAIL: TestE.--- FAIL: TestF.--- FAIL: TestG.--- FAIL: TestH.--- FAIL: TestI.--- FAIL: TestJ", "."), "\n"),
			"these tests failed: TestA, TestB, TestC, TestD, TestE, TestF, TestG, TestH and 2 more"},
		{"none", "ok  \tkw/store\t0.1s", ""},
	} {
		t.Run(tc.why, func(t *testing.T) {
			if got := outcome.Failing(tc.text); got != tc.want {
				t.Errorf("%q, want %q", got, tc.want)
			}
		})
	}
}
