package kv

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/atomicfile"
	"github.com/kagewasm/kagewasm/internal/keypath"
)

// Folder is a folder of real files, a folder for each namespace in it and a file
// for each key: the key facts/x.md is a markdown file that a person can read,
// edit, add and delete. [abi.ValidNamespace] says what names a namespace.
//
// It is safe for concurrent use, in several processes too: a value is written
// whole or not at all, is on the disk when Set returns, and the last writer
// wins; one that must not win over others uses Swap. Changes are made one after
// the other, under a lock on the file .lock that the first of them makes; one
// that waits for others waits as long as its context lasts. Everything happens
// below the folder: links that lead out of it are not followed, and a key is a
// plain file or nothing. Folders are made 0700 and files 0600.
//
// Quotas are exact for one process; beside others, each counts again now and
// then.
type Folder struct {
	root *os.Root
	opts Options
	lock *lock // over changes, and the next
	used map[string]*counted
}

// counted is a namespace's usage, and how many changes ago it was counted.
type counted struct {
	usage
	changes int
}

// recount is after how many changes a namespace is counted again.
const recount = 256

// Open opens the Folder in dir, which is made where it does not exist. Close it.
func Open(dir string, opts Options) (*Folder, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, kvFault("open", err)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, kvFault("open", err)
	}
	return &Folder{root: root, opts: opts.WithDefaults(), lock: newLock(root), used: make(map[string]*counted)}, nil
}

// Close releases the folder.
func (kv *Folder) Close() error { return kv.root.Close() }

// space opens the folder of a namespace, nil where there is none. It is not kept
// open, so that a person may move or delete it at any time.
func (kv *Folder) space(op, ns string) (*os.Root, error) {
	info, err := kv.root.Lstat(ns)
	var root *os.Root
	if err == nil && info.IsDir() {
		root, err = kv.root.OpenRoot(ns)
	} else if err == nil {
		err = fmt.Errorf("%s is not a folder", ns)
	}
	if err != nil && !absent(err) {
		return nil, kvFault(op, err)
	}
	return root, nil
}

// whole is space for who reads: changes that belong together are seen together.
func (kv *Folder) whole(ctx context.Context, op, ns string) (*os.Root, error) {
	if kv.unfinished() {
		unlock, err := kv.change(ctx, op)
		if err != nil {
			return nil, err
		}
		unlock()
	}
	return kv.space(op, ns)
}

// change begins a change, once those before it are finished. It ends with the
// function it returns.
func (kv *Folder) change(ctx context.Context, op string) (release func(), err error) {
	release, err = kv.lock.take(ctx, op)
	if err == nil && kv.unfinished() {
		if err = kv.finish(); err != nil {
			release()
			return nil, kvFault(op, err)
		}
	}
	return release, err
}

// grow opens the folder of a namespace that gets values.
func (kv *Folder) grow(op, ns string) (*os.Root, error) {
	if err := kv.root.Mkdir(ns, 0o700); err == nil {
		atomicfile.SyncFolder(kv.root, ".")
	} else if !errors.Is(err, fs.ErrExist) {
		return nil, kvFault(op, err)
	}
	root, err := kv.space(op, ns)
	if root == nil {
		err = cmp.Or[error](err, kvFault(op, fs.ErrNotExist))
	}
	return root, err
}

// Get returns the value under key and whether there is one.
func (kv *Folder) Get(ctx context.Context, ns, key string) (string, bool, error) {
	if err := checkCall(ctx, "get", ns, key); err != nil {
		return "", false, err
	}
	root, err := kv.whole(ctx, "get", ns)
	if root == nil {
		return "", false, err
	}
	defer root.Close()
	b, err := readValue(root, key, kv.opts.MaxValueBytes)
	switch {
	case absent(err):
		return "", false, nil
	case errors.Is(err, errTooLong):
		why := fmt.Sprintf("key %q: a file of more than %d bytes", key, kv.opts.MaxValueBytes)
		return "", false, kvError(abi.CodeQuota, "get", why, "shorten the file")
	case err != nil:
		return "", false, kvFault("get", err)
	case !utf8.Valid(b):
		why := fmt.Sprintf("key %q: a file that is not utf-8", key)
		return "", false, kvError(abi.CodeBadInput, "get", why, "save it as utf-8 text")
	}
	return string(b), true, nil
}

// Set stores value under key.
func (kv *Folder) Set(ctx context.Context, ns, key, value string) error {
	return kv.set(ctx, ns, key, nil, value)
}

// Swap stores value under key where the key holds expect now; "" also means no
// value. Otherwise the error is CodeConflict. What writes through a Folder, in
// any process, does not come between; an editor's save might.
func (kv *Folder) Swap(ctx context.Context, ns, key, expect, value string) error {
	return kv.set(ctx, ns, key, &expect, value)
}

func (kv *Folder) set(ctx context.Context, ns, key string, expect *string, value string) error {
	c := Change{Key: key, Value: value, Expect: expect}
	if err := kv.opts.checkChange(ctx, ns, &c); err != nil {
		return err
	}
	unlock, err := kv.change(ctx, "set")
	if err != nil {
		return err
	}
	defer unlock()
	if err := kv.expected(ctx, ns, &c); err != nil {
		return err
	}
	root, err := kv.grow("set", ns)
	if err != nil {
		return err
	}
	defer root.Close()
	name := filePath(root, key)
	grown, err := kv.reserve(ctx, root, ns, func(u usage) usage {
		u.disk += int64(len(missing(root, name))) * diskBlock
		return u.after(fileSize(root, name), int64(len(value)))
	})
	if err != nil {
		return err
	}
	if err := atomicfile.Write(root, name, []byte(value), 0o600); err != nil {
		return kvFault("set", err)
	}
	grown()
	return nil
}

// expected is a conflict where a key does not hold what a change expects.
func (kv *Folder) expected(ctx context.Context, ns string, c *Change) error {
	if c.Expect == nil {
		return nil
	}
	switch now, _, err := kv.Get(ctx, ns, c.Key); {
	case err != nil:
		return err
	case now != *c.Expect:
		return conflict(c.Key)
	}
	return nil
}

// reserve checks a change against the quota, recounting first if the count may be stale, and returns
// why it is refused. Call grown once the change is made: it counts it.
func (kv *Folder) reserve(
	ctx context.Context, root *os.Root, ns string, grow func(usage) usage,
) (grown func(), err error) {
	c := kv.used[ns]
	if c == nil || c.changes >= recount || kv.opts.check(c.usage, grow(c.usage)) != nil {
		if c == nil {
			atomicfile.Sweep(root, atomicfile.Stale)
		}
		if c == nil || c.changes > 0 {
			used, err := count(ctx, root)
			if err != nil {
				return nil, err
			}
			c = &counted{usage: used}
			kv.used[ns] = c
		}
		if err := kv.opts.check(c.usage, grow(c.usage)); err != nil {
			return nil, err
		}
	}
	after := grow(c.usage)
	return func() { c.usage, c.changes = after, c.changes+1 }, nil
}

// Delete removes key, and the folders it leaves empty. A key that is not there
// is no error.
func (kv *Folder) Delete(ctx context.Context, ns, key string) error {
	if err := checkCall(ctx, "delete", ns, key); err != nil {
		return err
	}
	unlock, err := kv.change(ctx, "delete")
	if err != nil {
		return err
	}
	defer unlock()
	root, err := kv.space("delete", ns)
	if root == nil {
		return err
	}
	defer root.Close()
	name := filePath(root, key)
	size := fileSize(root, name)
	if size < 0 {
		return nil
	}
	folders, err := remove(root, name)
	if err != nil {
		return kvFault("delete", err)
	}
	if c := kv.used[ns]; c != nil {
		c.usage = c.after(size, -1)
		c.disk -= int64(folders) * diskBlock
		c.changes++
	}
	return nil
}

// remove removes a file, and the folders it leaves empty, and returns how many.
func remove(root *os.Root, name string) (folders int, err error) {
	if err := root.Remove(name); err != nil && !absent(err) {
		return 0, err
	}
	folder := path.Dir(name)
	for ; folder != "." && root.Remove(folder) == nil; folder = path.Dir(folder) {
		folders++
	}
	atomicfile.SyncFolder(root, folder)
	return folders, nil
}

// List returns the keys that begin with prefix, sorted. Files that a person
// put there are keys like any others where their names decode.
func (kv *Folder) List(ctx context.Context, ns, prefix string) ([]string, error) {
	if err := checkCall(ctx, "list", ns, ""); err != nil {
		return nil, err
	}
	root, err := kv.whole(ctx, "list", ns)
	if root == nil {
		return nil, err
	}
	defer root.Close()
	starts := []string{"."}
	if i := strings.LastIndexByte(prefix, '/'); i >= 0 {
		folder := prefix[:i]
		if abi.CheckKey(folder) != nil {
			return nil, nil
		}
		starts[0] = keypath.Folder(folder)
		if starts[0] != folder && keypath.Plain(folder+"/x.md") {
			starts = append(starts, folder)
		}
	}
	var keys []string
	for _, start := range starts {
		err := walk(ctx, root, start, func(_, key string) error {
			if key != "" && strings.HasPrefix(key, prefix) {
				keys = append(keys, key)
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	slices.Sort(keys)
	return keys, nil
}

// Space is a namespace and what it holds.
type Space struct {
	Name  string `json:"name"`
	Keys  int    `json:"keys"`
	Bytes int64  `json:"bytes"`
}

// Spaces returns the namespaces of plugins, by their names.
func (kv *Folder) Spaces(ctx context.Context) ([]Space, error) {
	entries, err := fs.ReadDir(kv.root.FS(), ".")
	if err != nil {
		return nil, kvFault("list", err)
	}
	var list []Space
	for _, e := range entries {
		if !e.IsDir() || !abi.ValidNamespace(e.Name()) || strings.HasPrefix(e.Name(), "_") {
			continue
		}
		root, err := kv.whole(ctx, "list", e.Name())
		if err != nil {
			return nil, err
		} else if root == nil {
			continue
		}
		used, err := count(ctx, root)
		root.Close()
		if err != nil {
			return nil, err
		}
		list = append(list, Space{Name: e.Name(), Keys: used.keys, Bytes: used.bytes})
	}
	return list, nil
}

// absent reports that a file is not there, or cannot be: below a file.
func absent(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || isNotDir(err)
}
