package main

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/cmd/kagewasm/internal/ui"
	"github.com/kagewasm/kagewasm/config"
)

// A configuration that nobody named may have come with somebody's repository.
// It says where sessions and keys are sent and which modules run with what, so
// one within a repository that names models or plugins is taken only where a
// person said so, of this very text: with `config trust`, or by naming it.

// trustFile lists what is trusted: a digest and a path a line.
const trustFile = "trusted"

// mustTrust is the error of a configuration that was found, not named, and that
// nobody has trusted as it is now.
func mustTrust(e env, c *config.Config) error {
	if len(c.Models)+len(c.Plugins) == 0 || !inRepository(filepath.Dir(c.File)) {
		return nil
	}
	known, err := trusted(e)
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

// trusted are the digests of what is trusted, by its place. What is no such
// line trusts nothing.
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

func trusted(e env) (map[string]string, error) {
	known := make(map[string]string)
	if e.stateHome == "" {
		return known, nil
	}
	data, err := os.ReadFile(filepath.Join(e.stateHome, trustFile))
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

// trust adds a configuration to the list, as it is now.
func trust(e env, c *config.Config) error {
	if e.stateHome == "" {
		return ui.Usagef("config trust: this machine names no home folder: name the configuration with --config instead")
	}
	path, err := place(c.File)
	if err != nil {
		return err
	}
	if strings.Contains(path, "\n") {
		return ui.Usagef("config trust: %q: a path with a line break", path)
	}
	known, err := trusted(e)
	if err != nil {
		return err
	}
	known[path] = c.Digest
	var lines strings.Builder
	for _, path := range slices.Sorted(maps.Keys(known)) {
		fmt.Fprintf(&lines, "%s  %s\n", known[path], path)
	}
	if err := os.MkdirAll(e.stateHome, 0o700); err != nil {
		return err
	}
	return writeFile(filepath.Join(e.stateHome, trustFile), []byte(lines.String()))
}

// place is where a configuration lies. A link to it is another place: what it
// names is looked for beside the link.
func place(path string) (string, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	dir, err := filepath.EvalSymlinks(filepath.Dir(path))
	return filepath.Join(dir, filepath.Base(path)), err
}

func newConfigTrust(e env) *cobra.Command {
	return &cobra.Command{
		Use:   "trust [FILE]",
		Short: "Let a configuration that is found here use the models and plugins it names",
		Long: `A configuration may come with somebody's repository, and says where sessions and
keys are sent and which plugins run. One that names models or plugins, and is
found, not named with --config, is used only after you have looked at it and
trusted it: as it is, so a change of the file or of a prompt that it names is
asked about again. The modules themselves are held by the digest that stands
with a plugin, where one does.`,
		Args: oneArgOrNone("FILE"),
		RunE: func(_ *cobra.Command, args []string) error {
			f := configFlag{path: argOr(args, "")}
			c, err := f.load()
			if err != nil {
				return err
			}
			if err := trust(e, c); err != nil {
				return err
			}
			e.out().Linef("trusted %s", c.File)
			return nil
		},
	}
}
