package wire_test

import (
	"encoding/json"
	"reflect"

	"github.com/kagewasm/kagewasm/abi"
)

// source is where the values of a filled document come from: one that counts,
// or one that draws.
type source interface {
	text() string
	number() int
	truth() bool
	length() int // of a list, or 0 and 1 for what may be missing
	raw() json.RawMessage
	parts() bool
}

// counting never gives the same value twice, and never a zero.
type counting struct{ n int }

func (c *counting) number() int  { c.n++; return c.n }
func (c *counting) text() string { return "text <" + string(rune('Ā'+c.number())) + ">\n" }
func (c *counting) truth() bool  { return true }
func (c *counting) length() int  { return 2 }
func (c *counting) raw() json.RawMessage {
	return json.RawMessage(`{"n":` + string(rune('0'+c.number()%10)) + `}`)
}
func (c *counting) parts() bool { return c.number()%2 == 0 }

// fill sets every field of v that JSON has, and of all that is in v. Fields of
// types it does not know panic: whoever adds one says how it is filled.
func fill(v reflect.Value, s source) {
	switch v.Interface().(type) {
	case abi.Content:
		v.Set(reflect.ValueOf(fillContent(s)))
		return
	case json.RawMessage:
		v.Set(reflect.ValueOf(s.raw()))
		return
	case []byte:
		v.SetBytes([]byte(s.text()))
		return
	}
	switch v.Kind() {
	case reflect.String:
		v.SetString(s.text())
	case reflect.Int:
		v.SetInt(int64(s.number()))
	case reflect.Float64:
		v.SetFloat(float64(s.number()) / 64)
	case reflect.Bool:
		v.SetBool(s.truth())
	case reflect.Pointer:
		if s.length() > 0 {
			v.Set(reflect.New(v.Type().Elem()))
			fill(v.Elem(), s)
		}
	case reflect.Slice:
		n := s.length()
		if n == 0 {
			return
		}
		v.Set(reflect.MakeSlice(v.Type(), n, n))
		for i := range n {
			fill(v.Index(i), s)
		}
	case reflect.Map:
		n := s.length()
		if n == 0 {
			return
		}
		v.Set(reflect.MakeMap(v.Type()))
		for range n {
			key, elem := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
			fill(key, s)
			fill(elem, s)
			v.SetMapIndex(key, elem)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).Tag.Get("json") != "-" {
				fill(v.Field(i), s)
			}
		}
	default:
		panic("no way to fill a " + v.Type().String())
	}
}

func fillContent(s source) abi.Content {
	if !s.parts() {
		return abi.Text(s.text())
	}
	raw, err := json.Marshal(map[string]any{"type": s.text(), "text": s.text(), "data": s.raw()})
	if err != nil {
		panic(err)
	}
	return abi.Parts(abi.TextPart(s.text()), abi.RawPart("", raw))
}
