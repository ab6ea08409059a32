//go:build unix

package daemon

import (
	"os/exec"
	"syscall"
)

// detach has a program go on when this one ends, with its terminal.
func detach(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} }
