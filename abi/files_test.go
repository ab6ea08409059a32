package abi_test

import (
	"reflect"
	"testing"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/features"
)

// TestMergedFiles: one file has one name, however it was called.
func TestMergedFiles(t *testing.T) {
	features.Proves(t, "T7")
	for name, tc := range map[string]struct{ in, want abi.Files }{
		"relative and absolute": {
			abi.Files{Read: []string{"/w/p/a.go", "a.go", "./a.go", "p/a.go", "b.go"}},
			abi.Files{Read: []string{"/w/p/a.go", "b.go"}},
		},
		"read by one name and modified by another": {
			abi.Files{Read: []string{"src/a.go", "/w/src/b.go"}, Modified: []string{"/w/src/a.go", "src/b.go"}},
			abi.Files{Modified: []string{"/w/src/a.go", "/w/src/b.go"}},
		},
		"of which of two is not known": {
			abi.Files{Read: []string{"/w/x/a.go", "/w/y/a.go", "a.go", "x/a.go"}},
			abi.Files{Read: []string{"/w/x/a.go", "/w/y/a.go", "a.go"}},
		},
		"a name that another ends in is another": {
			abi.Files{Read: []string{"/w/main.go", "n.go", "ain.go"}},
			abi.Files{Read: []string{"/w/main.go", "ain.go", "n.go"}},
		},
		"deleted by another name": {
			abi.Files{Modified: []string{"/w/x/a.go", "b.go"}, Deleted: []string{"a.go"}},
			abi.Files{Modified: []string{"/w/x/a.go", "b.go"}, Deleted: []string{"/w/x/a.go"}},
		},
		"none": {},
	} {
		t.Run(name, func(t *testing.T) {
			if got := tc.in.Merged(); !reflect.DeepEqual(got, tc.want) {
				t.Errorf("%+v, want %+v", got, tc.want)
			}
		})
	}
}
