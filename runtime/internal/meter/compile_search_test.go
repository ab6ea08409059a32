package meter_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/tetratelabs/wazero"

	"github.com/kagewasm/kagewasm/internal/cost"
	"github.com/kagewasm/kagewasm/internal/soak"
	"github.com/kagewasm/kagewasm/runtime/internal/meter"
	"github.com/kagewasm/kagewasm/runtime/internal/wasm"
)

// compiling is what the engine may take for a module beside what each byte may cost.
var compiling = cost.Bound{Time: time.Second, Bytes: meter.MaxScratch + 64<<20}

// grown is about n bytes of a module: of a function, a run of instructions that leaves
// as many operands as it finds is there again and again, and the function many times.
func grown(r *rand.Rand, module []byte, n int) []byte {
	m, err := wasm.Parse(module)
	if err != nil || len(m.Bodies) == 0 {
		return nil
	}
	var c wasm.Code
	at := r.IntN(len(m.Bodies))
	body := m.Bodies[at]
	if c.Decode(module, body) != nil || len(c.List) < 3 {
		return nil
	}
	from, height := r.IntN(len(c.List)-1), 0
	to := from
	for to < len(c.List)-1 && (to == from || height > 0) {
		height += int(c.List[to].Push) - int(c.List[to].Pop)
		to++
	}
	run := module[c.List[from].Pos:c.List[to-1].End]
	one := 1 << (8 + r.IntN(10))
	code := slices.Concat(module[body.Start:c.List[from].Pos], slices.Repeat(run, 1+one/len(run)),
		module[c.List[to-1].End:body.Stop])
	code = append(wasm.AppendU32(nil, uint32(len(code))), code...)
	more := 1 + n/len(code)
	var out []byte
	for _, s := range m.Sections {
		content := module[s.Body:s.Stop]
		switch s.ID {
		case wasm.SectionFunction:
			rd := &wasm.Reader{Data: content}
			count := rd.U32()
			typ := wasm.AppendU32(nil, m.Funcs[m.Imported[wasm.KindFunc]+at])
			content = slices.Concat(wasm.AppendU32(nil, count+uint32(more)), content[rd.Pos:], slices.Repeat(typ, more))
		case wasm.SectionCode:
			rd := &wasm.Reader{Data: content}
			count := rd.U32()
			content = slices.Concat(wasm.AppendU32(nil, count+uint32(more)), content[rd.Pos:], slices.Repeat(code, more))
		case wasm.SectionCustom:
			continue
		}
		out = wasm.AppendSection(out, s.ID, content)
	}
	return append(slices.Clone(module[:wasm.HeaderBytes]), out...)
}

// TestCompileCostSearch: what the estimates take, the engine compiles at a cost in
// proportion to its length, whatever instructions real modules and those of the
// specification's tests have much of.
func TestCompileCostSearch(t *testing.T) {
	soak.Only(t, "it compiles hundreds of large modules")
	modules := sorted(seeds(t))
	compiled := 0
	for seed := range uint64(soak.Count(0, 60, 1_500)) {
		r := rand.New(rand.NewPCG(seed, 9))
		module := grown(r, modules[r.IntN(len(modules))], 1<<(17+r.IntN(4)))
		m, err := wasm.Parse(module)
		if err != nil {
			continue
		}
		out, _, err := meter.Rewrite(module, m, meter.Options{})
		if err != nil {
			continue // refused
		}
		compiling.Check(t, fmt.Sprintf("seed %d", seed), len(module), func() {
			rt := wazero.NewRuntimeWithConfig(t.Context(), wazero.NewRuntimeConfigCompiler())
			defer rt.Close(t.Context())
			_, err = rt.CompileModule(t.Context(), out)
		})
		if err == nil {
			compiled++
		}
	}
	t.Logf("%d were compiled", compiled)
}
