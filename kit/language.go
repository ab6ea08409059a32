package kit

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/pluginyaml"
)

// language knows how to compile plugins of one language.
type language struct {
	// sign is a pattern for a file that only folders of the language have.
	sign string
	// compiler is the program that is run, and install what to do where it is
	// missing.
	compiler, install string
	// command makes the command that writes the module of the folder dir to out.
	// tool is the path of the compiler. The command runs in dir.
	command func(ctx context.Context, tool, dir, out string) (*exec.Cmd, error)
	// explain returns what the compiler said, or why the module was refused, in
	// words for the author, with the places in the source where it has none. The
	// hint is empty where that says enough.
	explain func(dir, said string) (message, hint string)
}

// languages are those a folder is built in, the first whose sign is there.
var languages = []*language{&golang, &assemblyScript, &clang}

func languageOf(dir string) (*language, error) {
	for _, l := range languages {
		if found, _ := filepath.Glob(filepath.Join(escapePattern(dir), l.sign)); len(found) > 0 {
			return l, nil
		}
	}
	return nil, usage("build", "", fmt.Sprintf("%s: no source of a plugin in it", dir),
		"Go files, an asconfig.json (AssemblyScript) or C files; of other languages build the module yourself, and give "+
			"it to kagewasm build", nil)
}

// escapePattern makes a folder's name stand for itself in a pattern.
func escapePattern(dir string) string {
	return strings.NewReplacer(`[`, `\[`, `*`, `\*`, `?`, `\?`).Replace(dir)
}

// run runs the compiler.
func (l *language) run(ctx context.Context, o Options, plugin, out string) error {
	name := cmp.Or(o.Compiler, l.compiler)
	tool, err := exec.LookPath(name)
	if err != nil {
		return usage("build", plugin, fmt.Sprintf("the %s command: not found", name), l.install, err)
	}
	cmd, err := l.command(ctx, tool, o.Dir, out)
	if err != nil {
		return usage("build", plugin, err.Error(), l.install, err)
	}
	cmd.Args = append(cmd.Args, o.Flags...)
	cmd.Dir = o.Dir
	var output bytes.Buffer
	cmd.Stdout, cmd.Stderr = &output, &output
	if err := cmd.Run(); err != nil {
		return l.compileError(ctx, plugin, o.Dir, strings.TrimSpace(output.String()), err)
	}
	return nil
}

func (l *language) compileError(ctx context.Context, plugin, dir, output string, err error) error {
	if ctx.Err() != nil {
		return &abi.Error{Code: abi.CodeCanceled, Op: "build", Plugin: plugin, Message: ctx.Err().Error(), Err: ctx.Err()}
	}
	message, hint := l.explain(dir, cmp.Or(output, err.Error()))
	return &abi.Error{Code: abi.CodeBadInput, Op: "build", Plugin: plugin, Message: message, Hint: hint, Err: err}
}

// refusal says where in the source or in the manifest a refusal of the module comes from.
func (l *language) refusal(dir string, err error) error {
	if abi.CodeOf(err) != abi.CodeRefused {
		return err
	}
	e := *abi.AsError(err)
	message, hint := l.explain(dir, e.Message)
	if place := pluginyaml.HookPlace(filepath.Join(dir, ManifestFile), e.Hook); place != "" {
		message = ManifestFile + ":" + place + ": " + message
	}
	e.Message, e.Hint = message, cmp.Or(hint, e.Hint)
	return &e
}

// notExported is how the runtime refuses a hook of the manifest that is no export.
const notExported = "which the module does not export"

func containsAny(s string, parts ...string) bool {
	return slices.ContainsFunc(parts, func(p string) bool { return strings.Contains(s, p) })
}
