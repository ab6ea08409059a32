package runtime

import "slices"

// rewrite returns the bytes that are compiled in place of the module's own.
// They do the same, but:
//
//   - tables cannot grow beyond maxTableElements in all;
//   - names in the name section that would blow up a stack trace are gone,
//     with the section.
//
// The module itself is returned where there is nothing to change.
func rewrite(wasm []byte, m *module) []byte {
	var out []byte
	from := 0 // what stands before is in out
	replace := func(s section, with []byte) {
		out = append(append(out, wasm[from:s.start]...), with...)
		from = s.stop
	}
	for _, s := range m.sections {
		switch {
		case s.id == sectionTable:
			replace(s, tableSection(clipTables(m.tables)))
		case s.id == sectionCustom && s.name == "name" && !saneNames(wasm[s.body:s.stop]):
			replace(s, nil)
		}
	}
	if from == 0 {
		return wasm
	}
	return append(out, wasm[from:]...)
}

// clipTables gives every table a maximum, so that all of them together stay
// within maxTableElements: what their minimums leave is shared out evenly.
func clipTables(tables []limitRange) []limitRange {
	left := uint32(maxTableElements)
	for _, t := range tables {
		left -= t.min // checkTables: the sum of minimums is within the bound
	}
	clipped := slices.Clone(tables)
	for i := range clipped {
		t := &clipped[i]
		most := t.min + left/uint32(len(tables))
		if !t.hasMax || t.max > most {
			t.hasMax, t.max = true, most
		}
	}
	return clipped
}

func tableSection(tables []limitRange) []byte {
	content := appendU32(nil, uint32(len(tables)))
	for _, t := range tables {
		content = append(content, t.elem, 1)
		content = appendU32(appendU32(content, t.min), t.max)
	}
	return append(appendU32([]byte{sectionTable}, uint32(len(content))), content...)
}

// saneNames reports whether the name section is well-formed as far as it is
// read and every name of the module and of its functions is short: a trace
// repeats them for every frame.
func saneNames(content []byte) bool {
	r := &reader{data: content}
	for !r.done() {
		id := r.byte()
		sub := &reader{data: r.bytes(r.u32())}
		name := func() {
			if len(sub.bytes(sub.u32())) > maxNameBytes {
				sub.fail(errTruncated)
			}
		}
		switch id {
		case 0: // the module's
			name()
		case 1: // the functions'
			sub.vector(func() { sub.u32(); name() })
		}
		if sub.err != nil {
			return false
		}
	}
	return r.err == nil
}
