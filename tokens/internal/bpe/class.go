package bpe

import "unicode"

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

// classTable tells the classes of characters, a page of them at a time: a text has those of a few scripts. Zero stands
// for what nobody asked for yet. It belongs to one goroutine.
type classTable [maxClassed]class

const pageSize = 256

func (t *classTable) of(r rune) class {
	switch {
	case r < maxClassed:
		if t[r] == 0 {
			t.fill(r &^ (pageSize - 1))
		}
		return t[r]
	case unicode.IsMark(r):
		return mark
	}
	return other
}

// fill fills a page from package unicode's tables, which the reference's regular expressions read too. Asking those
// tables for each character is ten times slower.
func (t *classTable) fill(from rune) {
	last := from + pageSize - 1
	for r := from; r <= last; r++ {
		t[r] = other
	}
	for _, row := range [...]struct {
		table *unicode.RangeTable
		class class
	}{
		{unicode.White_Space, space}, {unicode.N, number}, {unicode.M, mark}, {unicode.Lu, upper}, {unicode.Lt, upper},
		{unicode.Ll, lower}, {unicode.Lm, caseless}, {unicode.Lo, caseless},
	} {
		for _, r := range row.table.R16 {
			t.set(from, last, rune(r.Lo), rune(r.Hi), rune(r.Stride), row.class)
		}
		for _, r := range row.table.R32 {
			t.set(from, last, rune(r.Lo), rune(r.Hi), rune(r.Stride), row.class)
		}
	}
	if from == 0 {
		t['\r'], t['\n'] = newline, newline
	}
}

// set sets the class of the characters of a range that are on a page.
func (t *classTable) set(from, last, lo, hi, stride rune, c class) {
	if hi < from || lo > last {
		return
	}
	if lo < from {
		lo += (from - lo + stride - 1) / stride * stride
	}
	for r := lo; r <= min(hi, last); r += stride {
		t[r] = c
	}
}
