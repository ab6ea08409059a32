package kit

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// assemblyScript builds plugins with the compiler in the node_modules of their
// folder, or of one above it. Entry and options are those of asconfig.json:
// they are the author's, and asc alone gives the same bytes with them. What a
// script of package.json does, nobody could say.
var assemblyScript = language{
	sign:     "asconfig.json",
	compiler: "node",
	install:  "install Node.js 20 or later, and run npm ci in the folder of the plugin",
	command: func(ctx context.Context, tool, dir, out string) (*exec.Cmd, error) {
		asc, err := findASC(dir)
		if err != nil {
			return nil, err
		}
		cmd := exec.CommandContext(ctx, tool, asc, "--target", "release", "--noColors", "--outFile", out)
		cmd.Env = pathAlone()
		return cmd, nil
	},
	explain: func(dir, said string) (message, hint string) {
		switch {
		case containsAny(said, "Cannot find package", "Cannot find module", "ERR_MODULE_NOT_FOUND", "TS6054: File '~lib/"):
			hint = "run npm ci in the folder of the plugin"
		case containsAny(said, "Element 'assembly/kagewasm/abort' not found") && containsAny(said, "FAILURE 1 "):
			said = "asconfig.json has abort from ./kagewasm, which the plugin does not import, or which has none"
			hint = `import it in assembly/plugin.ts: import { Input, Output } from "./kagewasm"; or take abort, lib and use ` +
				"from what kagewasm new writes"
		case containsAny(said, notExported):
			hint = "write it as export function NAME(): i32 in the entry of asconfig.json, or take it out of hooks in " +
				ManifestFile
		case containsAny(said, "env."):
			said = withPlaces(said, dir, missingInSandbox(said), ".ts")
			hint = `there is no console, clock or chance in a plugin: log with hostCall("log", ...), and read the time of ` +
				"the input"
		}
		return said, hint
	},
}

// missingInSandbox is what a source calls to get the imports that a refusal names.
func missingInSandbox(said string) (calls []string) {
	for _, c := range []struct{ imported, call string }{
		{"env.seed", "Math.random"}, {"env.console.", "console"}, {"env.Date.", "Date"}, {"env.process.", "process"},
		{"env.performance.", "performance"}, {"env.crypto.", "crypto"}, {"env.trace", "trace"},
	} {
		if strings.Contains(said, c.imported) {
			calls = append(calls, c.call)
		}
	}
	return calls
}

// findASC looks for the compiler where node would.
func findASC(dir string) (string, error) {
	abs, err := filepath.Abs(dir)
	for err == nil {
		asc := filepath.Join(abs, "node_modules", "assemblyscript", "bin", "asc.js")
		if _, err := os.Stat(asc); err == nil {
			return asc, nil
		}
		above := filepath.Dir(abs)
		if above == abs {
			return "", fmt.Errorf("%s: the AssemblyScript compiler is not installed", dir)
		}
		abs = above
	}
	return "", err
}

// pathAlone is the environment of a compiler that nothing but its command line
// and its files should lead.
func pathAlone() []string { return []string{"PATH=" + os.Getenv("PATH")} }
