package wasm_test

import (
	"bytes"
	"fmt"
	"slices"
	"testing"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"

	"github.com/kagewasm/kagewasm/internal/features"
	"github.com/kagewasm/kagewasm/runtime/internal/wasm"
)

// judge asks the engine whether modules are valid.
type judge struct {
	tb testing.TB
	r  wazero.Runtime
}

func newJudge(tb testing.TB) *judge {
	r := wazero.NewRuntimeWithConfig(tb.Context(), wazero.NewRuntimeConfigInterpreter().WithCoreFeatures(
		api.CoreFeaturesV2))
	return &judge{tb, r}
}

func (j *judge) valid(module []byte) bool {
	c, err := j.r.CompileModule(j.tb.Context(), module)
	if err != nil {
		return false
	}
	_ = c.Close(j.tb.Context())
	return true
}

// with is a module with one function of these parameters and one of anything
// an instruction can name.
func with(params []wasm.ValueType, code ...[]byte) []byte {
	section := func(b []byte, id byte, content ...byte) []byte { return wasm.AppendSection(b, id, content) }
	b := []byte("\x00asm\x01\x00\x00\x00")
	types := append([]byte{1, 0x60, byte(len(params))}, make([]byte, 0, len(params))...)
	for _, p := range params {
		types = append(types, byte(p))
	}
	b = section(b, wasm.SectionType, append(types, 0)...)
	b = section(b, wasm.SectionFunction, 1, 0)
	b = section(b, wasm.SectionTable, 1, byte(wasm.FuncRefT), 0, 1)
	b = section(b, wasm.SectionMemory, 1, 0, 1)
	b = section(b, wasm.SectionGlobal, 1, byte(wasm.I32), 1, wasm.OpI32Const, 0, wasm.OpEnd)
	b = section(b, wasm.SectionElement, 1, 3, 0, 1, 0) // declares the function
	b = section(b, wasm.SectionDataCount, 1)
	body := append([]byte{0}, slices.Concat(code...)...)
	body = append(body, wasm.OpEnd)
	b = section(b, wasm.SectionCode, append(wasm.AppendU32([]byte{1}, uint32(len(body))), body...)...)
	return section(b, wasm.SectionData, 1, 1, 0)
}

// instructions are all codes there could be, with what some need behind them.
func instructions() (codes, behind [][]byte) {
	add := func(code, b []byte) { codes, behind = append(codes, code), append(behind, b) }
	for op := range 256 {
		switch op {
		case wasm.OpBlock, wasm.OpLoop, wasm.OpIf, wasm.OpElse, wasm.OpEnd, wasm.OpMisc, wasm.OpSIMD:
		case wasm.OpUnreachable, wasm.OpBr, wasm.OpBrTable, wasm.OpReturn, wasm.OpLocalGet, wasm.OpLocalSet, wasm.OpLocalTee:
		case wasm.OpCall, wasm.OpCallIndirect:
		case wasm.OpSelectT:
			add([]byte{byte(op)}, []byte{1, byte(wasm.I32)})
		case wasm.OpRefNull:
			add([]byte{byte(op)}, []byte{byte(wasm.FuncRefT)})
		case wasm.OpF32Const:
			add([]byte{byte(op)}, make([]byte, 4))
		case wasm.OpF64Const:
			add([]byte{byte(op)}, make([]byte, 8))
		default:
			add([]byte{byte(op)}, nil)
		}
	}
	add([]byte{wasm.OpSIMD, 12}, make([]byte, 16)) // v128.const
	for sub := range uint32(300) {
		add(wasm.AppendU32([]byte{wasm.OpMisc}, sub), nil)
		if sub != 12 {
			add(wasm.AppendU32([]byte{wasm.OpSIMD}, sub), nil)
		}
	}
	return codes, behind
}

var (
	unreachable = []byte{wasm.OpUnreachable}
	emptyBlock  = []byte{wasm.OpBlock, 0x40, wasm.OpEnd}
)

// TestInstructions holds the table of instructions against the engine: which
// there are, how long what follows them is, how many operands they take and
// leave.
func TestInstructions(t *testing.T) {
	features.Proves(t, "N1")
	j := newJudge(t)
	known := 0
	codes, behind := instructions()
	for i, code := range codes {
		operands, push, ok := j.extent(code, behind[i])
		body := slices.Concat(unreachable, code, operands, []byte{wasm.OpEnd})
		var c wasm.Code
		err := c.Decode(body, wasm.Body{Stop: len(body)})
		switch {
		case !ok && err == nil && len(c.List) == 3:
			t.Errorf("%#x: taken, but the engine does not know it", code)
		case ok && err != nil:
			t.Errorf("%#x: refused, but the engine knows it: %v", code, err)
		}
		if !ok {
			continue
		}
		known++
		if len(c.List) != 3 || c.List[1].End != len(body)-1 {
			t.Errorf("%#x: %d bytes follow it, decoded as %+v", code, len(operands), c.List)
			continue
		}
		in := c.List[1]
		if pop := j.pops(slices.Concat(code, operands), push); int(in.Pop) != pop || int(in.Push) != push {
			t.Errorf("%#x: takes %d and leaves %d, the table says %d and %d", code, pop, push, in.Pop, in.Push)
		}
	}
	// 179 + 18 + 236 of WebAssembly 2.0, without those of control and locals.
	if known < 410 {
		t.Errorf("the engine knows %d instructions only: the test does not ask well", known)
	}
}

// extent finds the bytes behind a code, zeros unless given, and how many
// operands it leaves, in code that is never reached and where any operand is
// there.
func (j *judge) extent(code, given []byte) (operands []byte, push int, ok bool) {
	for n := range 20 {
		operands = make([]byte, n)
		if given != nil {
			operands = given
		}
		for push := range 2 {
			drops := bytes.Repeat([]byte{wasm.OpDrop}, push)
			// A block, which is nothing that an operand could be. The engine would
			// take even the last end for one, and not miss it.
			if j.valid(with(nil, unreachable, code, operands, emptyBlock, drops)) {
				return operands, push, true
			}
		}
	}
	return nil, 0, false
}

// pops finds how many operands an instruction takes, by trying all types.
func (j *judge) pops(instruction []byte, push int) int {
	all := []wasm.ValueType{wasm.I32, wasm.I64, wasm.F32, wasm.F64, wasm.V128, wasm.FuncRefT}
	drops := bytes.Repeat([]byte{wasm.OpDrop}, push)
	lists := [][]wasm.ValueType{nil}
	for n := range 4 {
		var gets []byte
		for i := range n {
			gets = append(gets, wasm.OpLocalGet, byte(i))
		}
		var longer [][]wasm.ValueType
		for _, types := range lists {
			if j.valid(with(types, gets, instruction, drops)) {
				return n
			}
			for _, t := range all {
				longer = append(longer, append(slices.Clone(types), t))
			}
		}
		lists = longer
	}
	return -1
}

// TestStrictBytes: where bytes could be read in two ways, they are refused.
func TestStrictBytes(t *testing.T) {
	for _, c := range []struct {
		why   string
		code  []byte
		taken bool
	}{
		{"v128.const as it is written", slices.Concat([]byte{0xfd, 12}, make([]byte, 16)), true},
		{"a vector code in more bytes than it takes: the engine reads the first alone",
			slices.Concat([]byte{0xfd, 0x8c, 0}, make([]byte, 16)), false},
		{"the same with three bytes", []byte{0xfd, 0x8c, 0x81, 0}, false},
		{"a vector code of two bytes", []byte{0xfd, 0x8c, 1}, true},
		{"any other code behind a prefix may be written in more", []byte{0xfc, 0x80, 0}, true},
		{"a block of a type with a reference to a type behind it", []byte{0x02, 0x63, 0x70, 0x0b}, false},
		{"a block with a number that the engine reads as 0", []byte{0x02, 0x80, 0x80, 0x80, 0x80, 0x40, 0x0b}, false},
		{"a block of the type i32", []byte{0x02, 0x7f, 0x41, 0, 0x0b}, true},
		{"null of a type by its index", []byte{0xd0, 0x81, 0x00}, false},
		{"memory.grow of a memory 1", []byte{0x40, 1}, false},
		{"memory.size of a memory 1", []byte{0x3f, 1}, false},
		{"memory.grow of a memory 0 in two bytes", []byte{0x40, 0x80, 0}, false},
		{"memory.copy between other memories", []byte{0xfc, 10, 0, 1}, false},
		{"memory.fill of another memory", []byte{0xfc, 11, 1}, false},
		{"memory.init of another memory", []byte{0xfc, 8, 0, 1}, false},
	} {
		t.Run(c.why, func(t *testing.T) {
			var code wasm.Code
			err := code.Decode(c.code, wasm.Body{Stop: len(c.code)})
			if (err == nil) != c.taken {
				t.Errorf("%v", fmt.Sprint(err))
			}
		})
	}
}
