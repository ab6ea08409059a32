package plug_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestRivalsInOpenCode: whatever says what opencode's model sees is found where opencode loads it from.
func TestRivalsInOpenCode(t *testing.T) {
	const rival = "export const Other = async () => ({ \"experimental.chat.messages.transform\": async () => {} })\n"
	for _, c := range []struct {
		why, file, settings string
		names               string // what is told; empty for nothing
	}{
		{why: "a file in plugins", file: ".config/opencode/plugins/theirs.ts", names: "theirs.ts"},
		{why: "a file in plugin", file: ".config/opencode/plugin/theirs.ts", names: "theirs.ts"},
		{why: "a file of the settings", file: ".config/opencode/mine.ts", settings: `{"plugin": ["./mine.ts"],}`,
			names: "./mine.ts in"},
		{why: "one with options", file: ".config/opencode/mine.ts", settings: `{"plugin": [["./mine.ts", {"a": 1}]]}`,
			names: "./mine.ts in"},
		{why: "a package that was loaded", file: ".cache/opencode/packages/x@1.0.0/node_modules/x/index.js",
			settings: `{"plugin": ["x@1.0.0"]}`, names: "x@1.0.0 in"},
		{why: "a package of a scope", file: ".cache/opencode/packages/@a/x@latest/node_modules/@a/x/index.js",
			settings: `{"plugin": ["@a/x"]}`, names: "@a/x in"},
		{why: "a package that is known", file: ".config/opencode/none", settings: `{"plugin": ["@t/opencode-dcp@3"]}`,
			names: "@t/opencode-dcp@3 in"},
		{why: "a package that nobody names", file: ".cache/opencode/packages/x@1/node_modules/x/index.js",
			settings: `{"plugin": ["y"]}`},
	} {
		t.Run(c.why, func(t *testing.T) {
			home, _ := homeWith(t, c.file, rival)
			if c.settings != "" {
				folder := filepath.Join(home, ".config", "opencode")
				if err := os.MkdirAll(folder, 0o755); err != nil {
					t.Fatal(err)
				}
				write(t, filepath.Join(folder, "opencode.jsonc"), c.settings)
			}
			rivals := planOf(t, "opencode", home, "").Rivals
			if got := strings.Join(rivals, "|"); (got != "") != (c.names != "") || !strings.Contains(got, c.names) {
				t.Errorf("%q, want %q", got, c.names)
			}
		})
	}
}
