package kit

import (
	"cmp"
	"context"
	"os"
	"path/filepath"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/pluginyaml"
)

// ManifestFile is the name of the manifest beside a plugin's source.
const ManifestFile = "plugin.yaml"

// Options say what to build. The zero value builds the current folder.
type Options struct {
	// Dir is the folder of a plugin: its source and a plugin.yaml. Default: the
	// current folder.
	Dir string
	// Out is the file to write, or a folder to write it in. Default:
	// NAME.wasm, after the manifest's name, in the current folder.
	Out string
	// Compiler is the program to run instead of the language's own (go, node
	// for AssemblyScript, clang), which is looked for in the path.
	Compiler string
	// Flags go to the compiler after the kit's own.
	Flags []string
}

// Result is a module that was written.
type Result struct {
	Path     string        `json:"path"`
	Digest   string        `json:"digest"` // "sha256:" and 64 hex digits
	Size     int           `json:"size"`   // in bytes
	Manifest *abi.Manifest `json:"manifest"`
}

// Build compiles a plugin, puts its manifest inside, and checks that the
// runtime accepts it. The language is told by what is in the folder: Go files,
// an asconfig.json (AssemblyScript), or C files. The same source and compiler
// give the same bytes, wherever the folder lies. Function names stay in the
// module for stack traces.
//
// Nothing is installed and no script of the folder is run, only the compiler:
// of an AssemblyScript plugin that is the one in its node_modules.
//
// Errors are *abi.Error: CodeUsage where there is no plugin or no compiler,
// CodeBadInput where the manifest or the source is wrong (the compiler's words
// are the message), CodeRefused where the runtime would not load the module.
func Build(ctx context.Context, o Options) (Result, error) {
	o.Dir = cmp.Or(o.Dir, ".")
	m, err := pluginyaml.Read(filepath.Join(o.Dir, ManifestFile))
	if err != nil {
		return Result{}, err
	}
	l, err := languageOf(o.Dir)
	if err != nil {
		return Result{}, err
	}
	wasm, err := l.compile(ctx, o, m.Name)
	if err != nil {
		return Result{}, err
	}
	r, err := finish(ctx, wasm, m, o.Out)
	return r, l.refusal(o.Dir, err)
}

// compile runs the compiler and returns the module.
func (l *language) compile(ctx context.Context, o Options, plugin string) ([]byte, error) {
	temp, err := os.MkdirTemp("", "kagewasm-build-")
	if err != nil {
		return nil, fault("build", plugin, err)
	}
	defer os.RemoveAll(temp)
	file := filepath.Join(temp, "plugin.wasm")
	if err := l.run(ctx, o, plugin, file); err != nil {
		return nil, err
	}
	wasm, err := os.ReadFile(file)
	if err != nil {
		return nil, fault("build", plugin, err)
	}
	return wasm, nil
}

// usage makes an error about what was asked for, with what to do about it. An empty
// plugin is left out.
func usage(op, plugin, message, hint string, err error) error {
	return &abi.Error{Code: abi.CodeUsage, Op: op, Plugin: plugin, Message: message, Hint: hint, Err: err}
}

// fault is a failure of the machine: a disk, a folder.
func fault(op, plugin string, err error) error {
	return &abi.Error{Code: abi.CodeInternal, Op: op, Plugin: plugin, Message: err.Error(), Err: err}
}
