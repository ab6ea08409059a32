package main

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// environment is that of programs which share a state folder, and the user whose it is.
func environment(home string) []string {
	own := filepath.Join(filepath.Dir(home), "own")
	return append(os.Environ(), asProgram+"=1", "XDG_STATE_HOME="+own, "HOME="+own)
}

// runOn runs a command on a state folder.
func runOn(t *testing.T, home string, args ...string) (code int, said string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0], append(args, "--state", home)...)
	cmd.Env = environment(home)
	out, err := cmd.CombinedOutput()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		return exit.ExitCode(), string(out)
	}
	return 0, string(out)
}
