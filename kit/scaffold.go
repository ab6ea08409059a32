package kit

import (
	"cmp"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/atomicfile"
)

// Languages and roles that [New] writes plugins in, the default first. The
// language ts is AssemblyScript.
var (
	Langs = []string{"go", "ts", "c"}
	Roles = []string{string(abi.RoleObserver), string(abi.RoleCompactor)}
)

// The folder scaffold is at once the example of each language. A plugin is put
// together of four folders in it, the later over the earlier: common, the role,
// LANG/common and LANG/ROLE. The folder of Go begins with an underscore, which
// keeps it out of go's sight: its test runs where the manifest lies.
//
//go:embed all:scaffold
var files embed.FS

// placeholder stands for the name of the plugin in all files.
const placeholder = "my-plugin"

// Project is a plugin to be written.
type Project struct {
	// Name of the plugin; see [abi.ValidName].
	Name string
	// Lang is one of Langs, Role one of Roles. Default: the first.
	Lang, Role string
	// Dir is the folder to make. Default: the name. It may be there, and empty.
	Dir string
	// Source is the folder of a clone of kagewasm, for plugins in Go. Default:
	// the one this program was built in, or the one that holds the working
	// directory.
	Source string
}

// New writes a plugin to begin with, and returns the paths of its files: one that
// builds, passes the conformance kit and changes a compaction, in a page of code,
// with a test and fixtures. Errors are *abi.Error of CodeUsage, and nothing was
// written then; CodeInternal where a file could not be written.
func New(o Project) ([]string, error) {
	if err := o.complete(); err != nil {
		return nil, err
	}
	project := make(map[string][]byte)
	folder := o.Lang
	if folder == "go" {
		folder = "_go"
		if err := addModule(project, o); err != nil {
			return nil, err
		}
	}
	for _, layer := range []string{"common", o.Role, folder + "/common", folder + "/" + o.Role} {
		if err := add(project, "scaffold/"+layer, o.Name); err != nil {
			return nil, err
		}
	}
	return write(project, o.Dir)
}

// complete fills in defaults, and says what is wrong with the rest.
func (o *Project) complete() error {
	o.Lang, o.Role = cmp.Or(o.Lang, Langs[0]), cmp.Or(o.Role, Roles[0])
	o.Dir = cmp.Or(o.Dir, o.Name)
	switch {
	case !abi.ValidName(o.Name):
		return usage("new", "", fmt.Sprintf("name %q: use lower case letters, digits, - and _, at most 64", o.Name), "", nil)
	case !slices.Contains(Langs, o.Lang):
		return usage("new", "", fmt.Sprintf("language %q: there are %s", o.Lang, strings.Join(Langs, ", ")),
			"a module of any other language is given its manifest by kagewasm build X.wasm; see docs/authors.md", nil)
	case !slices.Contains(Roles, o.Role):
		return usage("new", "", fmt.Sprintf("role %q: there are %s", o.Role, strings.Join(Roles, " and ")), "", nil)
	}
	if entries, err := os.ReadDir(o.Dir); err == nil && len(entries) > 0 {
		return usage("new", "", o.Dir+": there is something in it",
			"name another folder with --dir: nothing is written over", nil)
	} else if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return usage("new", "", err.Error(), "name another folder with --dir", err)
	}
	return nil
}

// add puts the files of a folder into the project.
func add(project map[string][]byte, folder, name string) error {
	return fs.WalkDir(files, folder, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := files.ReadFile(path)
		text := strings.ReplaceAll(string(data), placeholder, name)
		project[strings.TrimPrefix(path, folder+"/")] = []byte(text)
		return err
	})
}

func write(project map[string][]byte, dir string) (paths []string, err error) {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return nil, fault("new", "", err)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, fault("new", "", err)
	}
	defer root.Close()
	for name, data := range project {
		if err = root.MkdirAll(path.Dir(name), 0o777); err == nil {
			err = atomicfile.Create(root, name, data, 0o666)
		}
		if err != nil {
			return paths, fault("new", "", err)
		}
		paths = append(paths, filepath.Join(dir, filepath.FromSlash(name)))
	}
	slices.Sort(paths)
	return paths, nil
}
