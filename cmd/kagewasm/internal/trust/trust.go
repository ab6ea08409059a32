// Package trust says which configurations are used that nobody named.
//
// Such a configuration may have come with somebody's repository. It says where
// sessions and keys are sent and which modules run with what. So one within a
// repository that names models or plugins is taken only where a person said so, of
// this very text: with `config trust` ([List.Add]), or by naming it. [List.Check]
// refuses all others.
package trust

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/cmd/kagewasm/internal/ui"
	"github.com/kagewasm/kagewasm/config"
	"github.com/kagewasm/kagewasm/internal/atomicfile"
)

// file lists what is trusted: a digest and a path a line.
const file = "trusted"

// List is the list of trusted configurations of this machine.
type List struct {
	// Dir is the platform's folder for state; empty where there is none.
	Dir string
}

// Check is the error, of code usage, of a configuration that was found, not named,
// and that nobody has trusted as it is now.
func (l List) Check(c *config.Config) error {
	if len(c.Models)+len(c.Plugins) == 0 || !inRepository(filepath.Dir(c.File)) {
		return nil
	}
	known, err := l.trusted()
	if err != nil {
		return err
	}
	path, err := place(c.File)
	if err != nil {
		return err
	}
	why := "it names models or plugins, and nobody has trusted it yet"
	switch digest, ok := known[path]; {
	case digest == c.Digest:
		return nil
	case ok:
		why = "it, or a prompt that it names, has changed since it was trusted"
	}
	return &abi.Error{Code: abi.CodeUsage, Op: "config", Message: c.File + ": " + why,
		Hint: "look at it, then run kagewasm config trust; or name it with --config, or go on with --no-config"}
}

// inRepository reports whether a folder, or one above it, is a working copy that
// came from somewhere, or may have.
func inRepository(dir string) bool {
	dir, err := filepath.Abs(dir)
	for ; err == nil; dir = filepath.Dir(dir) {
		for _, name := range []string{".git", ".hg", ".svn", ".jj"} {
			if _, err := os.Lstat(filepath.Join(dir, name)); err == nil {
				return true
			}
		}
		if dir == filepath.Dir(dir) {
			return false
		}
	}
	return true // nobody can say
}

// trusted are the digests of what is trusted, by its place. What is no such
// line trusts nothing.
func (l List) trusted() (map[string]string, error) {
	known := make(map[string]string)
	if l.Dir == "" {
		return known, nil
	}
	data, err := os.ReadFile(filepath.Join(l.Dir, file))
	if errors.Is(err, fs.ErrNotExist) {
		return known, nil
	}
	for line := range strings.Lines(string(data)) {
		if digest, path, ok := strings.Cut(strings.TrimSuffix(line, "\n"), "  "); ok {
			known[path] = digest
		}
	}
	return known, err
}

// Add puts a configuration on the list, as it is now.
func (l List) Add(c *config.Config) error {
	if l.Dir == "" {
		return ui.Usagef("config trust: this machine names no home folder: name the configuration with --config instead")
	}
	path, err := place(c.File)
	if err != nil {
		return err
	}
	if strings.Contains(path, "\n") {
		return ui.Usagef("config trust: %q: a path with a line break", path)
	}
	known, err := l.trusted()
	if err != nil {
		return err
	}
	known[path] = c.Digest
	var lines strings.Builder
	for _, path := range slices.Sorted(maps.Keys(known)) {
		fmt.Fprintf(&lines, "%s  %s\n", known[path], path)
	}
	if err := os.MkdirAll(l.Dir, 0o700); err != nil {
		return err
	}
	return atomicfile.WriteFile(filepath.Join(l.Dir, file), []byte(lines.String()), 0o600)
}

// place returns the absolute path of a configuration. A link to one has a path of
// its own: what the file names is looked for beside the link.
func place(path string) (string, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	dir, err := filepath.EvalSymlinks(filepath.Dir(path))
	return filepath.Join(dir, filepath.Base(path)), err
}
