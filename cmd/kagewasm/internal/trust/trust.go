// Package trust says which configurations are used that nobody named.
//
// Such a configuration may have come with somebody's repository. It says where
// sessions and keys are sent, which modules run with what, and what is protected. So
// one that may be somebody else's is taken as it is only where all it does is to
// narrow what happens ([config.Config.Widens]), or where a person said so, of this
// very text: with `config trust` ([List.Add]), or by naming it. [List.Check] refuses
// all others.
package trust

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/gofrs/flock"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/cmd/kagewasm/internal/ui"
	"github.com/kagewasm/kagewasm/config"
	"github.com/kagewasm/kagewasm/internal/atomicfile"
	"github.com/kagewasm/kagewasm/internal/owner"
)

// What is trusted is a list in a folder of its own: a digest and a path a line.
// earlier is where the list lay before, which is still read.
const (
	folder  = "trust"
	file    = "trusted"
	lock    = "lock"
	earlier = "trusted"
)

// List is the list of trusted configurations of this machine.
type List struct {
	// Dir is the platform's folder for state; empty where there is none.
	Dir string
}

// Check is the error, of code usage, of a configuration that was found, not named,
// that may be somebody else's and does more than to narrow what happens, and that
// nobody has trusted as it is now.
func (l List) Check(c *config.Config) error {
	wider := c.Widens()
	if len(wider) == 0 {
		return nil
	}
	from := origin(c.File)
	if from == "" {
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
	why := says(c, wider) + ", and nobody has trusted it yet"
	switch digest, ok := known[path]; {
	case digest == c.Digest:
		return nil
	case ok:
		why = "it, or a prompt that it names, has changed since it was trusted"
	}
	return &abi.Error{Code: abi.CodeUsage, Op: "config", Message: c.File + ": " + why + " (" + from + ")",
		Hint: "look at it, then run kagewasm config trust; or name it with --config, or go on with --no-config"}
}

// says is what a configuration does that takes trust, in words.
func says(c *config.Config, wider []string) string {
	if len(c.Models)+len(c.Plugins) > 0 {
		return "it names models or plugins"
	}
	const shown = 3
	text := "it sets " + strings.Join(wider[:min(len(wider), shown)], ", ")
	if more := len(wider) - shown; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

// trusted are the digests of what is trusted, by its place. What is no such
// line trusts nothing.
func (l List) trusted() (map[string]string, error) {
	known := make(map[string]string)
	if l.Dir == "" {
		return known, nil
	}
	for _, name := range []string{earlier, filepath.Join(folder, file)} {
		data, err := readOwn(filepath.Join(l.Dir, name))
		if err != nil {
			return nil, err
		}
		for line := range strings.Lines(string(data)) {
			if digest, path, ok := strings.Cut(strings.TrimSuffix(line, "\n"), "  "); ok {
				known[path] = digest
			}
		}
	}
	return known, nil
}

// readOwn reads a list that nobody else could have written; none is empty.
func readOwn(path string) ([]byte, error) {
	for _, p := range []string{filepath.Dir(path), path} {
		if err := owner.Check(p); errors.Is(err, fs.ErrNotExist) {
			return nil, nil
		} else if others, ok := errors.AsType[*owner.Error](err); ok {
			return nil, &abi.Error{Code: abi.CodeUsage, Op: "config", Message: others.Error() + ": what it trusts is not taken",
				Hint: "look at it; " + others.Fix + "; or name the configuration with --config"}
		} else if err != nil {
			return nil, err
		}
	}
	return os.ReadFile(path)
}

// lockRetry is how long to wait before trying again for a lock that is held.
const lockRetry = 5 * time.Millisecond

// Add puts a configuration on the list, as it is now. One process at a time does.
func (l List) Add(ctx context.Context, c *config.Config) error {
	if l.Dir == "" {
		return ui.Usagef("config trust: this machine names no home folder: name the configuration with --config instead")
	}
	path, err := place(c.File)
	if err != nil {
		return err
	}
	if strings.ContainsAny(path, "\n\r") {
		return ui.Usagef("config trust: %q: a path with a line break", path)
	}
	dir := filepath.Join(l.Dir, folder)
	if err := errors.Join(owner.Private(l.Dir), owner.Private(dir)); err != nil {
		return err
	}
	held := flock.New(filepath.Join(dir, lock), flock.SetPermissions(0o600))
	if _, err := held.TryLockContext(ctx, lockRetry); err != nil && !errors.Is(err, errors.ErrUnsupported) {
		return err
	}
	defer held.Close()
	return l.add(dir, path, c.Digest)
}

func (l List) add(dir, path, digest string) error {
	known, err := l.trusted()
	if err != nil {
		return err
	}
	known[path] = digest
	var lines strings.Builder
	for _, path := range slices.Sorted(maps.Keys(known)) {
		fmt.Fprintf(&lines, "%s  %s\n", known[path], path)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	atomicfile.Sweep(root, 0) // nobody else writes now
	return atomicfile.Write(root, file, []byte(lines.String()), 0o600)
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
