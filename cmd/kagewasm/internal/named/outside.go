//go:build !plugins

package named

import "embed"

// inside is empty: only releases have plugins inside.
var inside embed.FS
