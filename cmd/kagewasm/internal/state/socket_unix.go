//go:build unix

package state

import (
	"errors"
	"fmt"
	"net"
	"os"
	"syscall"
	"time"
)

// ListenSocket listens on a Unix socket that the user of this process alone can open. One
// that a server left behind that was killed is replaced.
func ListenSocket(path string) (net.Listener, error) {
	if info, err := os.Lstat(path); err == nil {
		if info.Mode()&os.ModeSocket == 0 {
			return nil, errors.New("something else lies there")
		}
		if c, err := net.DialTimeout("unix", path, time.Second); err == nil {
			c.Close()
			return nil, errors.New("another server listens there")
		}
		if err := os.Remove(path); err != nil {
			return nil, err
		}
	}
	before := syscall.Umask(0o177) // there must be no moment in which others can connect
	l, err := net.Listen("unix", path)
	syscall.Umask(before)
	if errors.Is(err, syscall.EINVAL) {
		err = fmt.Errorf("%w: a path of a socket has at most some 100 bytes", err)
	}
	return l, err
}
