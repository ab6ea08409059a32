package devloop

import (
	"context"
	"crypto/sha256"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/fsnotify/fsnotify"
)

// A change is reported once nothing has changed for this long.
const quiet = 100 * time.Millisecond

// watcher tells which files have changed, some time after the last of them did.
// A file that was written and is what it was has not changed.
type watcher struct {
	events  *fsnotify.Watcher
	folders []string // with those below
	wanted  func(path string) bool
	sums    map[string]string // of what is in the files, by path
	// beside are folders of packages elsewhere, each without those below, and
	// more brings new ones.
	beside map[string]bool
	more   chan []string
}

// watch watches the folders and those below, but for hidden ones and those that
// tools fill, and files in other folders.
func watch(folders, files []string, wanted func(path string) bool) (*watcher, error) {
	events, err := fsnotify.NewWatcher()
	if err != nil {
		return nil, err
	}
	w := &watcher{events: events, folders: folders, wanted: wanted, sums: make(map[string]string),
		beside: make(map[string]bool), more: make(chan []string)}
	for _, dir := range folders {
		err = errors.Join(err, w.add(dir, func(path string) { w.changed(path) }))
	}
	for _, path := range files {
		err = errors.Join(err, events.Add(filepath.Dir(path))) // editors put a new file in its place
		w.changed(path)
	}
	if err != nil {
		return nil, errors.Join(err, events.Close())
	}
	return w, nil
}

// add watches a folder, and visits the files in it that are wanted.
func (w *watcher) add(root string, visit func(path string)) error {
	return filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		switch {
		case errors.Is(err, fs.ErrNotExist) && path != root:
			return nil // gone meanwhile
		case err != nil:
			return err
		case d.IsDir() && path != root && ignored(path):
			return fs.SkipDir
		case d.IsDir():
			return w.events.Add(path)
		case w.wanted(path):
			visit(path)
		}
		return nil
	})
}

// follow watches the files in folders of packages, from now on.
func (w *watcher) follow(folders []string) {
	for _, dir := range folders {
		if w.beside[dir] || w.events.Add(dir) != nil {
			continue // one that is gone does not build either
		}
		w.beside[dir] = true
		files, _ := os.ReadDir(dir)
		for _, f := range files {
			if path := filepath.Join(dir, f.Name()); w.relevant(path) {
				w.changed(path)
			}
		}
	}
}

// relevant reports whether a change of the file is one.
func (w *watcher) relevant(path string) bool {
	return w.wanted(path) || w.beside[filepath.Dir(path)] && !ignored(path) && !strings.HasSuffix(path, "_test.go")
}

// changed reports whether a file is not what it was when this was asked last.
func (w *watcher) changed(path string) bool {
	now := contents(path)
	if w.sums[path] == now {
		return false
	}
	w.sums[path] = now
	return true
}

// contents stands for what is in a file; empty where there is none.
func contents(path string) string {
	f, err := os.Open(path)
	if err != nil {
		return ""
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return ""
	}
	return string(h.Sum(nil))
}

// run sends what changed, sorted, until ctx ends. Who receives late is sent all
// that changed meanwhile at once.
func (w *watcher) run(ctx context.Context, out chan<- []string) {
	defer w.events.Close()
	touched := make(map[string]bool)
	var pending []string
	var send chan<- []string
	timer := time.NewTimer(time.Hour)
	timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case e := <-w.events.Events:
			if w.touch(e, touched) {
				timer.Reset(quiet)
			}
		case <-w.events.Errors: // events were lost: anything may have changed
			w.rescan(touched)
			timer.Reset(quiet)
		case <-timer.C:
			for path := range touched {
				if w.changed(path) && !slices.Contains(pending, path) {
					pending = append(pending, path)
				}
			}
			clear(touched)
			if len(pending) > 0 {
				slices.Sort(pending)
				send = out
			}
		case folders := <-w.more:
			w.follow(folders)
		case send <- pending:
			pending, send = nil, nil
		}
	}
}

// touch notes the files that an event may be about, and reports whether there
// are any. New folders are watched from here on.
func (w *watcher) touch(e fsnotify.Event, touched map[string]bool) bool {
	before := len(touched)
	switch info, err := os.Stat(e.Name); {
	case e.Op == fsnotify.Chmod:
		return false
	case err == nil && info.IsDir():
		holds := func(folder string) bool { return inside(folder, e.Name) }
		if !ignored(e.Name) && slices.ContainsFunc(w.folders, holds) {
			w.visit(e.Name, touched)
		}
	case w.relevant(e.Name):
		touched[e.Name] = true
		return true
	default: // perhaps a folder that is gone
		for path := range w.sums {
			if inside(e.Name, path) {
				touched[path] = true
			}
		}
	}
	return len(touched) > before
}

// rescan takes every file for touched.
func (w *watcher) rescan(touched map[string]bool) {
	for path := range w.sums {
		touched[path] = true
	}
	for _, dir := range w.folders {
		w.visit(dir, touched)
	}
}

func (w *watcher) visit(dir string, touched map[string]bool) {
	// A folder that is gone again has nothing to tell.
	_ = w.add(dir, func(path string) { touched[path] = true })
}

// toolFolders are those that version control, package managers and compilers
// fill.
var toolFolders = []string{"node_modules", "target", "build", "dist", "zig-out", "zig-cache", "__pycache__", "vendor"}

// ignored reports whether a file or folder is none of the author's: hidden, a
// tool's, an editor's own, or what a build writes.
func ignored(path string) bool {
	name := filepath.Base(path)
	switch {
	case strings.HasPrefix(name, "."), slices.Contains(toolFolders, name):
		return true
	case strings.HasSuffix(name, "~"), strings.HasPrefix(name, "#") && strings.HasSuffix(name, "#"):
		return true // backups of many editors; Emacs, while it edits
	case name == "4913": // Vim, to see whether it can write here
		return true
	}
	return slices.Contains([]string{".wasm", ".swp", ".swx", ".tmp", ".bak", ".orig"}, filepath.Ext(name))
}
