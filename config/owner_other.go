//go:build !unix

package config

import "io/fs"

// ofOthers is not known here.
func ofOthers(fs.FileInfo) bool { return false }
