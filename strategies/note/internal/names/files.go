package names

import "strings"

// byFolder reports whether a path is listed under its folder: one that was
// given as an absolute path. One that was given as a relative path is listed
// as it was.
func (it *item) byFolder() bool {
	return it.class == path && !it.short && !it.relative && (it.rooted || it.name[0] == '/') &&
		!strings.Contains(it.name, "://")
}

// folder is the folder of a path with the slash behind it, "./" for the root.
func folder(name string) string {
	if i := strings.LastIndexByte(name, '/'); i >= 0 {
		return name[:i+1]
	}
	return "./"
}

// folderKey is the line that a path listed under its folder is on.
func (it *item) folderKey() string { return string('0'+rune(it.list())) + folder(it.name) }

// writeFiles writes paths, those of one folder on one line.
func writeFiles(b *strings.Builder, items []*item) {
	lines := make(map[string]*strings.Builder)
	var order []string
	for _, it := range items {
		key, name := "", it.name
		if it.byFolder() {
			key, name = folder(it.name), base(it.name)
		}
		line := lines[key]
		if line == nil {
			line = &strings.Builder{}
			line.WriteString("-")
			if key != "" {
				line.WriteString(" " + key + ":")
			}
			lines[key] = line
			order = append(order, key)
		}
		line.WriteString(listSeparator + name)
		if it.use == modified {
			line.WriteString(it.facts.String())
		}
	}
	for _, key := range order {
		b.WriteString(lines[key].String() + "\n")
	}
}
