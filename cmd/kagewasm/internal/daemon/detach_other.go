//go:build !unix

package daemon

import "os/exec"

func detach(*exec.Cmd) {}
