// Package atomicfile writes files whole or not at all.
//
// [Write] is for a folder that nothing may lead out of, [WriteFile] for a path. In
// both a new file is written beside, synced, and given the name: a reader sees the
// old file or the new one, also where the machine stops in between. The new file is
// made exclusively, under a name that nobody can guess, and never through a link;
// it is removed where something fails. [Sweep] removes what a writer left that was
// killed.
//
// Libraries for this work on paths, and follow what lies there. None of them works
// below an os.Root.
package atomicfile

import (
	"crypto/rand"
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"time"
)

// prefix begins the names of files that are being written.
const prefix = ".tmp-"

// stale is after how long such a file is a dead writer's.
const stale = time.Hour

// attempts is how often a folder is made that somebody else keeps removing.
const attempts = 8

// Write puts data into the file name below root, of mode perm less what the umask
// takes. What stands there is replaced, a link itself and not what it leads to.
// Folders on the way are made, for their owner alone.
func Write(root *os.Root, name string, data []byte, perm fs.FileMode) error {
	temp := prefix + rand.Text()
	err := create(root, temp, data, perm)
	if err == nil {
		err = place(root, temp, name)
	}
	if err != nil {
		_ = root.Remove(temp) // the first error says more
	}
	return err
}

// WriteFile is [Write] for a path. Its folder must be there.
func WriteFile(path string, data []byte, perm fs.FileMode) error {
	root, err := os.OpenRoot(filepath.Dir(path))
	if err != nil {
		return err
	}
	defer root.Close()
	return Write(root, filepath.Base(path), data, perm)
}

func create(root *os.Root, temp string, data []byte, perm fs.FileMode) error {
	f, err := root.OpenFile(temp, os.O_CREATE|os.O_EXCL|os.O_WRONLY, perm)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	return errors.Join(err, f.Sync(), f.Close())
}

// place renames temp to name. The folder may be removed at any time, by whoever
// deletes the last file in it, so it is made again a few times.
func place(root *os.Root, temp, name string) (err error) {
	folder := path.Dir(filepath.ToSlash(name))
	for range attempts {
		err = root.Rename(temp, name)
		if !errors.Is(err, fs.ErrNotExist) {
			break
		}
		if err = root.MkdirAll(folder, 0o700); err != nil {
			return err
		}
		for up := folder; up != "."; up = path.Dir(up) {
			SyncFolder(root, path.Dir(up))
		}
	}
	if err == nil {
		SyncFolder(root, folder)
	}
	return err
}

// SyncFolder puts a folder's entries on the disk, where the system can: after a
// file was removed. Write does it by itself.
func SyncFolder(root *os.Root, name string) {
	if f, err := root.Open(name); err == nil {
		_ = f.Sync() // some systems cannot sync a folder; the file itself is synced
		_ = f.Close()
	}
}

// Sweep removes what writers left in root an hour ago or earlier: they are dead.
func Sweep(root *os.Root) {
	entries, err := fs.ReadDir(root.FS(), ".")
	if err != nil {
		return
	}
	for _, e := range entries {
		if !strings.HasPrefix(e.Name(), prefix) {
			continue
		}
		if info, err := root.Lstat(e.Name()); err == nil && time.Since(info.ModTime()) > stale {
			_ = root.Remove(e.Name())
		}
	}
}
