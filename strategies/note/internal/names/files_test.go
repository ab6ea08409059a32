package names_test

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/features"
)

// TestLinesOfFolders: paths stand below the folder that makes their list shortest, each with its last folder at least.
func TestLinesOfFolders(t *testing.T) {
	features.Proves(t, "N8")
	for _, tc := range []struct{ why, said, want string }{
		{"one is written whole", "packages/agent/src/main.go", "- packages/agent/src/main.go"},
		{"two of one folder", "packages/agent/src/main.go packages/agent/src/view.go",
			"- packages/agent/: src/main.go src/view.go"},
		{"a few of folders below it", "packages/agent/src/main.go packages/agent/ui/view.go packages/agent/ui/key/map.go",
			"- packages/agent/: ui/view.go ui/key/map.go src/main.go"},
		{"many of a folder below it have a line", "packages/agent/src/main.go packages/agent/src/view.go " +
			"packages/agent/src/components/forms/a1.go packages/agent/src/components/forms/b2.go " +
			"packages/agent/src/components/forms/c3.go packages/agent/src/components/forms/d4.go",
			"- packages/agent/: src/main.go src/view.go\n" +
				"- packages/agent/src/components/: forms/a1.go forms/b2.go forms/c3.go forms/d4.go"},
		{"a line that saves nothing is none", "abc/de/view.go abc/fg/main.go", "- abc/de/view.go abc/fg/main.go"},
		{"a short folder is no line for two", "a/b/c.go a/b/d.go", "- a/b/c.go a/b/d.go"},
	} {
		t.Run(tc.why, func(t *testing.T) {
			text := build([]abi.Message{said(tc.said)}).Render(1000, byRune)
			_, list, _ := strings.Cut(text, "Paths mentioned:\n")
			if list != tc.want {
				t.Errorf("%s\nwant\n%s", list, tc.want)
			}
		})
	}
}

// TestLinesOfFoldersProperty: whatever lies where, no list is longer than its paths one after the other, and all of
// them can be read in it.
func TestLinesOfFoldersProperty(t *testing.T) {
	features.Proves(t, "N8")
	part := rapid.SampledFrom([]string{"a", "bc", "src", "internal", "components"})
	path := rapid.Custom(func(t *rapid.T) string {
		folders := rapid.SliceOfN(part, 2, 6).Draw(t, "folders")
		return strings.Join(folders, "/") + "/" + rapid.StringMatching(`[a-z]{6}`).Draw(t, "file") + ".go"
	})
	rapid.Check(t, func(t *rapid.T) {
		paths := rapid.SliceOfNDistinct(path, 1, 30, func(p string) string { return p[strings.LastIndexByte(p, '/'):] }).
			Draw(t, "paths")
		text := build([]abi.Message{said(strings.Join(paths, " "))}).Render(100_000, byRune)
		_, list, _ := strings.Cut(text, "Paths mentioned:\n")
		if whole := "- " + strings.Join(paths, " "); len(list) > len(whole) {
			t.Fatalf("%d bytes, %d as they are:\n%s", len(list), len(whole), list)
		}
		got := strings.Fields(lines(text)["Paths mentioned"])
		slices.Sort(got)
		slices.Sort(paths)
		if !slices.Equal(got, paths) {
			t.Fatalf("%v, want %v:\n%s", got, paths, list)
		}
	})
}

// TestFilesWithBlanks: files with blanks and brackets in their paths, and those of hidden folders, are listed whole, in
// a chain of compactions too. A path of which the folders above are left out is no file of the working directory, and
// is one with the file that ends so.
func TestFilesWithBlanks(t *testing.T) {
	files := []string{"/srv/kw/.github/workflows/ci.yml", "/srv/kw/.github/workflows/lint.yml",
		"/srv/kw/app/My Files/[id]/page.tsx", "/srv/kw/internal/store/lease.go"}
	var msgs []abi.Message
	for _, f := range files {
		msgs = append(msgs, called("Edit", "file_path", f, "ok", false)...)
	}
	msgs = append(msgs, said("It is ../store/lease.go and .../internal/store/lease.go, which is internal/store/lease.go, "+
		"not ../lib/queue_x.go."))
	for round := range 4 {
		l := build(msgs)
		modified := l.Files().Modified
		if !slices.Equal(modified, files) {
			t.Errorf("round %d: %q", round, modified)
		}
		text := l.Render(1000, byRune)
		if !strings.Contains(text, `app/My\ Files/[id]/page.tsx`) || strings.Contains(text, "store/lease.go ../") ||
			strings.Count(text, "lease.go") != 1 || !strings.HasSuffix(text, "\n- ../lib/queue_x.go") {
			t.Errorf("round %d:\n%s", round, text)
		}
		msgs = []abi.Message{summary(text)}
	}
}
