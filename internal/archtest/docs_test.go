package archtest_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/shared"
)

// TestEveryLimitIsExplained: users are told what each limit covers.
func TestEveryLimitIsExplained(t *testing.T) {
	doc, err := os.ReadFile(filepath.Join(shared.Root(t), "docs", "security.md"))
	if err != nil {
		t.Fatal(err)
	}
	for name := range abi.DefaultLimits().All() {
		t.Run(name, func(t *testing.T) {
			if !strings.Contains(string(doc), "`"+name+"`") {
				t.Error("docs/security.md does not say what it covers")
			}
		})
	}
}
