package kit

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"os"
	"path/filepath"
	"strings"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/atomicfile"
	"github.com/kagewasm/kagewasm/internal/pluginyaml"
	"github.com/kagewasm/kagewasm/runtime"
)

// Embed puts a manifest into a module that is already compiled, in any
// language, and checks that the runtime accepts it. out is as in [Options]; it
// may be the module itself. Errors are as in [Build].
func Embed(ctx context.Context, wasmFile, manifestFile, out string) (Result, error) {
	m, err := pluginyaml.Read(manifestFile)
	if err != nil {
		return Result{}, err
	}
	wasm, err := os.ReadFile(wasmFile)
	if err != nil {
		return Result{}, usage("build", m.Name, err.Error(), "name the module that your compiler wrote", err)
	}
	return finish(ctx, wasm, m, out)
}

// finish embeds, checks and writes.
func finish(ctx context.Context, wasm []byte, m *abi.Manifest, out string) (Result, error) {
	wasm, err := runtime.EmbedManifest(wasm, m)
	if err != nil {
		return Result{}, err
	}
	if err := vet(ctx, wasm); err != nil {
		return Result{}, err
	}
	path := outPath(out, m.Name)
	if data, err := os.ReadFile(path); err == nil && len(data) > 0 && !bytes.HasPrefix(data, []byte("\x00asm")) {
		return Result{}, usage("build", m.Name, path+" is no WebAssembly module, and would be overwritten",
			"name another file, or a folder", nil)
	}
	if err := writeFile(path, wasm); err != nil {
		return Result{}, usage("build", m.Name, err.Error(), "name a file or a folder that can be written", err)
	}
	sum := sha256.Sum256(wasm)
	return Result{Path: path, Digest: "sha256:" + hex.EncodeToString(sum[:]), Size: len(wasm), Manifest: m}, nil
}

// vet loads the module as a host would, without compiling it: imports, the
// exports that the manifest's hooks need, their handlers, static limits.
func vet(ctx context.Context, wasm []byte) error {
	module, err := runtime.Open(wasm)
	if err != nil {
		return err
	}
	r, err := runtime.New(ctx, runtime.Options{Interpreter: true})
	if err != nil {
		return err
	}
	p, err := r.Load(ctx, module, runtime.PluginOptions{})
	if err == nil {
		err = checkHandlers(ctx, p)
	}
	return errors.Join(err, r.Close(ctx))
}

func outPath(out, name string) string {
	file := name + ".wasm"
	if out == "" {
		return file
	}
	if info, err := os.Stat(out); err == nil && info.IsDir() || strings.HasSuffix(out, string(filepath.Separator)) {
		return filepath.Join(out, file)
	}
	return out
}

// writeFile replaces a file in one step: a host that watches it never sees half a
// module.
func writeFile(path string, data []byte) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		return err
	}
	return atomicfile.WriteFile(path, data, 0o666)
}
