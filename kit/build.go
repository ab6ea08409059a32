package kit

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/runtime"
)

// ManifestFile is the name of the manifest beside a plugin's source.
const ManifestFile = "plugin.yaml"

// Options say what to build. The zero value builds the current folder.
type Options struct {
	// Dir is the folder of a Go main package with a plugin.yaml. Default: the
	// current folder.
	Dir string
	// Out is the file to write, or a folder to write it in. Default:
	// NAME.wasm, after the manifest's name, in the current folder.
	Out string
	// Go is the go command. Default: the one in the path.
	Go string
	// Flags go to go build behind the kit's own.
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
// runtime accepts it. The same source and Go version give the same bytes,
// wherever the folder lies. Function names stay in the module for stack
// traces.
//
// Errors are *abi.Error: CodeUsage where there is no plugin or no Go,
// CodeBadInput where the manifest or the source is wrong (the compiler's words
// are the message), CodeRefused where the runtime would not load the module.
func Build(ctx context.Context, o Options) (Result, error) {
	if o.Dir == "" {
		o.Dir = "."
	}
	m, err := readManifest(o.Dir)
	if err != nil {
		return Result{}, err
	}
	wasm, err := compile(ctx, o, m)
	if err != nil {
		return Result{}, err
	}
	return finish(ctx, wasm, m, o.Out)
}

func readManifest(dir string) (*abi.Manifest, error) {
	path := filepath.Join(dir, ManifestFile)
	data, err := os.ReadFile(path)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return nil, usage("", fmt.Sprintf("%s: not found", path),
			"name a folder with a plugin in it; a plugin.yaml says at least name, version, abi: 1 and hooks: [pre_compact]", err)
	case err != nil:
		return nil, usage("", err.Error(), "", err)
	}
	return runtime.ParseManifestYAML(path, data)
}

// compile runs the Go compiler and returns the module.
func compile(ctx context.Context, o Options, m *abi.Manifest) ([]byte, error) {
	if o.Go == "" {
		o.Go = "go"
	}
	tool, err := exec.LookPath(o.Go)
	if err != nil {
		return nil, usage(m.Name, "the go command: not found", "install Go 1.24 or later (go.dev/dl) and see that it is in the path; for other languages embed the manifest into the module your compiler writes", err)
	}
	temp, err := os.MkdirTemp("", "kagewasm-build-")
	if err != nil {
		return nil, fault(m.Name, err)
	}
	defer os.RemoveAll(temp)
	file := filepath.Join(temp, "plugin.wasm")
	args := append([]string{"build", "-buildmode=c-shared", "-trimpath", "-buildvcs=false", "-ldflags=-buildid=", "-o", file}, o.Flags...)
	cmd := exec.CommandContext(ctx, tool, append(args, ".")...)
	cmd.Dir = o.Dir
	cmd.Env = append(cmd.Environ(), "GOOS=wasip1", "GOARCH=wasm")
	var output bytes.Buffer
	cmd.Stdout, cmd.Stderr = &output, &output
	if err := cmd.Run(); err != nil {
		return nil, compileError(ctx, m.Name, o.Dir, output.String(), err)
	}
	wasm, err := os.ReadFile(file)
	if err != nil {
		return nil, fault(m.Name, err)
	}
	return wasm, nil
}

func compileError(ctx context.Context, plugin, dir, output string, err error) error {
	if ctx.Err() != nil {
		return &abi.Error{Code: abi.CodeCanceled, Op: "build", Plugin: plugin, Message: ctx.Err().Error(), Err: ctx.Err()}
	}
	output = strings.TrimSpace(output)
	e := &abi.Error{Code: abi.CodeBadInput, Op: "build", Plugin: plugin, Message: output, Err: err}
	switch {
	case output == "":
		e.Message = err.Error()
	case strings.Contains(output, "no Go files"), strings.Contains(output, "requires exactly one main package"):
		e.Hint = fmt.Sprintf("%s has to be a Go main package; for other languages embed the manifest into the module your compiler writes", dir)
	case strings.Contains(output, "go.mod file not found"), strings.Contains(output, "no required module provides"):
		e.Hint = "a plugin needs a go.mod that requires github.com/kagewasm/kagewasm: run go mod init and go mod tidy in " + dir
	}
	return e
}

func usage(plugin, message, hint string, err error) error {
	return &abi.Error{Code: abi.CodeUsage, Op: "build", Plugin: plugin, Message: message, Hint: hint, Err: err}
}

func fault(plugin string, err error) error {
	return &abi.Error{Code: abi.CodeInternal, Op: "build", Plugin: plugin, Message: err.Error(), Err: err}
}
