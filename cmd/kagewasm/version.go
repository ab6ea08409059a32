package main

import (
	goruntime "runtime"
	"runtime/debug"

	"github.com/spf13/cobra"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/cmd/kagewasm/internal/ui"
	"github.com/kagewasm/kagewasm/tokens"
)

type versionInfo struct {
	Version  string `json:"version"`
	Revision string `json:"revision,omitempty"`
	ABI      int    `json:"abi"`
	Go       string `json:"go"`
	Platform string `json:"platform"`
	// Catalog is the day the model catalog is of.
	Catalog string            `json:"catalog"`
	Modules map[string]string `json:"modules,omitempty"`
}

func newVersion(e env) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "version",
		Short: "Say which kagewasm this is",
		Args:  exactArgs(),
		RunE: func(*cobra.Command, []string) error {
			v := readVersion()
			v.Catalog = tokens.Default().AsOf()
			return show(e, asJSON, v, func(p ui.Printer, v versionInfo) {
				p.Linef("kagewasm %s (abi %d, %s, %s)", v.Version, v.ABI, v.Go, v.Platform)
				p.Linef("model catalog of %s", v.Catalog)
			})
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

// readVersion leaves the catalog out: every command asks for the version, and few need to read that.
func readVersion() versionInfo {
	v := versionInfo{Version: "devel", ABI: abi.Version, Go: goruntime.Version(),
		Platform: goruntime.GOOS + "/" + goruntime.GOARCH}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return v
	}
	if info.Main.Version != "" && info.Main.Version != "(devel)" {
		v.Version = info.Main.Version
	}
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" {
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
