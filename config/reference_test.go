package config_test

import (
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/kagewasm/kagewasm/config"
	"github.com/kagewasm/kagewasm/internal/shared"
)

var update = flag.Bool("update", false, "write docs/configuration.md again")

// TestReference: the documentation of the settings is that of this release.
func TestReference(t *testing.T) {
	path := filepath.Join(shared.Root(t), "docs", "configuration.md")
	if *update {
		write(t, path, string(config.Reference()))
	}
	if got, err := os.ReadFile(path); err != nil || string(got) != string(config.Reference()) {
		t.Errorf("%s is not what the settings say (%v): run go test ./config -update", path, err)
	}
}
