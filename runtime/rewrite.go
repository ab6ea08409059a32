package runtime

import "slices"

// rewrite returns the bytes that are compiled in place of the module's own.
// They do the same, but:
//
//   - tables cannot grow beyond maxTableElements in all;
//   - of the custom sections only the names of functions are left, and only
//     where all of them are of a sane length: a stack trace repeats them.
func rewrite(wasm []byte, m *module) []byte {
	out := make([]byte, 0, len(wasm)+16)
	out = append(out, wasm[:headerBytes]...)
	for _, s := range m.sections {
		switch {
		case s.id == sectionTable:
			out = append(out, tableSection(clipTables(m.tables))...)
		case s.id == sectionCustom && s.name == nameSection:
			out = append(out, functionNames(wasm[s.body:s.stop])...)
		case s.id != sectionCustom:
			out = append(out, wasm[s.start:s.stop]...)
		}
	}
	return out
}

const (
	headerBytes = 8
	nameSection = "name"
)

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

// functionNames is a name section with the names of functions out of another,
// nothing where there are none or they are malformed.
func functionNames(content []byte) []byte {
	r := &reader{data: content}
	for !r.done() {
		id := r.byte()
		names := r.bytes(r.u32())
		if r.err != nil {
			return nil
		}
		if id != 1 {
			continue
		}
		if !saneNames(names) {
			return nil
		}
		body := append(appendU32(nil, uint32(len(nameSection))), nameSection...)
		body = append(appendU32(append(body, id), uint32(len(names))), names...)
		return append(appendU32([]byte{sectionCustom}, uint32(len(body))), body...)
	}
	return nil
}

// saneNames reports whether a list of names is well-formed and every name is
// short.
func saneNames(list []byte) bool {
	r := &reader{data: list}
	r.vectorUpTo(maxFuncs+maxImports, func() {
		r.u32()
		if len(r.name()) > maxNameBytes {
			r.fail(errTruncated)
		}
	})
	return r.err == nil && r.done()
}
