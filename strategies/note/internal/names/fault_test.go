package names_test

import (
	"strings"
	"testing"

	"github.com/kagewasm/kagewasm/internal/features"
)

// TestQuotesExactWording: failed approaches and exact error wording are kept, also below much other output.
func TestQuotesExactWording(t *testing.T) {
	features.Proves(t, "I4")
	for _, line := range []string{"** (ArgumentError) lease 5512 is frozen", "HTTP 404 Not Found: https://x.example/a",
		"MCP error -32602: Invalid params: LEG-77 is archived", "(error) MOVED 3999 10.0.4.7:6381",
		"CONFLICT (content): Merge conflict in pkg/post.go", "Job for ledgerd.service failed because it ended",
		"a.rb:12:in `fetch': key not found: :zone (KeyError)"} {
		for _, before := range []string{"", strings.Repeat("alpha beta ", 40) + "\n"} {
			list := build(called("Bash", "command", "./x", before+line, before != "")).Failures()
			if len(list) != 1 || !strings.Contains(list[0].Text, line) {
				t.Errorf("%q is not quoted: %+v", line, list)
			}
		}
	}
}
