package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/kagewasm/kagewasm/internal/features"
)

// TestCheck: a run in which all tests of a row were skipped is refused, and one in which they
// passed writes nothing.
func TestCheck(t *testing.T) {
	root := project(t)
	for _, tc := range []struct {
		name, action, want string
	}{
		{"passed", "pass", ""},
		{"skipped", "skip", "K1: no test of it ran and passed"},
		{"not run", "start", "K1: TestAll did not run"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			tests := fmt.Sprintf(`{"Action":%q,"Package":"github.com/kagewasm/kagewasm","Test":"TestAll"}`, tc.action)
			err := run(root, strings.NewReader(tests), t.Output(), true)
			if (err != nil) != (tc.want != "") || err != nil && !strings.Contains(err.Error(), tc.want) {
				t.Errorf("%v, want %q", err, tc.want)
			}
		})
	}
	if _, err := os.Stat(filepath.Join(root, features.File)); err == nil {
		t.Error("a check wrote the table")
	}
}

// project is a folder with one test, which proves every row.
func project(t *testing.T) string {
	t.Helper()
	var ids []string
	for _, r := range features.Rows() {
		ids = append(ids, fmt.Sprintf("%q", r.ID))
	}
	source := "package x\n\nfunc TestAll(t *testing.T) { features.Proves(t, " + strings.Join(ids, ", ") + ") }\n"
	root := t.TempDir()
	if err := os.WriteFile(filepath.Join(root, "x_test.go"), []byte(source), 0o600); err != nil {
		t.Fatal(err)
	}
	return root
}
