// Package plugintest loads plugins in tests: [Load] and [LoadFile] open a module
// and load it in one step, and [GrantAll] grants whatever it asks for.
package plugintest

import (
	"context"
	"slices"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/pluginyaml"
	"github.com/kagewasm/kagewasm/runtime"
)

// Load opens and loads the module of these bytes.
func Load(ctx context.Context, r *runtime.Runtime, bin []byte, o runtime.PluginOptions) (*runtime.Plugin, error) {
	m, err := runtime.Open(bin)
	if err != nil {
		return nil, err
	}
	return r.Load(ctx, m, o)
}

// LoadFile opens and loads the module in a file.
func LoadFile(ctx context.Context, r *runtime.Runtime, path string, o runtime.PluginOptions) (*runtime.Plugin, error) {
	m, err := runtime.OpenFile(path, pluginyaml.Parse)
	if err != nil {
		return nil, err
	}
	return r.Load(ctx, m, o)
}

// GrantAll is everything that a manifest asks for.
func GrantAll(m *abi.Manifest) runtime.Grants {
	var g runtime.Grants
	for c, req := range m.Capabilities {
		if c == abi.CapHTTP {
			g.HTTP = slices.Clone(req.Hosts)
		} else if err := g.Grant(c); err != nil {
			panic(err)
		}
	}
	return g
}
