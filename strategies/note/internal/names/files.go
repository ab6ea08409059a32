package names

import "strings"

// folded is the folder that a path is listed under, with the slash behind it, and what
// stands there: the last folder and the name of the file, by which people and models
// say it. The folder is empty where that is all of the path.
func (it *item) folded() (folder, name string) {
	if it.class != path || strings.Contains(it.name, "://") {
		return "", it.name
	}
	last := strings.LastIndexByte(it.name, '/')
	i := strings.LastIndexByte(it.name[:max(last, 0)], '/') + 1
	if i <= 1 {
		return "", it.name
	}
	return it.name[:i], it.name[i:]
}

// line is the one that a path listed under its folder is on.
func (it *item) line() string {
	folder, _ := it.folded()
	return string('0'+rune(it.list())) + folder
}

// writeFiles writes paths, those of one folder on one line. One that is alone in its
// folder is written whole.
func writeFiles(b *strings.Builder, items []*item) {
	in := make(map[string]int)
	for _, it := range items {
		folder, _ := it.folded()
		in[folder]++
	}
	lines := make(map[string]*strings.Builder)
	var order []string
	for _, it := range items {
		folder, name := it.folded()
		if in[folder] == 1 {
			folder, name = "", it.name
		}
		line := lines[folder]
		if line == nil {
			line = &strings.Builder{}
			line.WriteString("-")
			if folder != "" {
				line.WriteString(" " + folder + ":")
			}
			lines[folder] = line
			order = append(order, folder)
		}
		line.WriteString(listSeparator + name)
		if it.use == modified {
			line.WriteString(it.facts.String())
		}
	}
	for _, folder := range order {
		b.WriteString(lines[folder].String() + "\n")
	}
}
