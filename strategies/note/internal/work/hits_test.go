package work

import (
	"testing"

	"github.com/kagewasm/kagewasm/internal/features"
	"github.com/kagewasm/kagewasm/strategies/note/internal/action"
)

// TestHits: a search is told with the files and lines where it found something, and with nothing where it found none.
func TestHits(t *testing.T) {
	features.Proves(t, "N13")
	one := &action.Action{Files: []action.File{{Path: "store/lease.go"}}}
	for _, tc := range []struct {
		why, text, want string
		a               *action.Action
	}{
		{"lines of files", "store/lease.go:12:take()\nmain.go:7:take()\nstore/lease.go:40:take()\n",
			" → lease.go:12,40, main.go:7", nil},
		{"lines of the file that was searched", "12:take()\n40:take()\n", " → lease.go:12,40", one},
		{"lines of a file that is not known", "12:take()\n", "", nil},
		{"files alone", "Found 2 files\nstore/lease.go\nstore/ring.go", " → lease.go, ring.go", nil},
		{"what stands beside a hit", "a/x.go-11-\na/x.go:12:take()\na/x.go-13-}\n--\n", " → x.go:12", nil},
		{"many lines", "a/x.go:1:a\na/x.go:2:a\na/x.go:3:a\na/x.go:4:a\na/x.go:5:a\n", " → x.go:1,2,3,…", nil},
		{"many files", "a/a.go:1:a\na/b.go:2:a\na/c.go:3:a\na/d.go:4:a\na/e.go:5:a\n",
			" → a.go:1, b.go:2, c.go:3 and 2 more", nil},
		{"none", "No matches found\n\n[Showing results with pagination = limit: 3, offset: 0]", " → nothing", nil},
		{"what a command lists", "store/lease.go\nstore/v0.7.9\n", "", &action.Action{Script: "find ."}},
		{"prose", "It says: no such thing, see a/b.go", "", nil},
	} {
		t.Run(tc.why, func(t *testing.T) {
			a := tc.a
			if a == nil {
				a = &action.Action{}
			}
			if got := hits(a, tc.text); got != tc.want {
				t.Errorf("%q, want %q", got, tc.want)
			}
		})
	}
}

// TestDiffers: a diff is told by its files, with how many lines came and went in each.
func TestDiffers(t *testing.T) {
	features.Proves(t, "N13")
	const diff = "diff --git a/store/lease.go b/store/lease.go\nindex 1..2 100644\n--- a/store/lease.go\n" +
		"+++ b/store/lease.go\n@@ -1,2 +1,3 @@\n a\n-b\n+c\n+++d\ndiff --git a/x.png b/x.png\nBinary files differ\n"
	if got, want := differs(diff), " → lease.go +2 -1, x.png"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if got := differs("--- a\n+++ b\n"); got != "" {
		t.Errorf("%q of no diff", got)
	}
}
