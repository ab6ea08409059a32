package work

import (
	"strings"
	"testing"
	"time"

	"github.com/kagewasm/kagewasm/internal/features"
	"github.com/kagewasm/kagewasm/strategies/note/internal/action"
)

// TestHits: a search is told with the files and lines where it found something, and with nothing where it found none.
func TestHits(t *testing.T) {
	features.Proves(t, "N13")
	one := &action.Action{Tool: "Grep", Files: []action.File{{Path: "store/lease.go"}}}
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
		{"what stands beside one in a whole path", "/s/x.go:12:take()\n/s/x.go-13-\n/s/x.go-14-}\n", " → x.go:12", nil},
		{"a path that looks like that", "/s/v-1-rc/x.go:12:take()\n/s/v-1-rc/lease\n", " → x.go:12, lease", nil},
		{"many lines", "a/x.go:1:a\na/x.go:2:a\na/x.go:3:a\na/x.go:4:a\na/x.go:5:a\n", " → x.go:1,2,3,…", nil},
		{"many files", "a/a.go:1:a\na/b.go:2:a\na/c.go:3:a\na/d.go:4:a\na/e.go:5:a\n",
			" → a.go:1, b.go:2, c.go:3 and 2 more files", nil},
		{"none", "No matches found\n\n[Showing results with pagination = limit: 3, offset: 0]", " → nothing", nil},
		{"what a command lists", "store/lease.go\nstore/v0.7.9\n", "", &action.Action{Script: "find ."}},
		{"a part of it", "a/x.go:1:a\n\n[Showing results with pagination = limit: 30, offset: 0]", " → x.go:1 and more", nil},
		{"one that was pruned", "a/x.go:1:a\n[Pruned — 1596 tokens]\n", " → x.go:1 and more", nil},
		{"one of which the middle is left out", "a/x.go:1:a\n[... 120 characters left out here: message m1 ...]\n",
			" → x.go:1 and more", nil},
		{"what only speaks of that", "a/x.go:1:// truncated output [3 lines truncated]\n", " → x.go:1", nil},
		{"times of a log", "2026-11-29T20:14:03 started\n2026-11-29T20:15:03 ended\n", "", nil},
		{"a list of ports", "8080: web\n9090: metrics\nlocalhost:8080: up\n", "", one},
		{"what a command shows", "12:take()\n", "", action.OfScript("cat store/lease.go")},
		{"what grep of a command found", "12:take()\n40:take()\n", " → lease.go:12,40",
			action.OfScript("grep -n take store/lease.go | head -5")},
		{"prose", "It says: no such thing, see a/b.go", "", nil},
	} {
		t.Run(tc.why, func(t *testing.T) {
			a := tc.a
			if a == nil {
				a = &action.Action{Tool: "Grep"}
			}
			if got := hits(a, tc.text); got != tc.want {
				t.Errorf("%q, want %q", got, tc.want)
			}
		})
	}
}

// TestLongLinesOfOutput: a line of any length costs no more than its length.
func TestLongLinesOfOutput(t *testing.T) {
	features.Proves(t, "N13")
	const size, times = 1 << 18, 200 // a hundred thousand times as much where it looks at the rest from each byte
	cost := func(line string) time.Duration {
		start := time.Now()
		hits(&action.Action{Tool: "Grep"}, line)
		return time.Since(start)
	}
	plain := max(cost("/"+strings.Repeat("a", size)), time.Millisecond)
	for _, line := range []string{strings.Repeat("1", size), strings.Repeat("-1", size/2), strings.Repeat("-", size)} {
		if took := cost("/a.go" + line); took > times*plain {
			t.Errorf("%.4s...: %s, %s for letters", line, took, plain)
		}
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
	for why, tc := range map[string][2]string{
		"no diff":          {"--- a\n+++ b\n", ""},
		"cut off":          {diff[:strings.Index(diff, "+c")], " → lease.go"},
		"text behind":      {diff[:strings.Index(diff, "diff --git a/x")] + "\n- one\n- two\n", " → lease.go +2 -1"},
		"a name in quotes": {"diff --git \"a/x y.go\" \"b/x y.go\"\n@@ -1 +1 @@\n-a\n+b\n", ""},
		"twice":            {diff + diff, " → lease.go +4 -2, x.png"},
	} {
		if got := differs(tc[0]); got != tc[1] {
			t.Errorf("%s: %q, want %q", why, got, tc[1])
		}
	}
}
