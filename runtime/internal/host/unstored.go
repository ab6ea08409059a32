package host

import (
	"cmp"
	"fmt"

	"github.com/kagewasm/kagewasm/abi"
)

// failed are the storage operations of a call that failed and were not done since.
// A plugin that says nothing of them, or says so in a log, has forgotten something
// all the same.
type failed struct {
	order []storageCall
	by    map[storageCall]*abi.Error
}

// storageCall tells what failed from what was done later: a value is set and deleted
// under one key.
type storageCall struct {
	key  string
	read bool
}

// harmless are the failures that say nothing about the storage: the plugin's own
// mistakes, and what it is to try again.
var harmless = map[abi.Code]bool{abi.CodeUsage: true, abi.CodeDenied: true,
	abi.CodeConflict: true, abi.CodeCanceled: true}

// note takes what came of an operation.
func (f *failed) note(op abi.Op, key string, err error) {
	call := storageCall{key, op == abi.OpKVGet || op == abi.OpKVList}
	fault := abi.AsError(err)
	switch {
	case fault == nil:
		delete(f.by, call)
	case harmless[fault.Code]:
	case call.read && (fault.Code == abi.CodeQuota || fault.Code == abi.CodeBadInput): // a file that a person has edited
	default:
		if f.by == nil {
			f.by = make(map[storageCall]*abi.Error)
		}
		e := *fault
		e.Message = fmt.Sprintf("%s %q: %s", op, Shorten(key, 80), cmp.Or(fault.Message, string(fault.Code)))
		f.by[call], f.order = &e, append(f.order, call)
	}
}

// error is the first failure that nothing made good.
func (f *failed) error() *abi.Error {
	for _, call := range f.order {
		if e := f.by[call]; e != nil {
			what := "not stored"
			if call.read {
				what = "not read"
			}
			return &abi.Error{
				Code: abi.CodeState, Op: "memory", Message: what + ": " + e.Message, Err: e,
				Hint: cmp.Or(e.Hint, "look at the disk, and at kagewasm memory check"),
			}
		}
	}
	return nil
}
