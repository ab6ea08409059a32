package pluginyaml_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/kagewasm/kagewasm/internal/cost"
	"github.com/kagewasm/kagewasm/internal/pluginyaml"
	"github.com/kagewasm/kagewasm/internal/soak"
)

// counted repeats an entry, # being its number, up to n bytes.
func counted(n int, head, entry, tail string) string {
	var b strings.Builder
	b.WriteString(head)
	for i := 0; b.Len() < n; i++ {
		b.WriteString(strings.ReplaceAll(entry, "#", fmt.Sprint(i)))
	}
	return b.String() + tail
}

// TestParseCost: a manifest beside a module costs no more than in proportion to its
// length, whatever is in it.
func TestParseCost(t *testing.T) {
	const top = "name: x\nabi: 1\n"
	long := strings.Repeat("k", 60<<10)
	for name, text := range map[string]string{
		"lists in lists":       top + "hooks: " + strings.Repeat("- ", 120<<10),
		"brackets":             top + "hooks: " + strings.Repeat("[", 240<<10),
		"knobs":                counted(40<<10, top+"knobs:\n", "  k#: {type: text}\n", ""),
		"knobs without a type": counted(20<<10, top+"knobs:\n", "  k#: {}\n", ""),
		"a long name with much below": counted(100<<10, top+"knobs:\n  "+long+":\n    type: text\n    default: {",
			"k#: 1, ", "}\n"),
		"a long name, briefly": counted(80<<10, top+"knobs:\n  "+long+":\n    type: text\n    default: {",
			"k#: 1, ", "}\n"),
		"hosts": counted(60<<10, top+"capabilities:\n  http:\n    reason: x\n    hosts:\n",
			"    - a#.example.com\n", ""),
		"values": counted(
			30<<10, top+"knobs:\n  k:\n    type: enum\n    default: none\n    values: [", "a#, ", "]\n"),
		"capabilities": counted(30<<10, top+"capabilities:\n", "  c#: {reason: x}\n", ""),
		"a default in depth": top + "knobs:\n  k:\n    type: text\n    default: " +
			strings.Repeat("{"+strings.Repeat("k", 3000)+": ", 50) + "1" + strings.Repeat("}", 50),
		"a long number": top + "knobs:\n  k: {type: range, min: " + strings.Repeat("1", 200<<10) + "}\n",
		"many long numbers": counted(100<<10, top+"knobs:\n  k: {type: range, default: [",
			strings.Repeat("9", 300)+", ", "]}\n"),
	} {
		t.Run(name, func(t *testing.T) {
			cost.Text.Check(t, name, len(text), func() { _, _ = pluginyaml.Parse("p.yaml", []byte(text)) })
			_, err := pluginyaml.Parse("p.yaml", []byte(text))
			t.Logf("%.200v", err)
		})
	}
}

// TestParseCostSearch looks for others.
func TestParseCostSearch(t *testing.T) {
	fragments := slices.Concat(cost.YAML, []string{
		"name: x\nabi: 1\n", "knobs:\n", "  k" + cost.Count + ":\n", "    type: text\n", "    default: ", "values: [",
		"hooks: [", "pre_compact, ",
		"capabilities:\n", "  http:\n    reason: x\n", "    hosts:\n    - ", "limits:\n  memory_mb: 3\n",
		"description: ", "secrets: [", "roles: ",
	})
	for seed := range uint64(soak.Count(15, 500, 3_000)) {
		r := rand.New(rand.NewPCG(seed, 2))
		text := cost.Bomb(r, fragments, 1<<(12+r.IntN(6)))
		cost.Text.Check(t, fmt.Sprintf("seed %d, %.60q", seed, text), len(text), func() {
			_, _ = pluginyaml.Parse("p.yaml", text)
		})
	}
}
