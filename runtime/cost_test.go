package runtime_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/cost"
	"github.com/kagewasm/kagewasm/internal/plugintest"
	"github.com/kagewasm/kagewasm/internal/soak"
	"github.com/kagewasm/kagewasm/internal/wasmtest"
	"github.com/kagewasm/kagewasm/runtime"
)

// countedEntries repeats an entry, # being its number, up to n bytes.
func countedEntries(n int, head, entry, tail string) string {
	var b strings.Builder
	b.WriteString(head)
	for i := 0; b.Len() < n; i++ {
		b.WriteString(strings.ReplaceAll(entry, "#", fmt.Sprint(i)))
	}
	return b.String() + tail
}

// TestOpenCost: a module with a manifest inside costs no more than in proportion to its
// length, whatever the manifest is.
func TestOpenCost(t *testing.T) {
	const top = `{"name":"x","abi":1,`
	n := 250 << 10
	for name, manifest := range map[string]string{
		"nested":            top + `"hooks":` + strings.Repeat("[", n),
		"knobs":             countedEntries(n, top+`"knobs":{"a":{}`, `,"k#":{}`, `}}`),
		"knobs, all right":  countedEntries(n, top+`"knobs":{"a":{"type":"text"}`, `,"k#":{"type":"text"}`, `}}`),
		"hooks":             countedEntries(n, top+`"hooks":["pre_compact"`, `,""`, `]}`),
		"roles":             countedEntries(n, top+`"role":["observer"`, `,""`, `]}`),
		"hosts":             countedEntries(n, top+`"capabilities":{"http":{"reason":"x","hosts":["a"`, `,""`, `]}}}`),
		"secrets":           countedEntries(n, top+`"secrets":["a"`, `,""`, `]}`),
		"a default":         countedEntries(n, top+`"knobs":{"k":{"type":"text","default":[1`, `,1`, `]}}}`),
		"values":            countedEntries(n, top+`"knobs":{"k":{"type":"enum","values":["a"`, `,""`, `],"default":"b"}}}`),
		"the same key":      countedEntries(n, top+`"limits":{"a":1`, `,"a":1`, `}}`),
		"keys in capitals":  countedEntries(n, top+`"limits":{"a":1`, `,"A#":1`, `}}`),
		"escapes":           top + `"description":"` + strings.Repeat(`\u0041`, n/6) + `"}`,
		"a long number":     top + `"abi":` + strings.Repeat("1", n) + `}`,
		"keys with escapes": countedEntries(n, top+`"limits":{"a":1`, `,"\u0041#":1`, `}}`),
	} {
		t.Run(name, func(t *testing.T) {
			module := wasmtest.WithSection(wasmtest.Nothing(pre), abi.ManifestSection, []byte(manifest))
			cost.Text.Check(t, name, len(module), func() { _, _ = runtime.Open(module) })
		})
	}
}

// TestOpenCostSearch looks for others.
func TestOpenCostSearch(t *testing.T) {
	fragments := []string{"{", "}", "[", "]", ",", ":", `"a":`, `"k` + cost.Count + `":`, `""`, `"`, `\u0041`, `\`, "1",
		"-", "1e9", "null", "true",
		" ", "\n", `"knobs":{`, `"type":"text"`, `{"type":"text"},`, `"capabilities":{`, `"hosts":[`, `"reason":"x",`,
		`"name":"x","abi":1,`,
		`"default":`, `"values":[`, `"hooks":[`, `"role":`, "é", "\xff", strings.Repeat("x", 200)}
	for seed := range uint64(soak.Count(30, 500, 5_000)) {
		r := rand.New(rand.NewPCG(seed, 5))
		manifest := cost.Bomb(r, fragments, 1<<(12+r.IntN(6)))
		module := wasmtest.WithSection(wasmtest.Nothing(pre), abi.ManifestSection,
			append([]byte(`{"name":"x","abi":1,`), manifest...))
		cost.Text.Check(t, fmt.Sprintf("seed %d, %.60q", seed, manifest), len(module), func() { _, _ = runtime.Open(module) })
	}
}

// TestInfoCost: what a person is shown of a module costs no more either.
func TestInfoCost(t *testing.T) {
	wide := slices.Repeat([]wasmtest.Type{wasmtest.F64}, 1_000)
	for name, module := range map[string][]byte{
		"exports of a wide type": wasmtest.Build(func(m *wasmtest.Module) {
			wasmtest.WithHook(m)
			f := m.Func(wide, nil, nil)
			for i := range 9_000 {
				m.Export(fmt.Sprint("e", i), f)
			}
		}),
		"imports of long names": wasmtest.Build(func(m *wasmtest.Module) {
			for i := range 900 {
				m.Import("env", fmt.Sprint(i, strings.Repeat("n", 1_000)), wide[:10], nil)
			}
			wasmtest.WithHook(m)
		}),
	} {
		t.Run(name, func(t *testing.T) {
			r := plugintest.New(t, runtime.Options{})
			cost.Module.Check(t, name, len(module), func() {
				p, err := plugintest.Load(context.Background(), r, module, runtime.PluginOptions{Engine: runtime.Describe()})
				if err == nil {
					p.Info()
					p.Close(context.Background())
				}
			})
		})
	}
}
