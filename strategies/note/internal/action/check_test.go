package action_test

import (
	"testing"

	"github.com/kagewasm/kagewasm/strategies/note/internal/action"
)

// TestUnsettled: checks that failed are settled by those that look at the same, or at more, in the same way.
func TestUnsettled(t *testing.T) {
	for _, tc := range []struct {
		why, failed, passed string
		settled             bool
	}{
		{"the same", "go test ./store", "go test ./store", true},
		{"in other words", "go test ./store",
			"cd /srv/kw && CI=1 timeout 60 go test -v -count=1 ./store/ 2>&1 | tail -5", true},
		{"tests that are only built", "go test -tags e2e -c ./store", "go test -tags e2e -run TestLease ./store", true},
		{"tests with other tags", "go test -tags e2e -c ./store", "go test ./store", false},
		{"building them says nothing of them", "go test ./store", "go test -c ./store", false},
		{"in a list", "go test ./...", "make lint && go test ./...", true},
		{"a list one after the other is not yet", "make lint && go test ./...", "go test ./...", false},
		{"one of two targets", "make lint", "make fmt lint", true},
		{"make alone is not all of its targets", "make lint", "make", false},
		{"all packages", "go test ./store -run TestLease", "go test ./...", true},
		{"a folder of packages", "go test ./store/lease", "go test ./store/...", true},
		{"a package is not those below it", "go test ./store/lease", "go test ./store", false},
		{"another package", "go test ./store", "go test ./docs", false},
		{"fewer packages", "go test ./store ./docs", "go test ./store", false},
		{"fewer tests", "go test ./store", "go test ./store -run TestLease", false},
		{"tests by the beginning of their names",
			"go test ./store -run TestLease_Expires", "go test ./store -run=TestLease", true},
		{"by a pattern, of which it is not known",
			"go test ./store -run TestLeaseA", "go test ./store -run 'TestLease$'", false},
		{"the short ones", "go test ./store", "go test -short ./store", false},
		{"as often", "go test -count=5 ./store", "go test -count=3 ./store", true},
		{"not as often", "go test -count=20 ./store", "go test ./store", false},
		{"without looking for races", "go test -race ./...", "go test ./...", false},
		{"with looking for races", "go test ./store", "go test -race ./...", true},
		{"with other tags", "go test -tags integration ./...", "go test ./...", false},
		{"with the same tags", "go test -tags=integration ./a", "go test -tags integration ./...", true},
		{"for another system", "GOOS=windows go vet ./...", "go vet ./...", false},
		{"in another folder", "cd web && npm test", "cd api && npm test", false},
		{"another task", "npm run test", "npm run test:unit", false},
		{"a file of it", "npx vitest run a.test.ts", "npx vitest run", true},
		{"a test of a file", "pytest tests/test_a.py::test_b -q", "pytest tests", true},
		{"another file", "pytest tests/test_a.py", "pytest tests/test_b.py", false},
		{"by what a marker holds", "pytest tests", "pytest tests -m slow", false},
	} {
		t.Run(tc.why, func(t *testing.T) {
			failed, passed := action.ReadChecks(tc.failed), action.ReadChecks(tc.passed)
			if len(failed) == 0 || len(passed) == 0 {
				t.Fatal("no checks")
			}
			if got := len(action.Unsettled(failed, passed)) == 0; got != tc.settled {
				t.Errorf("%q is settled by %q: %v", tc.failed, tc.passed, got)
			}
		})
	}
}
