package main

import (
	"cmp"
	goruntime "runtime"
	"runtime/debug"
	"strings"

	"github.com/spf13/cobra"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/cmd/kagewasm/internal/ui"
	"github.com/kagewasm/kagewasm/tokens"
)

// tag and commit are set by who builds a release: see internal/release.
var tag, commit string

type versionInfo struct {
	Version string `json:"version"`
	// Revision is the commit, where that is known.
	Revision string `json:"revision,omitempty"`
	ABI      int    `json:"abi"`
	Go       string `json:"go"`
	Platform string `json:"platform"`
	// Catalog is the day the model catalog is of.
	Catalog string `json:"catalog"`
	// Plugins have a name here.
	Plugins []string          `json:"plugins"`
	Modules map[string]string `json:"modules,omitempty"`
}

// build tells a build from others: a release by its version, what lies between two by its commit.
func (v versionInfo) build() string { return strings.TrimSpace(v.Version + " " + v.Revision) }

func newVersion(e env) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "version",
		Short: "Say which kagewasm this is",
		Args:  exactArgs(),
		RunE: func(*cobra.Command, []string) error {
			v := readVersion()
			v.Catalog, v.Plugins = tokens.Default().AsOf(), append([]string{}, e.named().Names()...)
			return show(e, asJSON, v, showVersion)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

func showVersion(p ui.Printer, v versionInfo) {
	p.Linef("kagewasm %s (abi %d, %s, %s)", v.Version, v.ABI, v.Go, v.Platform)
	if v.Revision != "" {
		p.Linef("commit %s", v.Revision)
	}
	p.Linef("model catalog of %s", v.Catalog)
	p.Linef("plugins by name: %s", cmp.Or(strings.Join(v.Plugins, ", "), "none"))
}

// readVersion leaves catalog and plugins out: every command asks for the version, and few need to read that.
func readVersion() versionInfo {
	v := versionInfo{Version: "devel", ABI: abi.Version, Go: goruntime.Version(),
		Platform: goruntime.GOOS + "/" + goruntime.GOARCH}
	v.Version, v.Revision = cmp.Or(tag, v.Version), commit
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return v
	}
	if tag == "" && info.Main.Version != "" && info.Main.Version != "(devel)" {
		v.Version = info.Main.Version
	}
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" && commit == "" {
			v.Revision = s.Value
		}
	}
	v.Modules = make(map[string]string)
	for _, m := range info.Deps {
		switch m.Path {
		case "github.com/tetratelabs/wazero", "github.com/extism/go-sdk", "github.com/goccy/go-json",
			"github.com/pkoukk/tiktoken-go":
			v.Modules[m.Path] = m.Version
		}
	}
	return v
}
