// Package named finds plugins that are called by a name in place of a file: in the folder of a user's own plugins, and
// inside the program, where a release has the reference plugins. [Shelf.Open] is the way to open any plugin.
package named

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/klauspost/compress/zstd"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/near"
	"github.com/kagewasm/kagewasm/internal/pluginyaml"
	"github.com/kagewasm/kagewasm/runtime"
)

// Folder is where a user's own plugins are kept, below the platform's state folder.
const Folder = "plugins"

// Is reports whether a plugin is called by its name: everything else, with a dot or a separator in it, is a path. A
// file that lies about and has such a name is never taken for it.
func Is(ref string) bool { return abi.ValidName(ref) }

// Shelf is where plugins stand by their names. A user's own go before those in the program.
type Shelf struct {
	// Dir has the user's own, NAME.wasm. Empty: there are none.
	Dir string
	// Inside are those in the program, NAME.wasm.zst. Default: those that it was built with.
	Inside fs.FS
}

// Plugin is a plugin that stands there.
type Plugin struct {
	Name        string `json:"name"`
	Version     string `json:"version,omitempty"`
	Description string `json:"description,omitempty"`
	Digest      string `json:"digest,omitempty"`
	// From is the file, or "inside" for those in the program.
	From string `json:"from"`
	// Error says why it cannot be used.
	Error string `json:"error,omitempty"`
}

// Open opens a plugin by its name or its path. Errors are those of [runtime.OpenFile], and of code usage where no
// plugin has that name.
func (s Shelf) Open(ref string) (*runtime.Module, error) {
	if !Is(ref) {
		return runtime.OpenFile(ref, pluginyaml.Parse)
	}
	m, err := s.own(ref)
	if errors.Is(err, fs.ErrNotExist) {
		m, err = s.inside(ref)
	}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, s.unknown(ref)
	case err != nil:
		return nil, err
	case m.Manifest().Name != ref:
		return nil, usage("plugin "+ref+": what is kept under that name is the plugin "+m.Manifest().Name,
			"keep it under its own name")
	}
	return m, nil
}

// own opens a plugin of the user's own.
func (s Shelf) own(name string) (*runtime.Module, error) {
	if s.Dir == "" {
		return nil, fs.ErrNotExist
	}
	path := filepath.Join(s.Dir, name+".wasm")
	if _, err := os.Stat(path); err != nil {
		return nil, err
	}
	return runtime.OpenFile(path, pluginyaml.Parse)
}

// maxModule is how large a module in the program is at most, in bytes.
const maxModule = 64 << 20

// inside opens a plugin of the program.
func (s Shelf) inside(name string) (*runtime.Module, error) {
	packed, err := fs.ReadFile(s.files(), name+suffix)
	if err != nil {
		return nil, err
	}
	z, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(maxModule))
	if err != nil {
		return nil, err
	}
	defer z.Close()
	bin, err := z.DecodeAll(packed, nil)
	if err != nil {
		return nil, fmt.Errorf("plugin %s: %w", name, err)
	}
	return runtime.Open(bin)
}

// suffix is that of a plugin in the program.
const suffix = ".wasm.zst"

func (s Shelf) files() fs.FS {
	if s.Inside != nil {
		return s.Inside
	}
	return inside
}

// Names are the names that there are.
func (s Shelf) Names() []string {
	var names []string
	add := func(list []fs.DirEntry, suffix string) {
		for _, f := range list {
			if name, ok := strings.CutSuffix(f.Name(), suffix); ok && Is(name) {
				names = append(names, name)
			}
		}
	}
	if s.Dir != "" {
		list, _ := os.ReadDir(s.Dir) // none where there is no such folder
		add(list, ".wasm")
	}
	list, _ := fs.ReadDir(s.files(), ".")
	add(list, suffix)
	slices.Sort(names)
	return slices.Compact(names)
}

// List describes the plugins that there are.
func (s Shelf) List() []Plugin {
	list := []Plugin{}
	for _, name := range s.Names() {
		p := Plugin{Name: name, From: filepath.Join(s.Dir, name+".wasm")}
		if _, err := os.Stat(p.From); s.Dir == "" || err != nil {
			p.From = "inside"
		}
		if m, err := s.Open(name); err != nil {
			p.Error = err.Error()
		} else {
			p.Version, p.Description, p.Digest = m.Manifest().Version, m.Manifest().Description, m.Digest()
		}
		list = append(list, p)
	}
	return list
}

// unknown is the error of a name that no plugin has.
func (s Shelf) unknown(name string) error {
	names := s.Names()
	meant := near.To(name, names, 1)
	says := "no plugin is called " + name + ": there are " + strings.Join(names, ", ")
	if len(names) == 0 {
		says = "no plugin is called " + name + ", and none has a name here"
	}
	hint := "a file is named by its path: ./" + name + ".wasm"
	switch {
	case meant != nil:
		says += "; did you mean " + meant[0] + "?"
	case s.Dir != "":
		hint += "; kagewasm build DIR -o " + filepath.Join(s.Dir, name+".wasm") + " gives a plugin its name here"
	}
	if list, _ := fs.ReadDir(s.files(), "."); len(list) == 0 {
		hint += "; releases have the reference plugins inside, and this program was built without them"
	}
	return usage(says, hint)
}

func usage(message, hint string) error {
	return &abi.Error{Code: abi.CodeUsage, Op: "load", Phase: abi.PhaseLoad, Message: message, Hint: hint}
}
