package kit

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
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
	advice: func(_, output string) string {
		if containsAny(output, "Cannot find package", "Cannot find module", "ERR_MODULE_NOT_FOUND", "TS6054: File '~lib/") {
			return "run npm ci in the folder of the plugin"
		}
		return ""
	},
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
