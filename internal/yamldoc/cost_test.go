package yamldoc_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/kagewasm/kagewasm/internal/cost"
	"github.com/kagewasm/kagewasm/internal/soak"
	"github.com/kagewasm/kagewasm/internal/yamldoc"
)

// bombs are texts of about n bytes for which the time of some parser grows with
// the square of their length.
func bombs(n int) map[string]string {
	rep := func(s string) string { return strings.Repeat(s, n/len(s)) }
	half := func(open, end string) string {
		k := n / (len(open) + len(end))
		return strings.Repeat(open, k) + strings.Repeat(end, k)
	}
	var keys strings.Builder
	for i := 0; keys.Len() < n; i++ {
		fmt.Fprintf(&keys, "k%d: v\n", i)
	}
	return map[string]string{
		"lists in lists, in one line":   rep("- "),
		"lists in brackets":             half("[", "]"),
		"brackets that stay open":       rep("["),
		"mappings in braces":            half("{a: ", "}"),
		"keys of keys":                  rep("? "),
		"a list in brackets":            "[" + rep("a,") + "]",
		"pairs in brackets":             "[" + rep("a: b,") + "]",
		"commas":                        "{" + rep(","),
		"many keys":                     keys.String(),
		"a block of blank lines":        "a: |\n x\n" + rep("\n"),
		"documents":                     rep("a\n--- "),
		"aliases of aliases":            "a: &a [x]\n" + rep("b: &a [*a,*a]\n"),
		"quotes in a line":              rep(`"a" `),
		"stars in a line":               rep("*a "),
		"tags in a line":                rep("! "),
		"list items":                    rep("- a\n"),
		"empty list items":              rep("-\n"),
		"comments":                      rep("#\n"),
		"comments with other line ends": rep("#\u0085"),
		"a list of lists as a key":      half("[", "]: a"),
		"numbers":                       "[" + rep("1_0e3,") + "]",
		"dates":                         "[" + rep("2001-01-01x,") + "]",
	}
}

// TestParseCost: no text costs more than in proportion to its length.
func TestParseCost(t *testing.T) {
	n := soak.Count(64<<10, yamldoc.MaxBytes, yamldoc.MaxBytes)
	for name, text := range bombs(n) {
		t.Run(name, func(t *testing.T) {
			cost.Text.Check(t, name, len(text), func() { _, _ = yamldoc.Parse([]byte(text)) })
		})
	}
}

// TestParseCostSearch looks for others.
func TestParseCostSearch(t *testing.T) {
	for seed := range uint64(soak.Count(15, 500, 8_000)) {
		r := rand.New(rand.NewPCG(seed, 0))
		text := cost.Bomb(r, cost.YAML, 1<<(12+r.IntN(6)))
		cost.Text.Check(t, fmt.Sprintf("seed %d, %.60q", seed, text), len(text), func() { _, _ = yamldoc.Parse(text) })
	}
}

// FuzzParseCost fails on time and memory, and on what is no *Error.
func FuzzParseCost(f *testing.F) {
	for _, text := range bombs(2_000) {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		var err error
		cost.Text.Check(t, "a text", len(text), func() { _, err = yamldoc.Parse(text) })
		if _, ok := errors.AsType[*yamldoc.Error](err); err != nil && !ok {
			t.Errorf("%T: %v", err, err)
		}
	})
}
