//go:build plugins

package named

import (
	"embed"
	"io/fs"
)

// modules are put there by an overlay: see internal/release.
//
//go:embed modules/*.wasm.zst
var modules embed.FS

// inside are the plugins that the program has inside.
var inside, _ = fs.Sub(modules, "modules")
