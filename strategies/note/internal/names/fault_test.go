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
		"permission denied: policy ledger-ro forbids put", "AccessDenied: deploy may not write ledger/1",
		"upload failed: ./a to s3://z/a An error occurred (AccessDenied) when calling the PutObject operation: Access Denied",
		"mc: <ERROR> Failed to copy a. Access Denied.",
		"a.rb:12:in `fetch': key not found: :zone (KeyError)"} {
		for _, before := range []string{"", strings.Repeat("alpha beta ", 40) + "\n"} {
			list := build(called("Bash", "command", "./x", before+line, before != "")).Failures()
			if len(list) != 1 || !strings.Contains(list[0].Text, line) {
				t.Errorf("%q is not quoted: %+v", line, list)
			}
		}
	}
}

// TestTalkOfWhatIsDenied: a text that a command shows, or that speaks of a permission, tells no failure.
func TestTalkOfWhatIsDenied(t *testing.T) {
	features.Proves(t, "I4", "N13")
	for _, line := range []string{"access denied rates are on page 3", "The permission is denied to nobody.",
		"Forbidden words: none", "docs: An error occurred (see below)"} {
		if list := build(called("Bash", "command", "./x", line, false)).Failures(); len(list) > 0 {
			t.Errorf("%q is quoted: %+v", line, list)
		}
	}
	shown := strings.Repeat("a line\n", 9) + "AccessDenied: deploy may not write\n" + strings.Repeat("a line\n", 9)
	if list := build(called("Bash", "command", "cat doc.txt", shown, false)).Failures(); len(list) > 0 {
		t.Errorf("what a file says is quoted: %+v", list)
	}
}
