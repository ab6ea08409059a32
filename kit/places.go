package kit

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// withPlaces puts before an error the file and line where the source first names
// each of the words. Linkers and hosts know functions alone.
func withPlaces(said, dir string, words []string, extensions ...string) string {
	var places []string
	for _, word := range words {
		if place := placeOf(dir, word, extensions); place != "" {
			places = append(places, place+": "+word)
		}
	}
	return strings.Join(append(places, said), "\n")
}

// placeOf is FILE:LINE of the first line that names a word, below a folder and not
// in what a package manager put there. It is empty where there is none.
func placeOf(dir, word string, extensions []string) (place string) {
	named := regexp.MustCompile(`(^|[^\w.])` + regexp.QuoteMeta(word) + `($|\W)`)
	_ = fs.WalkDir(os.DirFS(dir), ".", func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && d.Name() == "node_modules":
			return fs.SkipDir
		case d.IsDir() || !slices.Contains(extensions, filepath.Ext(path)):
			return nil
		}
		data, err := os.ReadFile(filepath.Join(dir, path))
		if i := slices.IndexFunc(strings.Split(codeAlone(string(data)), "\n"), named.MatchString); i >= 0 {
			place = fmt.Sprintf("%s:%d", path, i+1)
			return fs.SkipAll
		}
		return err
	})
	return place
}

// codeAlone is a source in C or TypeScript without its comments and what stands in
// quotes. Lines stay where they are.
func codeAlone(source string) string {
	return notCode.ReplaceAllStringFunc(source, func(s string) string {
		return strings.Repeat("\n", strings.Count(s, "\n"))
	})
}

var notCode = regexp.MustCompile("//[^\n]*|(?s:/\\*.*?\\*/)|`(?s:[^`\\\\]|\\\\.)*`" +
	`|"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'`)
