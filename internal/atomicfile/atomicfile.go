// Package atomicfile writes files whole or not at all, and is the one way in which
// the project does.
//
// [Write] is for a folder that nothing may lead out of, [WriteFile] for a path, and
// [Create] for a file that must not be there yet. In all of them a new file is
// written beside, synced, and given the name: a reader sees the old file or the new
// one, also where the machine stops in between. The new file is made exclusively,
// under a name that nobody can guess, and never through a link; it is removed where
// something fails. [Sweep] removes what a writer left that was killed.
//
// It is no library because none does all of that everywhere: google/renameio is
// empty on Windows, does not sync the folder, and gives what it leaves behind names
// that cannot be told from those of other files.
package atomicfile

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"time"
)

// prefix begins the names of files that are being written. What follows it has the
// form of nameLike.
const prefix = ".tmp-"

var nameLike = regexp.MustCompile(`^\.tmp-[A-Z2-7]{26}$`)

// Stale is after how long a file that is being written is a dead writer's, where
// nothing else tells.
const Stale = time.Hour

// sweepable is how many entries of a folder are looked at for what dead writers left.
const sweepable = 10_000

// attempts is how often a folder is made that somebody else keeps removing.
const attempts = 8

// Write puts data into the file name below root, of mode perm less what the umask
// takes. What stands there is replaced, a link itself and not what it leads to.
// Folders on the way are made, for their owner alone.
func Write(root *os.Root, name string, data []byte, perm fs.FileMode) error {
	err := writing.beside(root, data, perm, func(temp string) error { return place(root, temp, name) })
	return named(root, name, err)
}

// named is an error of the file that was to be written, not of the one beside it.
func named(root *os.Root, name string, err error) error {
	if path, ok := errors.AsType[*fs.PathError](err); ok {
		err = path.Err
	}
	if link, ok := errors.AsType[*os.LinkError](err); ok {
		err = link.Err
	}
	if err == nil {
		return nil
	}
	return &fs.PathError{Op: "write", Path: filepath.Join(root.Name(), name), Err: err}
}

// Create is [Write] for a file that is not there yet: else nothing is written, and
// the error is fs.ErrExist. Its folder must be there.
func Create(root *os.Root, name string, data []byte, perm fs.FileMode) error {
	err := writing.beside(root, data, perm, func(temp string) error {
		err := root.Link(temp, name)
		if err != nil && !errors.Is(err, fs.ErrExist) {
			err = create(root, name, data, perm) // a file system without links
		}
		SyncFolder(root, path.Dir(filepath.ToSlash(name)))
		_ = root.Remove(temp)
		return err
	})
	return named(root, name, err)
}

// WriteFile is [Write] for a path. Its folder must be there. What dead writers left
// in it goes.
func WriteFile(path string, data []byte, perm fs.FileMode) error {
	root, err := os.OpenRoot(filepath.Dir(path))
	if err != nil {
		return err
	}
	defer root.Close()
	Sweep(root, Stale)
	return Write(root, filepath.Base(path), data, perm)
}

func create(root *os.Root, name string, data []byte, perm fs.FileMode) error {
	f, err := root.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, perm)
	if err != nil {
		return err
	}
	return fill(f, data)
}

// fill writes the file and closes it.
func fill(f *os.File, data []byte) error {
	_, err := f.Write(data)
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

// Sweep removes what writers left in root that long ago or earlier: they are dead.
// Whoever keeps all writers of a folder out may say 0.
func Sweep(root *os.Root, ago time.Duration) {
	f, err := root.Open(".")
	if err != nil {
		return
	}
	defer f.Close()
	entries, _ := f.ReadDir(sweepable)
	for _, e := range entries {
		if !nameLike.MatchString(e.Name()) {
			continue
		}
		if info, err := root.Lstat(e.Name()); err == nil && time.Since(info.ModTime()) >= ago {
			_ = root.Remove(e.Name())
		}
	}
}
