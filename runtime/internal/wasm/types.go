package wasm

import (
	"errors"
	"fmt"
	"strings"

	"github.com/kagewasm/kagewasm/internal/lists"
)

// ValueType is the type of a value.
type ValueType byte

// The types of values.
const (
	I32       ValueType = 0x7f
	I64       ValueType = 0x7e
	F32       ValueType = 0x7d
	F64       ValueType = 0x7c
	V128      ValueType = 0x7b
	FuncRefT  ValueType = 0x70
	ExternRef ValueType = 0x6f
)

var typeNames = map[ValueType]string{
	I32: "i32", I64: "i64", F32: "f32", F64: "f64", V128: "v128", FuncRefT: "funcref", ExternRef: "externref",
}

func (t ValueType) String() string {
	if name, ok := typeNames[t]; ok {
		return name
	}
	return fmt.Sprintf("%#x", byte(t))
}

// FuncType is the type of a function.
type FuncType struct{ Params, Results []ValueType }

// Signature is the type of a function as text: "(i32,i64)->i32" or, without
// results, "(i32)". Text compares, and reads well in errors.
type Signature string

// Signature is the type as text.
func (t FuncType) Signature() Signature {
	s := "(" + typeList(t.Params) + ")"
	if len(t.Results) > 0 {
		s += "->" + typeList(t.Results)
	}
	return Signature(s)
}

func typeList(types []ValueType) string {
	return strings.Join(lists.Map(types, ValueType.String), ",")
}

func (r *Reader) funcType() FuncType {
	if r.Byte() != 0x60 {
		r.Fail(errors.New("a type that is no function's"))
	}
	return FuncType{r.valueTypes(), r.valueTypes()}
}

// typeEntry reads a type. The engine compiles a way in for each, whether it is used
// or not.
func (m *Module) typeEntry(r *Reader) {
	t := r.funcType()
	m.Types, m.signatures = append(m.Types, t), append(m.signatures, t.Signature())
	if m.values += len(t.Params) + len(t.Results); m.values > maxTypeValues+m.size/bytesPerValue {
		r.Fail(bound{fmt.Errorf("types of more than %d values", maxTypeValues+m.size/bytesPerValue)})
	}
}

func (r *Reader) valueTypes() (types []ValueType) {
	r.Vector(func() {
		if len(types) == maxValues {
			r.Fail(fmt.Errorf("a type with more than %d values", maxValues))
		}
		types = append(types, r.valueType())
	})
	return types
}

func (r *Reader) valueType() ValueType {
	t := ValueType(r.Byte())
	if _, ok := typeNames[t]; !ok {
		r.Fail(fmt.Errorf("a value type %#x", byte(t)))
	}
	return t
}

func (m *Module) importEntry(r *Reader) {
	e := Import{Module: r.Name(), Name: r.Name(), Kind: r.Byte()}
	switch e.Kind {
	case KindFunc:
		e.Type = r.U32()
		m.Funcs = append(m.Funcs, e.Type)
	case KindTable:
		m.Tables = append(m.Tables, r.table())
	case KindMemory:
		m.Memories = append(m.Memories, r.limits())
	case KindGlobal:
		m.Globals = append(m.Globals, r.globalType())
	default:
		r.Fail(fmt.Errorf("an import of kind %d", e.Kind))
		return
	}
	m.Imports = append(m.Imports, e)
	m.Imported[e.Kind]++
}

func (r *Reader) referenceType() ValueType {
	t := ValueType(r.Byte())
	if t != FuncRefT && t != ExternRef {
		r.Fail(fmt.Errorf("a type of references %#x", byte(t)))
	}
	return t
}

func (r *Reader) table() Table { return Table{r.referenceType(), r.limits()} }

func (r *Reader) limits() Limits {
	var l Limits
	switch flag := r.Byte(); flag {
	case 0:
		l.Min = r.U32()
	case 1:
		l.Min, l.Max, l.HasMax = r.U32(), r.U32(), true
	default:
		r.Fail(fmt.Errorf("limits of kind %#x: shared and 64-bit memories are not supported", flag))
	}
	return l
}

func (r *Reader) globalType() GlobalType {
	t := GlobalType{Type: r.valueType()}
	switch flag := r.Byte(); flag {
	case 0, 1:
		t.Mutable = flag == 1
	default:
		r.Fail(fmt.Errorf("a global of kind %#x", flag))
	}
	return t
}

func (r *Reader) exportEntry() Export {
	e := Export{Name: r.Name(), Kind: r.Byte()}
	e.Pos = r.Pos
	e.Index = r.U32()
	if len(e.Name) > MaxNameBytes {
		r.Fail(fmt.Errorf("an export name of %d bytes", len(e.Name)))
	}
	return e
}
