package names

import "slices"

// Found remembers what texts name: plans that differ a little read nearly the same texts,
// and to look through them is most of the work. The zero value is ready. It belongs to one
// goroutine.
type Found struct {
	in map[looked][]mention
	at map[string]int // of the text that is looked through
}

// looked is a text, and whether it was read as what a tool puts out.
type looked struct {
	text    string
	listing bool
}

// mention is a name and what it is there: in a listing the last time, elsewhere the first.
type mention struct {
	name  string
	class class
}

// look gives each name in a text once, in the order in which they first stand there.
func (f *Found) look(text string, listing bool) []mention {
	if list, ok := f.in[looked{text, listing}]; ok {
		return list
	}
	if f.in == nil {
		f.in, f.at = make(map[looked][]mention), make(map[string]int)
	}
	clear(f.at)
	var list []mention
	scan(text, listing, func(name string, c class) {
		i, met := f.at[name]
		switch {
		case !met:
			f.at[name] = len(list)
			list = append(list, mention{name, c})
		case listing:
			list[i].class = c
		}
	})
	f.in[looked{text, listing}] = slices.Clip(list)
	return list
}
