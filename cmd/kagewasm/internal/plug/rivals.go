package plug

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// naming are the files at or below paths that name what a compaction hooks into, and are not ours. What cannot be read
// names nothing.
func naming(what string, paths ...string) (files []string) {
	for _, root := range paths {
		_ = filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
			switch {
			case err != nil:
				return nil
			case d.IsDir() && (d.Name() == "node_modules" || d.Name() == "kagewasm"):
				return fs.SkipDir
			case d.IsDir(), strings.HasPrefix(d.Name(), "kagewasm."):
				return nil
			}
			if data, err := os.ReadFile(path); err == nil && bytes.Contains(data, []byte(what)) {
				files = append(files, path)
			}
			return nil
		})
	}
	return files
}
