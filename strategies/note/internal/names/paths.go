package names

import (
	"cmp"
	"maps"
	"slices"
	"strings"
)

// workdir guesses the working directory: the folder with which the session's
// absolute paths and its relative ones agree, by vote; or the one an earlier
// note found, as long as paths lie in it. The items are sorted.
func workdir(items []*item, earlier string) string {
	if earlier != "" && holdsShare(items, earlier) {
		return earlier
	}
	byBase := make(map[string][]*item)
	for _, it := range items {
		if it.class == path && it.name[0] != '/' && strings.IndexByte(it.name, '/') > 0 && !strings.Contains(it.name, "://") {
			b := base(it.name)
			byBase[b] = append(byBase[b], it)
		}
	}
	votes := make(map[string]float64)
	for _, abs := range items {
		if abs.class != path || abs.name[0] != '/' {
			continue
		}
		rels := byBase[base(abs.name)]
		for _, rel := range rels[:min(len(rels), maxVotes)] {
			if root, ok := strings.CutSuffix(abs.name, "/"+rel.name); ok && root != "" {
				votes[root] += min(abs.weight, rel.weight)
			}
		}
	}
	roots := slices.SortedFunc(maps.Keys(votes), func(x, y string) int {
		return cmp.Or(cmp.Compare(votes[y], votes[x]), cmp.Compare(x, y))
	})
	for _, root := range roots[:min(len(roots), maxVotes)] {
		if holdsShare(items, root) {
			return outermost(root, votes)
		}
	}
	return commonFolder(items)
}

// outermost goes from the folder with most votes to one around it that has a
// fair share of them: paths relative to a folder inside the working directory
// (imports) vote too.
func outermost(root string, votes map[string]float64) string {
	best := root
	for i := len(root) - 1; i > 0; i-- {
		if root[i] == '/' && votes[root[:i]] >= votes[root]/4 && votes[root[:i]] > 0 {
			best = root[:i]
		}
	}
	return best
}

// holdsShare reports whether a quarter of the absolute paths lie in the
// folder: examples in a text (/repo/a.ts) do not name the working directory.
func holdsShare(items []*item, folder string) bool {
	in, all := 0, 0
	for _, it := range items {
		if it.class == path && it.name[0] == '/' {
			all++
			if strings.HasPrefix(it.name, folder+"/") {
				in++
			}
		}
	}
	return in*4 >= all
}

// commonFolder is the deepest folder, two levels at least, that holds nearly
// all of the absolute paths.
func commonFolder(items []*item) string {
	folders, total := make(map[string]int), 0
	for _, it := range items {
		if it.class != path || it.name[0] != '/' {
			continue
		}
		total++
		for i := 1; i < len(it.name); i++ {
			if it.name[i] == '/' && strings.Count(it.name[:i], "/") >= 2 {
				folders[it.name[:i]]++
			}
		}
	}
	best := ""
	for f, n := range folders {
		if n*10 >= total*9 && total >= 3 && (len(f) > len(best) || len(f) == len(best) && f < best) {
			best = f
		}
	}
	return best
}

// mergePaths makes one item of the ways a session names one file: absolute,
// relative to root, relative to something below it, and by file name alone.
// The root itself is said elsewhere, and left out.
func mergePaths(items []*item, root string) []*item {
	byBase := make(map[string][]*item)
	out := make([]*item, 0, len(items))
	for _, it := range items {
		if it.class != path {
			out = append(out, it)
			continue
		}
		if it.name == root {
			continue
		}
		if rel := relativeTo(root, it.name); rel != it.name && rel != "" {
			it.name, it.rooted = rel, true
		}
		b := base(it.name)
		byBase[b] = append(byBase[b], it)
	}
	for _, same := range byBase {
		if len(same) == 1 { // as most are
			out = append(out, same[0])
			continue
		}
		// Longest first: shorter ones are taken for the most mentioned file they
		// are the end of.
		// Those of which the folders above are not known come last.
		slices.SortFunc(same, func(x, y *item) int {
			return cmp.Or(cmp.Compare(y.known(), x.known()), cmp.Compare(len(y.name), len(x.name)),
				cmp.Compare(y.weight, x.weight), cmp.Compare(x.name, y.name))
		})
		var files []*item
		for _, it := range same {
			f := endsIn(files, ending(it.name))
			switch {
			case f == nil:
				files = append(files, it)
			case f.name == it.name && f.rooted != it.rooted: // the root is where it was named from
				f.merge(it)
			case it.rooted && f.rooted: // two files, as it is known where both lie
				files = append(files, it)
			case strings.IndexByte(it.name, '/') < 0 && (!it.rooted || it.use == mentioned):
				it.short = true // what people and models say instead of the path
				files = append(files, it)
			default:
				f.merge(it)
			}
		}
		out = append(out, files...)
	}
	return out
}

// relativeTo is a path relative to a folder that it lies in. Any other path, and one to no folder, stays.
func relativeTo(folder, path string) string {
	rest, ok := strings.CutPrefix(path, folder)
	if !ok || folder == "" || rest == "" || rest[0] != '/' {
		return path
	}
	return rest[1:]
}

// known is 1 where it is known in which folders the file of a path lies, 0 where it is not.
func (it *item) known() int {
	if ending(it.name) != it.name {
		return 0
	}
	return 1
}

// endsIn finds the most mentioned of the files whose path ends in name.
func endsIn(files []*item, name string) *item {
	var best *item
	for _, f := range files[:min(len(files), maxVotes)] {
		if (f.name == name || strings.HasSuffix(f.name, "/"+name)) && (best == nil || f.weight > best.weight) {
			best = f
		}
	}
	return best
}

// merge takes over what was said of the same file under a shorter name. The
// name relative to the root is the one to show, or else the one by which it
// was opened.
func (it *item) merge(other *item) {
	if !it.rooted && other.known() == 1 && (other.rooted || other.use > it.use) {
		it.name, it.rooted = other.name, true
	}
	it.facts.merge(other.facts)
	it.weight += other.weight
	it.times += other.times
	it.seen = max(it.seen, other.seen)
	it.use = max(it.use, other.use)
	it.written = it.written || other.written
}

func base(p string) string { return p[strings.LastIndexByte(p, '/')+1:] }

// maxVotes bounds the pairs looked at for a common file name like index.ts.
const maxVotes = 16
