//go:build !unix

package state

import "net"

// ListenSocket listens on a Unix socket. Who can open it is up to the folder it lies in.
func ListenSocket(path string) (net.Listener, error) { return net.Listen("unix", path) }
