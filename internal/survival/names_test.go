package survival_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/kagewasm/kagewasm/internal/survival"
)

func TestNames(t *testing.T) {
	for _, tc := range []struct{ text, want string }{
		{"see a/b/c.go and main.go.", "p:b/c.go p:main.go"},
		{"~/x/y.z, ./cmd/kw", "p:cmd/kw p:x/y.z"},
		{"//host/a/b", ""}, // the first part follows a slash
		{"in foo-bar.yml: maxRetries HTTPServer max_retries --dry-run 8080 9f3c2e1", "i:maxRetries i:max_retries n:8080 n:9f3c2e1 p:foo-bar.yml"},
		{"a.gox x.tsx", "p:x.tsx"},
	} {
		got := make(map[string]bool)
		survival.Names(tc.text, got)
		var list []string
		for n := range got {
			list = append(list, n)
		}
		slices.Sort(list)
		if s := strings.Join(list, " "); s != tc.want {
			t.Errorf("%q: %s, want %s", tc.text, s, tc.want)
		}
	}
}
