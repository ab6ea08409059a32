package host

import (
	"context"
	"strings"

	"github.com/tetratelabs/wazero/api"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/runtime/internal/wasm"
)

// Func is a function a guest may import. It reads its parameters from the stack
// and writes its result there.
type Func struct {
	Name      string
	Signature wasm.Signature
	do        func(ctx context.Context, c *Call, stack []uint64)
}

// Functions are the functions a guest may import, but for WASI's, by module:
// those of abi.ImportModule, and the two halves of the Extism ABI.
var Functions = map[string][]Func{
	abi.ImportModule: bulkFuncs,
	abi.ExtismModule: append(append([]Func(nil), blockFuncs...), ExtismHostFuncs...),
}

// Call runs the function for the call of the context.
func (f *Func) Call(ctx context.Context, stack []uint64) {
	c := CallOf(ctx)
	c.AskedHost = true
	f.do(ctx, c, stack)
}

// Types are the value types of the parameters and the result.
func (f *Func) Types() (params, results []api.ValueType) {
	in, out, _ := strings.Cut(string(f.Signature), "->")
	return valueTypes(strings.Trim(in, "()")), valueTypes(out)
}

func valueTypes(list string) []api.ValueType {
	var types []api.ValueType
	for name := range strings.SplitSeq(list, ",") {
		switch name {
		case "i32":
			types = append(types, api.ValueTypeI32)
		case "i64":
			types = append(types, api.ValueTypeI64)
		}
	}
	return types
}
