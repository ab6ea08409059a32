package wasmtest

import (
	"slices"

	"github.com/kagewasm/kagewasm/abi"
)

// ExtismGuest builds a guest of the Extism ABI. imp imports a function.
func ExtismGuest(f func(m *Module, imp func(name string, params string, result string) Func)) []byte {
	types := map[rune]Type{'i': I32, 'l': I64}
	list := func(s string) []Type {
		var out []Type
		for _, c := range s {
			out = append(out, types[c])
		}
		return out
	}
	return Build(func(m *Module) {
		f(m, func(name, params, result string) Func {
			return m.Import(abi.ExtismModule, name, list(params), list(result))
		})
	})
}

// Texts imports what makes blocks of the Extism ABI: the function it returns is
// code that puts a text into a block and its offset into a local.
func Texts(imp func(string, string, string) Func) func(local uint32, s string) []byte {
	alloc, store := imp("alloc", "l", "l"), imp("store_u8", "li", "")
	return func(local uint32, s string) []byte {
		code := slices.Concat(Const64(int64(len(s))), Call(alloc), Set(local))
		for i := range len(s) {
			code = slices.Concat(code, Get(local), Const64(int64(i)), Add64, Const32(int32(s[i])), Call(store))
		}
		return code
	}
}

// IfZeroTrap traps where the i32 on the stack is zero.
var IfZeroTrap = []byte{0x45, 0x04, 0x40, 0x00, 0x0b}

// ExtismFetch is a guest of the Extism ABI that posts to the address, with a
// secret, and answers with the body of the response, which must have headers
// and status 418.
func ExtismFetch(url string) []byte {
	return ExtismGuest(func(m *Module, imp func(string, string, string) Func) {
		text := Texts(imp)
		fetch, status := imp("http_request", "ll", "l"), imp("http_status_code", "", "i")
		headers := imp("http_headers", "", "l")
		length, output := imp("length", "l", "l"), imp("output_set", "ll", "")
		m.Hook("pre_compact", []Type{I64, I64},
			text(0, `{"url":"`+url+`","method":"post","headers":{"Authorization":"{{secret:key}}"}}`),
			Get(0), Const64(0), Call(fetch), Set(1),
			Call(headers), Call(length), Wrap64, IfZeroTrap,
			Get(1), Get(1), Call(length), Call(output),
			Call(status), Const32(418), Sub32)
	})
}
