package names

import "slices"

// Found remembers what texts name: plans that differ a little read nearly the same texts,
// and to look through them is most of the work. The zero value is ready. It belongs to one
// goroutine.
type Found struct {
	in    map[looked][]mention
	words lexicon
	// Of the text that is looked through: its names, and the place of each.
	list []mention
	at   map[string]int
}

// looked is a text, and what it was read as.
type looked struct {
	text string
	as   reading
}

// mention is a name and what it is there: in an output the last time, elsewhere the first.
type mention struct {
	name  string
	class class
	file  string // that a number is a line of
}

// look gives each name in a text once, in the order in which they first stand there.
func (f *Found) look(text string, as reading) []mention {
	if list, ok := f.in[looked{text, as}]; ok {
		return list
	}
	if f.in == nil {
		f.in, f.at = make(map[looked][]mention), make(map[string]int)
	}
	clear(f.at)
	list := f.list[:0]
	f.words.scan(text, as, func(name string, c class, file string) {
		i, met := f.at[name]
		if !met {
			f.at[name] = len(list)
			list = append(list, mention{name, c, file})
			return
		}
		if as == output {
			list[i].class = c
		}
		if file == "" {
			list[i].file = "" // it stands by itself too
		}
	})
	f.list = list
	list = slices.Clone(list)
	f.in[looked{text, as}] = list
	return list
}
