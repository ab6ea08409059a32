package kv

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/atomicfile"
)

// Change is a value to store, or a key to delete.
type Change struct {
	Key, Value string
	// Expect, where set, is what the key has to hold; "" also means no value.
	Expect *string
	// Delete removes the key.
	Delete bool
}

// checkChange refuses a change that no namespace takes.
func (o *Options) checkChange(ctx context.Context, ns string, c *Change) error {
	op := "set"
	if c.Delete {
		op = "delete"
	}
	if err := checkCall(ctx, op, ns, c.Key); err != nil {
		return err
	}
	return o.checkValue(c.Value)
}

// A batch is made in a folder of its own beside the namespaces: the new values,
// and a list of where they go. Once it has its name it is to be finished, by
// whoever comes next: values are moved to their places, which can be done twice.
// What lies in a folder of another name was never finished being made.
const (
	batchName   = ".batch"
	batchPrefix = ".batch-"
	batchList   = "list.json"
)

// batch is what is to be moved where.
type batch struct {
	Namespace string      `json:"namespace"`
	Files     []batchFile `json:"files"`
}

// batchFile is a file below the folder of the namespace: the number of its value,
// or none where it is to be removed.
type batchFile struct {
	Name  string `json:"name"`
	Value string `json:"value,omitempty"`
}

// Apply makes all the changes or none of them, in one step for everybody who
// reads, and also where the process ends in between. Each key is changed once. The
// error is CodeConflict where one is not as expected, CodeQuota where all together
// are too much.
func (kv *Folder) Apply(ctx context.Context, ns string, changes []Change) error {
	for i := range changes {
		if err := kv.opts.checkChange(ctx, ns, &changes[i]); err != nil {
			return err
		}
	}
	unlock, err := kv.change(ctx, "apply")
	if err != nil {
		return err
	}
	defer unlock()
	for i := range changes {
		if err := kv.expected(ctx, ns, &changes[i]); err != nil {
			return err
		}
	}
	root, err := kv.grow("apply", ns)
	if err != nil {
		return err
	}
	defer root.Close()
	if _, err := kv.reserve(ctx, root, ns, func(u usage) usage { return grown(root, u, changes) }); err != nil {
		return err
	}
	if err := kv.stage(ctx, root, ns, changes); err != nil {
		return err
	}
	delete(kv.used, ns) // it is counted again
	if err := kv.finish(); err != nil {
		return &abi.Error{Code: abi.CodeState, Op: "kv.apply", Err: err,
			Message: fmt.Sprintf("what is stored is not in its place yet: %v", err),
			Hint:    "the next use of the storage goes on with it"}
	}
	return nil
}

// grown is the usage after changes.
func grown(root *os.Root, u usage, changes []Change) usage {
	made := make(map[string]bool)
	for i := range changes {
		c := &changes[i]
		name, size := filePath(root, c.Key), int64(len(c.Value))
		if c.Delete {
			size = -1
		}
		u = u.after(fileSize(root, name), size)
		for _, folder := range missing(root, name) {
			if !c.Delete && !made[folder] {
				made[folder] = true
				u.disk += diskBlock
			}
		}
	}
	return u
}

// stage makes the batch of the changes. Where it fails nothing is left.
func (kv *Folder) stage(ctx context.Context, root *os.Root, ns string, changes []Change) error {
	kv.sweep()
	temp := batchPrefix + rand.Text()
	folders, err := makeFolders(root, changes)
	if err == nil {
		err = kv.writeBatch(ctx, temp, root, ns, changes)
	}
	if err == nil {
		err = kv.root.Rename(temp, batchName)
	}
	if err != nil {
		_ = kv.root.RemoveAll(temp) // the first error says more
		for _, folder := range slices.Backward(folders) {
			_ = root.Remove(folder) // which is empty, if nobody else uses it
		}
		if ctx.Err() != nil {
			return ended("apply", ctx.Err())
		}
		return kvFault("apply", err)
	}
	atomicfile.SyncFolder(kv.root, ".")
	return nil
}

// makeFolders makes those on the way to new values, and returns them, also where it
// fails: nothing may be in the way of a batch that is to be finished.
func makeFolders(root *os.Root, changes []Change) (made []string, err error) {
	for i := range changes {
		if changes[i].Delete {
			continue
		}
		name := filePath(root, changes[i].Key)
		for _, folder := range slices.Backward(missing(root, name)) {
			if err := root.Mkdir(folder, 0o700); err != nil {
				return made, err
			}
			made = append(made, folder)
		}
		if err := root.MkdirAll(path.Dir(name), 0o700); err != nil { // which something else may be
			return made, err
		}
		if info, err := root.Lstat(name); err == nil && info.IsDir() {
			return made, &fs.PathError{Op: "write", Path: name, Err: errors.New("a folder stands there")}
		}
	}
	return made, nil
}

func (kv *Folder) writeBatch(ctx context.Context, temp string, root *os.Root, ns string, changes []Change) error {
	if err := kv.root.Mkdir(temp, 0o700); err != nil {
		return err
	}
	dir, err := kv.root.OpenRoot(temp)
	if err != nil {
		return err
	}
	defer dir.Close()
	b := batch{Namespace: ns}
	for i := range changes {
		if err := ctx.Err(); err != nil {
			return err
		}
		f := batchFile{Name: filePath(root, changes[i].Key)}
		if !changes[i].Delete {
			f.Value = fmt.Sprint(i)
			if err := writeSynced(dir, f.Value, []byte(changes[i].Value)); err != nil {
				return err
			}
		}
		b.Files = append(b.Files, f)
	}
	doc, err := json.Marshal(b)
	if err != nil {
		return err
	}
	err = writeSynced(dir, batchList, doc)
	atomicfile.SyncFolder(dir, ".")
	return err
}

// writeSynced writes a new file, onto the disk.
func writeSynced(root *os.Root, name string, data []byte) error {
	f, err := root.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	return errors.Join(err, f.Sync(), f.Close())
}

// unfinished reports whether there is a batch to be finished.
func (kv *Folder) unfinished() bool {
	_, err := kv.root.Lstat(batchName)
	return err == nil
}

// finish moves the values of the batch to their places. The lock is held.
func (kv *Folder) finish() error {
	doc, err := kv.root.ReadFile(path.Join(batchName, batchList))
	if err != nil {
		return err
	}
	var b batch
	if err := json.Unmarshal(doc, &b); err != nil {
		return err
	}
	if !abi.ValidNamespace(b.Namespace) {
		return fmt.Errorf("%s: namespace %q", batchName, b.Namespace)
	}
	delete(kv.used, b.Namespace)
	root, err := kv.grow("apply", b.Namespace)
	if err != nil {
		return err
	}
	defer root.Close()
	touched := make(map[string]bool)
	for _, f := range b.Files {
		if !fs.ValidPath(f.Name) || strings.Contains(f.Value, "/") {
			return fmt.Errorf("%s: %q to %q", batchName, f.Value, f.Name)
		}
		if err := kv.move(root, b.Namespace, f); err != nil {
			return err
		}
		touched[path.Dir(f.Name)] = true
	}
	for folder := range touched {
		atomicfile.SyncFolder(root, folder)
	}
	if err := kv.root.Rename(batchName, batchPrefix+rand.Text()); err != nil {
		return err
	}
	kv.sweep()
	return nil
}

// move does what a batch says of one file, unless that was done.
func (kv *Folder) move(root *os.Root, ns string, f batchFile) error {
	if f.Value == "" {
		if fileSize(root, f.Name) < 0 {
			return nil
		}
		_, err := remove(root, f.Name)
		return err
	}
	from := path.Join(batchName, f.Value)
	if _, err := kv.root.Lstat(from); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if folder := path.Dir(f.Name); folder != "." {
		if err := root.MkdirAll(folder, 0o700); err != nil {
			return err
		}
	}
	return kv.root.Rename(from, path.Join(ns, f.Name))
}

// sweep removes what was left of batches. The lock is held, so nobody makes one.
func (kv *Folder) sweep() {
	entries, err := fs.ReadDir(kv.root.FS(), ".")
	if err != nil {
		return
	}
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), batchPrefix) {
			_ = kv.root.RemoveAll(e.Name()) // the next one tries again
		}
	}
}
