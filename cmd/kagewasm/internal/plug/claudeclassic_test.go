package plug_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/kagewasm/kagewasm/cmd/kagewasm/internal/plug"
)

// TestClassicHooks: the settings of a Claude Code without mods get two hooks, keep everything else as it is written,
// and lose nothing but those two again, also where the user or Claude Code itself has rewritten them meanwhile.
func TestClassicHooks(t *testing.T) {
	const mine = `{"hooks":{"PreCompact":[{"hooks":[{"type":"command","command":"mine"}]}]},"a":1}`
	for _, c := range []struct{ why, was, rewritten, left string }{
		{"no settings", "", "", ""},
		{"settings without hooks, white space kept", "{\n  \"model\" : \"opus\"\n}", "", "{\n  \"model\" : \"opus\"\n}"},
		{"somebody else's hook of the same event", mine, "", mine},
		{"empty settings of the user's", `{"hooks": {"PreCompact": []}}`, "", `{"hooks": {"PreCompact": []}}`},
		{"and so they are where Claude Code rewrote them", `{"hooks":{"PreCompact":[]}}`, `"b":2,`,
			`{"b":2,"hooks":{"PreCompact":[]}}`},
		{"Claude Code rewrote them with one more setting", `{"a":1}`, `"b":2,`, `{"b":2,"a":1}`},
		{"and somebody else's hook stays", mine, `"b":2,`,
			`{"b":2,"hooks":{"PreCompact":[{"hooks":[{"type":"command","command":"mine"}]}]},"a":1}`},
	} {
		t.Run(c.why, func(t *testing.T) {
			home, folder := t.TempDir(), t.TempDir()
			settings := filepath.Join(home, ".claude", "settings.json")
			if c.was != "" {
				if err := os.MkdirAll(filepath.Dir(settings), 0o755); err != nil {
					t.Fatal(err)
				}
				write(t, settings, c.was)
			}
			var p plug.Plan
			for _, a := range plug.Agents() {
				if a.Name == "claude-code" {
					var err error
					if p, err = a.Plan(plug.Setup{Home: home, Getenv: func(string) string { return "" }, Version: "2.1.200",
						Calls: plug.Calls{Kagewasm: "/opt/kage wasm/kagewasm"}}); err != nil {
						t.Fatal(err)
					}
				}
			}
			install(t, folder, p)
			data, err := os.ReadFile(settings)
			if err != nil {
				t.Fatal(err)
			}
			if n := strings.Count(string(data), `'/opt/kage wasm/kagewasm' hook claude-code`); n != 2 {
				t.Fatalf("%d hooks of ours: %s", n, data)
			}
			if c.rewritten != "" {
				write(t, settings, strings.Replace(string(data), "{", "{"+c.rewritten, 1))
			}
			uninstall(t, folder, p)
			data, err = os.ReadFile(settings)
			switch {
			case c.left == "" && os.IsNotExist(err):
			case err != nil:
				t.Fatal(err)
			case c.rewritten == "" && string(data) != c.left:
				t.Errorf("left is %s, want %s", data, c.left)
			case !sameJSON(data, []byte(c.left)):
				t.Errorf("left is %s, want %s", data, c.left)
			}
		})
	}
}

func sameJSON(a, b []byte) bool {
	var x, y any
	if json.Unmarshal(a, &x) != nil || json.Unmarshal(b, &y) != nil {
		return false
	}
	p, _ := json.Marshal(x)
	q, _ := json.Marshal(y)
	return string(p) == string(q)
}
