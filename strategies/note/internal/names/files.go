package names

import (
	"iter"
	"strings"

	"github.com/kagewasm/kagewasm/internal/lists"
)

// folded is the folder that a path is listed under at most, with the slash behind it, and what
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

// folders are those that a path can be listed under, the deepest first.
func (it *item) folders() iter.Seq[string] {
	return func(yield func(string) bool) {
		folder, _ := it.folded()
		for len(folder) > 1 && yield(folder) {
			folder = folder[:strings.LastIndexByte(folder[:len(folder)-1], '/')+1]
		}
	}
}

// folder is one that paths of a list lie in, as far as they are listed under it.
type folder struct {
	name  string // with the slash behind it, empty for the one around all
	files int    // that can be listed under none that is deeper
	below []*folder
	ways  map[string]way // by the folder that is listed around it
}

// way is how the paths below a folder are written: its own line has them, or that of the folder around it.
type way struct {
	line bool
	room int // in bytes, for all of them
}

// foldersOf are the folders of paths, by their names.
func foldersOf(items []*item) map[string]*folder {
	all := map[string]*folder{"": {ways: make(map[string]way)}}
	for _, it := range items {
		name, _ := it.folded()
		all[""].at(name, all).files++
	}
	return all
}

// at is the folder of a name below this one.
func (f *folder) at(name string, all map[string]*folder) *folder {
	for f.name != name {
		i := strings.IndexByte(name[len(f.name)+1:], '/') + len(f.name) + 2
		next := all[name[:i]]
		if next == nil {
			next = &folder{name: name[:i], ways: make(map[string]way)}
			all[next.name] = next
			f.below = append(f.below, next)
		}
		f = next
	}
	return f
}

// lineForm is what a line for a folder has beside its name.
const lineForm = "- :\n"

// way is the shorter way to write the paths below a folder where one around it is listed.
func (f *folder) way(around string) way {
	if w, ok := f.ways[around]; ok {
		return w
	}
	own := way{line: true, room: len(f.name) + len(lineForm)}
	joined := way{room: f.files * (len(f.name) - len(around))}
	for _, b := range f.below {
		own.room += b.way(f.name).room
		joined.room += b.way(around).room
	}
	best := joined
	if own.room < joined.room {
		best = own
	}
	f.ways[around] = best
	return best
}

// lines says for each folder below this one the folder on whose line its files stand.
func (f *folder) lines(around string, in map[string]string) {
	if f.name != "" && f.way(around).line {
		around = f.name
	}
	in[f.name] = around
	for _, b := range f.below {
		b.lines(around, in)
	}
}

// writeFiles writes paths, those of a folder on one line where that is shorter. Where others are relative to a root,
// folders that stand as they were written have a mark: what they are relative to is not known.
func writeFiles(b *strings.Builder, items []*item, root bool) {
	asWritten := func(it *item) bool {
		return root && !it.rooted && it.use == mentioned && strings.IndexByte("/~$", it.name[0]) < 0
	}
	writeFolders(b, lists.Filter(items, func(it *item) bool { return !asWritten(it) }), "")
	writeFolders(b, lists.Filter(items, asWritten), unknownAbove)
}

// unknownAbove begins a folder of which the folders above it are not known.
const unknownAbove = "…/"

// writeFolders writes paths, those of a folder on one line where that is shorter, each with a mark before it.
func writeFolders(b *strings.Builder, items []*item, mark string) {
	in := make(map[string]string)
	foldersOf(items)[""].lines("", in)
	lines := make(map[string]*strings.Builder)
	var order []string
	for _, it := range items {
		folder, _ := it.folded()
		folder = in[folder]
		line := lines[folder]
		if line == nil {
			line = &strings.Builder{}
			line.WriteString("-")
			if folder != "" {
				line.WriteString(" " + mark + folder + ":")
			}
			lines[folder] = line
			order = append(order, folder)
		}
		line.WriteString(listSeparator + it.name[len(folder):])
		if it.use == modified {
			line.WriteString(it.facts.String())
		}
	}
	for _, folder := range order {
		b.WriteString(lines[folder].String() + "\n")
	}
}
