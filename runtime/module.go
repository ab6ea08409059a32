package runtime

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/runtime/internal/host"
	"github.com/kagewasm/kagewasm/runtime/internal/wasm"
)

// Module is a plugin that was read and not loaded yet: its bytes are a
// WebAssembly module, and its manifest is valid. It never changes, and can be
// loaded many times.
type Module struct {
	bin      []byte
	wasm     *wasm.Module
	digest   string
	manifest *abi.Manifest
	source   string // of the manifest
}

// Open reads a module. Where the module has no manifest, it becomes an observer
// of the hooks it exports, named after its digest. The caller must not change
// the bytes afterwards.
//
// Errors are of code refused (the module) or bad_input (its manifest).
func Open(bin []byte) (*Module, error) { return open(bin, "") }

// OpenFile reads the module in a file. A module without a manifest has it
// beside, in NAME.plugin.yaml for NAME.wasm, which sidecar reads; nil looks for
// none. Where there is none either, it is an observer named after the file.
//
// Errors are those of [Open] and sidecar, and of code usage where the file cannot
// be read.
func OpenFile(path string, sidecar func(path string, doc []byte) (*abi.Manifest, error)) (*Module, error) {
	bin, err := readLimited(path, wasm.MaxBytes)
	if err != nil {
		return nil, &abi.Error{
			Code: abi.CodeUsage, Op: "load", Phase: abi.PhaseLoad, Message: reason(path, err),
			Hint: "name a .wasm file that can be read", Err: err,
		}
	}
	base := strings.TrimSuffix(path, filepath.Ext(path))
	m, err := open(bin, fileName(filepath.Base(base)))
	if err != nil || m.source != manifestNone || sidecar == nil {
		return m, err
	}
	path = base + abi.SidecarSuffix
	doc, err := readLimited(path, maxManifest)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return m, nil
	case err != nil:
		return nil, &abi.Error{Code: abi.CodeBadInput, Op: "manifest", Phase: abi.PhaseLoad, Message: err.Error(), Err: err}
	}
	m.source = manifestGiven
	if m.manifest, err = sidecar(path, doc); err != nil {
		return nil, err
	}
	return m, nil
}

// reason says why a file cannot be read, without the system's call.
func reason(path string, err error) string {
	if at, ok := errors.AsType[*fs.PathError](err); ok {
		return path + ": " + at.Err.Error()
	}
	return err.Error()
}

// open reads a module that is called name, or after its digest, where it does not
// name itself.
func open(bin []byte, name string) (*Module, error) {
	parsed, err := wasm.Parse(bin)
	if err != nil {
		return nil, refused("load", name, err)
	}
	sum := sha256.Sum256(bin)
	m := &Module{bin: bin, wasm: parsed, digest: "sha256:" + hex.EncodeToString(sum[:]), source: manifestInside}
	if m.manifest, err = sectionManifest(bin, parsed); err != nil {
		return nil, err
	}
	if m.manifest == nil {
		name = cmp.Or(name, "plugin-"+m.digest[len("sha256:"):][:12])
		m.source = manifestNone
		m.manifest = &abi.Manifest{
			Name: name, ABI: abi.Version, Roles: []abi.PluginRole{abi.RoleObserver}, Hooks: hooksOf(parsed),
		}
	}
	return m, nil
}

// Manifest returns what the module says about itself. The caller must not change it.
func (m *Module) Manifest() *abi.Manifest { return m.manifest }

// Digest returns "sha256:" and the hex digest of the module's bytes.
func (m *Module) Digest() string { return m.digest }

// readLimited reads a file, and one byte more than allowed at most: what is too
// long is refused later, in better words.
func readLimited(path string, limit int64) ([]byte, error) {
	info, err := os.Stat(path) // to open a pipe is to wait for who writes to it
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s: not a regular file", path)
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	room := make([]byte, min(info.Size(), limit)+bytes.MinRead) // else it is copied as it grows
	host.WrittenSoon(room, 0, len(room))
	b := bytes.NewBuffer(room[:0])
	_, err = b.ReadFrom(io.LimitReader(f, limit+1))
	return b.Bytes(), err
}

// fileName turns a file's name into a plugin's.
func fileName(base string) string {
	name := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' || r == '-' || r == '_' {
			return r
		}
		return '-'
	}, strings.ToLower(base))
	name = strings.TrimLeft(name, "-_")
	return name[:min(len(name), 64)]
}
