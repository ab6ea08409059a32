package devloop

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/kagewasm/kagewasm/internal/survey"
)

// resolved is the path without links, absolute.
func resolved(path string) string {
	if p, err := filepath.EvalSymlinks(path); err == nil {
		path = p
	}
	if p, err := filepath.Abs(path); err == nil {
		path = p
	}
	return path
}

// watched are the folders to watch with those below, and the files to watch
// elsewhere.
func (l *loop) watched() (folders, files []string) {
	folders = []string{l.dir}
	if len(l.opts.Sessions) == 0 {
		return folders, nil // the plugin's own
	}
	for _, path := range l.sources {
		if info, err := os.Stat(path); err == nil && info.IsDir() {
			folders = append(folders, path)
		} else {
			files = append(files, path)
		}
	}
	return folders, files
}

// wanted reports whether a change of the file makes a round.
func (l *loop) wanted(path string) bool {
	switch {
	case ignored(path):
		return false
	case l.isSession(path):
		return true
	case !inside(l.dir, path):
		return false
	}
	folder := filepath.Dir(below(l.dir, path))
	return !slices.ContainsFunc(strings.Split(folder, string(filepath.Separator)), func(name string) bool {
		return name != "." && ignored(name)
	})
}

// isSession reports whether a file is of the sessions and not of the plugin:
// nothing has to be built for it.
func (l *loop) isSession(path string) bool {
	return slices.ContainsFunc(l.sources, func(root string) bool {
		return path == root || survey.IsSessionFile(path) && inside(root, path)
	})
}

// inside reports whether a file lies in a folder or below.
func inside(dir, path string) bool { return below(dir, path) != "" }

// below is the path from a folder to a file in it; empty where it is not.
func below(dir, path string) string {
	rel, err := filepath.Rel(dir, path)
	if err != nil || !filepath.IsLocal(rel) {
		return ""
	}
	return rel
}

// shown are paths as they are told: those of the plugin from its folder on.
func (l *loop) shown(paths []string) []string {
	list := slices.Clone(paths)
	for i, path := range list {
		if rel := below(l.dir, path); rel != "" {
			list[i] = filepath.ToSlash(rel)
		}
	}
	return list
}
