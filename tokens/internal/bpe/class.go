package bpe

import (
	"sync"
	"unicode"
)

// class is what the patterns tell characters apart by, and a set of such classes.
type class uint8

const (
	space    class = 1 << iota // \s but for \r and \n
	newline                    // \r, \n
	number                     // \p{N}
	upper                      // \p{Lu}, \p{Lt}
	lower                      // \p{Ll}
	caseless                   // \p{Lm}, \p{Lo}
	mark                       // \p{M}
	other                      // everything else

	letter  = upper | lower | caseless
	capital = upper | caseless | mark // what o200k's words begin with
	small   = lower | caseless | mark // and end with
)

// maxClassed is the end of the planes that hold all letters, numbers and marks but the variation selectors.
const maxClassed = 0x40000

type classTable [maxClassed]class

func (t *classTable) of(r rune) class {
	switch {
	case r < maxClassed:
		return t[r]
	case unicode.IsMark(r):
		return mark
	}
	return other
}

// classes are filled from package unicode's tables, which the reference's regular expressions read too. Asking those
// tables for each character is ten times slower.
var classes = sync.OnceValue(func() *classTable {
	t := new(classTable)
	for i := range t {
		t[i] = other
	}
	for _, row := range []struct {
		table *unicode.RangeTable
		class class
	}{
		{unicode.White_Space, space}, {unicode.N, number}, {unicode.M, mark}, {unicode.Lu, upper}, {unicode.Lt, upper},
		{unicode.Ll, lower}, {unicode.Lm, caseless}, {unicode.Lo, caseless},
	} {
		for _, r := range row.table.R16 {
			t.fill(rune(r.Lo), rune(r.Hi), rune(r.Stride), row.class)
		}
		for _, r := range row.table.R32 {
			t.fill(rune(r.Lo), rune(r.Hi), rune(r.Stride), row.class)
		}
	}
	t['\r'], t['\n'] = newline, newline
	return t
})

func (t *classTable) fill(lo, hi, stride rune, c class) {
	for r := lo; r <= min(hi, maxClassed-1); r += stride {
		t[r] = c
	}
}
