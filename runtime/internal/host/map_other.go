//go:build !linux && !darwin

package host

import "os"

// Map returns nil: memory lies on Go's heap here.
func Map(int) []byte { return nil }

// MapFile returns nil: files are read here.
func MapFile(*os.File, int) []byte { return nil }

// Unmap does nothing.
func Unmap([]byte) {}
