package survival_test

import (
	"maps"
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
		{"in foo-bar.yml: maxRetries HTTPServer max_retries --dry-run 8080 9f3c2e1",
			"i:maxRetries i:max_retries n:8080 n:9f3c2e1 p:foo-bar.yml"},
		{"a.gox x.tsx", "p:x.tsx"},
	} {
		t.Run(tc.text, func(t *testing.T) {
			got := make(map[string]bool)
			survival.Names(tc.text, got)
			if s := strings.Join(slices.Sorted(maps.Keys(got)), " "); s != tc.want {
				t.Errorf("%s, want %s", s, tc.want)
			}
		})
	}
}
