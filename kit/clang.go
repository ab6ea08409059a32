package kit

import (
	"context"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/kagewasm/kagewasm/internal/lists"
)

const installClang = "apt-get install clang lld wasi-libc (Debian, Ubuntu), or put the bin folder of wasi-sdk in " +
	"front of the path"

// clang builds C plugins: all C files of the folder, as one reactor.
var clang = language{
	sign:     "*.c",
	compiler: "clang",
	install:  installClang,
	command: func(ctx context.Context, tool, dir, out string) (*exec.Cmd, error) {
		sources, err := cFiles(dir)
		if err != nil {
			return nil, err
		}
		args := []string{
			"--target=wasm32-wasi", "-mexec-model=reactor", "-std=c11", "-Os", "-Wall", "-Werror=implicit-function-declaration",
			"-Wl,--strip-debug", "-o", out,
		}
		args = append(args, sources...)
		// Distributions package the compiler's own library apart, and most
		// plugins need nothing of it.
		args = append(args, "-nodefaultlibs", "-lc")
		if builtins := clangBuiltins(ctx, tool); builtins != "" {
			args = append(args, builtins)
		}
		cmd := exec.CommandContext(ctx, tool, args...)
		cmd.Env = pathAlone()
		return cmd, nil
	},
	explain: func(dir, said string) (message, hint string) {
		switch {
		case containsAny(said, "undefined symbol: __"):
			hint = "a function of the compiler's own library: apt-get install libclang-rt-dev-wasm32 (Debian, Ubuntu), or " +
				"do without strtol, strtod and long double"
		case containsAny(said, "undefined symbol"):
			said = withPlaces(said, dir, undefinedSymbols(said), ".c", ".h")
			hint = "define the function, or take the call out: a plugin links against the C library alone"
		case containsAny(said, notExported):
			hint = "write it as KW_HOOK(NAME) { ... }, which exports it, or take it out of hooks in " + ManifestFile
		case containsAny(said, "wasm-ld", "crt1-reactor.o", "bits/libc-header-start.h", "nable to create target",
			"No available targets"):
			hint = installClang
		}
		return said, hint
	},
}

// undefinedSymbols are the functions that the linker does not find.
func undefinedSymbols(said string) (names []string) {
	for line := range strings.Lines(said) {
		if _, name, ok := strings.Cut(line, "undefined symbol: "); ok {
			names = append(names, strings.TrimSpace(name))
		}
	}
	return names
}

// cFiles are the C files of a folder by name, sorted.
func cFiles(dir string) ([]string, error) {
	entries, err := os.ReadDir(dir)
	sources := lists.Filter(entries, func(e fs.DirEntry) bool { return filepath.Ext(e.Name()) == ".c" })
	return lists.Map(sources, func(e fs.DirEntry) string { return "./" + e.Name() }), err
}

// clangBuiltins is the path of the compiler's own library for wasm32, empty
// where it is not installed.
func clangBuiltins(ctx context.Context, tool string) string {
	out, err := exec.CommandContext(ctx, tool, "--target=wasm32-wasi", "--rtlib=compiler-rt",
		"-print-libgcc-file-name").Output()
	path := strings.TrimSpace(string(out))
	if _, statErr := os.Stat(path); err != nil || statErr != nil {
		return ""
	}
	return path
}
