package kit

import (
	"context"
	"os/exec"
)

// golang builds Go plugins: a main package that imports abi/guest.
var golang = language{
	sign:     "*.go",
	compiler: "go",
	install:  "install Go 1.24 or later (go.dev/dl) and see that it is in the path",
	command: func(ctx context.Context, tool, _, out string) (*exec.Cmd, error) {
		cmd := exec.CommandContext(ctx, tool, "build", "-buildmode=c-shared", "-trimpath", "-buildvcs=false",
			"-ldflags=-buildid=", "-o", out)
		cmd.Env = append(cmd.Environ(), "GOOS=wasip1", "GOARCH=wasm")
		return cmd, nil
	},
	explain: func(dir, said string) (message, hint string) {
		switch {
		case containsAny(said, "no Go files", "requires exactly one main package"):
			hint = dir + " must be a Go main package"
		case containsAny(said, "go.mod file not found", "no required module provides"):
			hint = "a plugin needs a go.mod that requires github.com/kagewasm/kagewasm: kagewasm new writes one"
		}
		return said, hint
	},
}
