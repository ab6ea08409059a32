package state

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/cmd/kagewasm/internal/ui"
	"github.com/kagewasm/kagewasm/internal/atomicfile"
	"github.com/kagewasm/kagewasm/internal/owner"
)

// seal returns the key of the folder of a state, which has to be the user's alone
// and sealed by them: with a key in it that was made on this machine, by this user.
// What came with a repository, an archive or somebody's backup was not.
//
// A folder that holds no state yet is sealed, and so is the platform's own, home,
// that an earlier version made. Any other is refused with what to do. The key in
// home vouches for those of other folders. Where this user can keep none there is
// no key, and no compiled code may be kept.
func seal(dir, home string, say func(string)) (owner.Key, error) {
	own := same(dir, home)
	if err := private(dir); err != nil {
		return nil, err
	}
	var by owner.Key
	if !own {
		var err error
		if by, err = userKey(home, say); by == nil {
			return nil, err
		}
	}
	key, err := owner.Read(dir, by)
	fresh := fresh(dir)
	switch {
	case err == nil:
		return key, kept(dir, true)
	case !errors.Is(err, fs.ErrNotExist):
		return nil, refused(whose(err, home))
	case !own && !fresh:
		return nil, refused(unsealed(dir))
	case !fresh:
		say(fmt.Sprintf("state: %s is yours alone, and sealed from now on by the key in %s",
			dir, filepath.Join(dir, owner.File)))
	}
	if err := mark(dir); err != nil {
		return nil, unusable(err)
	}
	sweep(dir)
	if key, err = owner.Make(dir, by); err != nil {
		return nil, unusable(err)
	}
	return key, nil
}

// unsealed is the error of a folder without a key.
func unsealed(dir string) *owner.Error {
	return &owner.Error{Path: dir, Why: "it is not sealed: an earlier version made it, or somebody else"}
}

// userKey is the key in the user's own folder, nil where none can be kept there.
func userKey(home string, say func(string)) (owner.Key, error) {
	why := "this machine names no home folder"
	if home != "" {
		key, err := seal(home, home, say)
		if err == nil {
			return key, nil
		}
		var denied *fs.PathError
		if !errors.As(err, &denied) {
			return nil, err
		}
		why = denied.Error()
	}
	say("state: no compiled code is kept: it is authenticated by a key in the user's own folder, " +
		"and there can be none: " + why)
	return nil, nil
}

// private checks the folder and those in it, and makes it where it is not there.
func private(dir string) error {
	if err := owner.Private(dir); err != nil {
		return refused(err)
	}
	for _, part := range []string{KVFile, cacheFolder} {
		if err := owner.Check(filepath.Join(dir, part)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return refused(err)
		}
	}
	return nil
}

// fresh reports whether a folder holds nothing of a state.
func fresh(dir string) bool {
	for _, part := range []string{KVFile, cacheFolder} {
		if says, err := os.ReadFile(filepath.Join(dir, part)); err == nil && string(says) == nothingKept {
			continue
		}
		list, err := os.ReadDir(filepath.Join(dir, part))
		if len(list) > 0 || err != nil && !errors.Is(err, fs.ErrNotExist) {
			return false
		}
	}
	_, err := os.Lstat(filepath.Join(dir, SessionsFile))
	return errors.Is(err, fs.ErrNotExist)
}

// kept is an error where a sealed folder has lost what plugins keep, so that nobody
// starts from nothing without knowing. With fix a move that was broken off is ended.
func kept(dir string, fix bool) error {
	path := filepath.Join(dir, KVFile)
	if _, err := os.Lstat(path); !errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if _, err := os.Lstat(filepath.Join(dir, KVCopy)); err == nil { // who moved it was killed
		if fix {
			return mark(dir)
		}
		return nil
	}
	return &abi.Error{
		Code: abi.CodeState, Op: "state", Message: path + " is missing: what plugins keep was there",
		Hint: "restore it from a backup, or start from nothing with kagewasm memory repair",
	}
}

// whose says of an error which key was to vouch for a folder.
func whose(err error, home string) error {
	var e *owner.Error
	if !errors.As(err, &e) || !e.Foreign {
		return err
	}
	named := *e
	named.Why = "your key does not vouch for it, the one in " + home + ": another user made it, or another machine, or " +
		"you with another home (HOME, XDG_STATE_HOME)"
	return &named
}

// refused is the error of a folder that may be somebody else's.
func refused(err error) error {
	var e *owner.Error
	if !errors.As(err, &e) {
		return unusable(err)
	}
	fix := "where it is yours: kagewasm memory repair --state " + ui.Quoted(e.Path)
	switch {
	case e.Fix != "":
		fix = e.Fix
	case e.Foreign:
		fix += ", which seals it with your key and keeps what is stored in it; or set XDG_STATE_HOME as it was. Where the " +
			"home is new at each start, as in a container, keep that in the volume too: XDG_STATE_HOME=FOLDER"
	}
	return &abi.Error{Code: abi.CodeUsage, Op: "state", Message: e.Error(), Err: err, Hint: fix}
}

// unusable is the error of a folder in which nothing can be kept.
func unusable(err error) error {
	return ui.Usagef("state: %w: give another folder with --state DIR, or --state %s to keep nothing", err, InMemory)
}

// same reports whether two paths name one folder.
func same(dir, home string) bool {
	if dir == home {
		return true
	}
	a, err := os.Stat(dir)
	if err != nil {
		return false
	}
	b, err := os.Stat(home)
	return err == nil && os.SameFile(a, b)
}

// sweep removes keys that were never finished being made.
func sweep(dir string) {
	if root, err := os.OpenRoot(dir); err == nil {
		defer root.Close()
		atomicfile.Sweep(root, atomicfile.Stale)
	}
}
