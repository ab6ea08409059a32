package transcript

// preface is where a request body keeps its system prompt: apart from the
// list, under a key of its own, as one value or as a list of blocks. Each
// block is a message, the first ones of the session.
type preface struct {
	count int
	field span // the key and its value, with a comma that goes with them
	list  span // the list of the blocks; empty where the value is one message
}

// edits takes out the blocks whose messages are gone.
func (p *preface) edits(src *source, kept []bool) []edit {
	var items []item
	for i := range p.count {
		if kept[i] {
			items = append(items, item{rec: i})
		}
	}
	switch {
	case len(items) == p.count:
		return nil
	case len(items) == 0:
		return []edit{{at: p.field}}
	}
	list := listOf(src, p.list)
	return []edit{{list.region, list.write(nil, items)}}
}

// whole is the place of a key and its value, and of the comma that has to go
// with them.
func (o *object) whole(key string) span {
	data := o.src.data
	for i, f := range o.fields {
		if string(f.key) != key {
			continue
		}
		if i > 0 {
			return span{o.fields[i-1].value.end, f.value.end}
		}
		start, end := skipSpace(data, o.at.start+1), f.value.end
		if comma := skipSpace(data, end); data[comma] == ',' {
			end = skipSpace(data, comma+1)
		}
		return span{start, end}
	}
	return span{}
}
