package abitest

import (
	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/pluginyaml"
)

// ReadManifest reads the plugin.yaml at path, so that a test holds the plugin to
// what it says of itself. Errors are of code bad_input and name the line and
// column, or of code usage where the file cannot be read.
func ReadManifest(path string) (*abi.Manifest, error) { return pluginyaml.Read(path) }
