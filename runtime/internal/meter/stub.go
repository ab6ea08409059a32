package meter

import (
	"errors"

	"github.com/kagewasm/kagewasm/runtime/internal/wasm"
)

// Stub returns a rewritten module without its code: every function traps, but
// for [Whole], which returns 0. It stands in for the module where an engine has
// the compiled code already: decoding and validating what is compiled takes
// longer than loading the code itself.
func Stub(bin []byte) ([]byte, error) {
	m, err := wasm.Parse(bin)
	if err != nil {
		return nil, err
	}
	e, ok := m.Export(Whole)
	whole := int(e.Index) - m.Imported[wasm.KindFunc]
	if !ok || whole < 0 || whole >= len(m.Bodies) {
		return nil, errors.New("not a rewritten module")
	}
	code := wasm.AppendU32(nil, uint32(len(m.Bodies)))
	for i := range m.Bodies {
		body := []byte{0, wasm.OpUnreachable, wasm.OpEnd}
		if i == whole {
			body = []byte{0, wasm.OpI32Const, 0, wasm.OpEnd}
		}
		code = append(wasm.AppendU32(code, uint32(len(body))), body...)
	}
	out := append([]byte(nil), bin[:wasm.HeaderBytes]...)
	for _, s := range m.Sections {
		if s.ID == wasm.SectionCode {
			out = wasm.AppendSection(out, s.ID, code)
			continue
		}
		out = append(out, bin[s.Start:s.Stop]...)
	}
	return out, nil
}
