//go:build !linux

package sandbox

import "errors"

// memoryFile is nothing here: memories are copied.
type memoryFile struct{}

func newMemoryFile([]byte, int, int) (*memoryFile, error) { return nil, errors.ErrUnsupported }

func (*memoryFile) restore(*linear, int) error { return errors.ErrUnsupported }

func (*memoryFile) used(*linear, int) {}

func (*memoryFile) close() {}
