// Package owner tells whose files and folders are, and holds the key by which a
// folder is known to be one's own.
//
// What lies in a folder of state is believed: compiled code is run, memories are put
// before a model. So such a folder belongs to the user of this process alone, see
// [Private], and has a file with a random key in it, see [Make] and [Read]. What is
// written there is authenticated with that key. A folder that was copied from
// somewhere else is told by its key: nobody here has vouched for it.
package owner

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/kagewasm/kagewasm/internal/atomicfile"
)

// Error is a folder or a file that may be somebody else's.
type Error struct {
	Path string
	Why  string
	Fix  string // a command, or what to do
	// Foreign: another key than the user's own vouches for the folder, or none does.
	Foreign bool
}

// Error is the path and why.
func (e *Error) Error() string { return e.Path + ": " + e.Why }

// Private makes the folder with mode 0700, or checks that it belongs to the user of
// this process and that nobody else can read or change it. An empty folder of the
// user's own is made private. The error is an [*Error] where it is not.
func Private(dir string) error {
	info, err := os.Stat(dir)
	if errors.Is(err, fs.ErrNotExist) {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return err
		}
		info, err = os.Stat(dir)
	}
	if err != nil {
		return err
	}
	if !info.IsDir() {
		return &Error{Path: dir, Why: "not a folder", Fix: "give a folder"}
	}
	err = private(dir, info)
	if uid, ok := Of(info); err != nil && ok && uid == os.Geteuid() {
		if list, readErr := os.ReadDir(dir); readErr == nil && len(list) == 0 {
			return os.Chmod(dir, 0o700)
		}
	}
	return err
}

// Check is the error of [Private] for a file or a folder that is there, which stays
// as it is.
func Check(path string) error {
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	return private(path, info)
}

// private checks the owner and the mode of a file or a folder.
func private(path string, info fs.FileInfo) error {
	uid, known := Of(info)
	if !known {
		return nil
	}
	mode, want := info.Mode().Perm(), fs.FileMode(0o600)
	if info.IsDir() {
		want = 0o700
	}
	switch {
	case uid != os.Geteuid():
		return &Error{Path: path, Why: "it belongs to another user", Fix: "give another folder"}
	case mode&0o077 != 0:
		return &Error{
			Path: path, Why: fmt.Sprintf("others can read it or write to it (mode %04o)", mode),
			Fix: fmt.Sprintf("where it is yours: chmod %o %s", want, path),
		}
	}
	return nil
}

// Key authenticates what is in a folder. It is 32 random bytes.
type Key []byte

// Sum is a keyed hash of the parts, of 32 bytes.
func (k Key) Sum(parts ...string) []byte {
	h := hmac.New(sha256.New, k)
	for _, p := range parts {
		fmt.Fprintf(h, "%d:%s", len(p), p)
	}
	return h.Sum(nil)
}

// File is the name of the file with the key of a folder.
const File = "owner"

// form is what the file holds: the key, and what vouches for it.
const form = "kagewasm state 1\nkey %x\nby %x\n"

// Read returns the key of a folder. by vouches for it: it is nil for a folder that
// vouches for itself, as the user's own does; any other folder's key was made by
// that user where the user's own key says so. Where there is no key the error is
// fs.ErrNotExist. It is an [*Error] where the file is not as Make wrote it.
func Read(dir string, by Key) (Key, error) {
	path := filepath.Join(dir, File)
	info, err := os.Lstat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, &Error{Path: path, Why: "not a plain file", Fix: "remove it"}
	}
	if err := private(path, info); err != nil {
		return nil, err
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var key, vouched []byte
	if _, err := fmt.Sscanf(string(data), form, &key, &vouched); err != nil || len(key) != sha256.Size {
		return nil, &Error{Path: path, Why: "damaged"}
	}
	if !hmac.Equal(data, owned(key, by)) {
		return nil, &Error{Path: dir, Foreign: true, Why: "your key does not vouch for it: another user " +
			"made it, or another machine, or you with another home for what programs keep"}
	}
	return key, nil
}

// owned is the file of a key.
func owned(key, by Key) []byte {
	voucher := make([]byte, sha256.Size)
	if by != nil {
		voucher = by.Sum("state folder", hex.EncodeToString(key))
	}
	return fmt.Appendf(nil, form, []byte(key), voucher)
}

// Make gives a folder a key, unless it has one by now, and returns it.
func Make(dir string, by Key) (Key, error) {
	key := make(Key, sha256.Size)
	_, _ = rand.Read(key) // never fails
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	err = atomicfile.Create(root, File, owned(key, by), 0o600)
	if err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, err
	}
	return Read(dir, by)
}

// Drop takes the key of a folder away. What it authenticated is not believed any
// more.
func Drop(dir string) error {
	err := os.Remove(filepath.Join(dir, File))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}
