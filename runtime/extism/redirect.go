package extism

import (
	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/lists"
	"github.com/kagewasm/kagewasm/internal/set"
	"github.com/kagewasm/kagewasm/runtime/internal/host"
	"github.com/kagewasm/kagewasm/runtime/internal/wasm"
)

// hostModule is where a redirected module imports host.ExtismHostFuncs from.
const hostModule = "kagewasm:extism"

// redirect makes a module import host.ExtismHostFuncs from hostModule. The SDK has
// its own under abi.ExtismModule: they log by a level that is one for the whole
// process, and send requests, and follow redirects, to any address that a
// granted name leads to.
//
// The module was vetted: all it imports are functions.
func redirect(bin []byte, m *wasm.Module) []byte {
	ours := set.Of(lists.Map(host.ExtismHostFuncs, func(f host.Func) string { return f.Name })...)
	imports := wasm.AppendU32(nil, uint32(len(m.Imports)))
	for _, i := range m.Imports {
		from := i.Module
		if from == abi.ExtismModule && ours[i.Name] {
			from = hostModule
		}
		imports = append(wasm.AppendName(wasm.AppendName(imports, from), i.Name), i.Kind)
		imports = wasm.AppendU32(imports, i.Type)
	}
	for _, s := range m.Sections {
		if s.ID == wasm.SectionImport {
			out := wasm.AppendSection(append(make([]byte, 0, len(bin)+len(imports)), bin[:s.Start]...), s.ID, imports)
			return append(out, bin[s.Stop:]...)
		}
	}
	return bin
}
