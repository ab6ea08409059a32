// Package folder copies what a plugin keeps to a folder of plain files and back,
// whatever the plugin: a key is a file, as [keypath.Name] names it. What
// [Export] wrote [Import] reads as the same keys and bytes; it reads folders
// that other tools or people wrote as well.
//
// Everything happens below the folder, and links are not followed.
package folder

import (
	"context"
	"fmt"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/store/kv"
)

// KV is the storage that is copied from and to; see [kv.Folder].
type KV interface {
	Get(ctx context.Context, ns, key string) (value string, found bool, err error)
	Swap(ctx context.Context, ns, key, expect, value string) error
	Apply(ctx context.Context, ns string, changes []kv.Change) error
	List(ctx context.Context, ns, prefix string) ([]string, error)
}

// Action is what was done with a file, or what a trial would do.
type Action string

const (
	Added     Action = "added"
	Unchanged Action = "unchanged"
	Replaced  Action = "replaced"  // another one of the name stood there
	KeptBoth  Action = "kept_both" // the imported one got another name
	Skipped   Action = "skipped"
)

// File is what became of one file.
type File struct {
	// Name is its path below the folder, with slashes.
	Name string `json:"name"`
	// Key is where its text is stored; empty where it is skipped.
	Key    string `json:"key,omitempty"`
	Action Action `json:"action"`
	// Why says why a file is skipped.
	Why   string `json:"why,omitempty"`
	Bytes int64  `json:"bytes"`
}

// Report is what a copy did, file by file, in the order of their names.
type Report struct {
	Namespace string `json:"namespace"`
	Dir       string `json:"dir"`
	DryRun    bool   `json:"dry_run,omitempty"`
	Files     []File `json:"files"`
	// Others is how many texts stay stored after an import that the folder has no file of.
	Others int `json:"others,omitempty"`
	// New: nothing was stored in the namespace before an import.
	New bool `json:"new,omitempty"`
}

// Count is how many files had an action.
func (r *Report) Count(a Action) (n int) {
	for _, f := range r.Files {
		if f.Action == a {
			n++
		}
	}
	return n
}

func fault(op, dir string, err error) *abi.Error {
	return &abi.Error{Code: abi.CodeInternal, Op: op, Message: fmt.Sprintf("%s: %v", dir, err), Err: err}
}
