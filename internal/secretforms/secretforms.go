// Package secretforms reads the texts by which tests judge what takes secrets out:
// forms in which people and commands tell secrets, and what only looks like one. The
// files are strategies/redact/testdata.
package secretforms

import (
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/kagewasm/kagewasm/internal/shared"
)

// Form is a text with secrets in it.
type Form struct {
	// Text is the whole of it, and Without has a star in the place of each secret.
	Text, Without string
	Secrets       []string
}

var (
	inside = regexp.MustCompile(`«([^»]*)»`)
	random = regexp.MustCompile(`\{([aAhdb])(\d+)\}`)
	made   = map[byte]string{'a': "Ab1Cd2Ef3", 'A': "Q7Z3M9", 'h': "9f3c2e1ab0d4c5", 'd': "8417209365", 'b': "aB3/Zk9+Qx7"}
)

// Forms are the texts with secrets.
func Forms(tb testing.TB) (forms []Form) {
	tb.Helper()
	for _, line := range lines(tb, "forms.txt") {
		f := Form{Text: inside.ReplaceAllString(line, "$1"), Without: inside.ReplaceAllString(line, "*")}
		for _, m := range inside.FindAllStringSubmatch(line, -1) {
			f.Secrets = append(f.Secrets, m[1])
		}
		forms = append(forms, f)
	}
	return forms
}

// Lookalikes are the texts without a secret.
func Lookalikes(tb testing.TB) []string {
	tb.Helper()
	return lines(tb, "lookalikes.txt")
}

func lines(tb testing.TB, file string) (list []string) {
	tb.Helper()
	data, err := os.ReadFile(filepath.Join(shared.Root(tb), "strategies", "redact", "testdata", file))
	if err != nil {
		tb.Fatal(err)
	}
	for line := range strings.Lines(string(data)) {
		if line = strings.TrimSuffix(line, "\n"); line == "" || strings.HasPrefix(line, "# ") {
			continue
		}
		line = random.ReplaceAllStringFunc(line, func(s string) string {
			n, _ := strconv.Atoi(s[2 : len(s)-1])
			of := made[s[1]]
			return strings.Repeat(of, n/len(of)+1)[:n]
		})
		list = append(list, strings.NewReplacer("⏎", "\n", "{}", "").Replace(line))
	}
	return list
}
