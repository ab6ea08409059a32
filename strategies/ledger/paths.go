package ledger

import (
	"cmp"
	"slices"
	"strings"
)

// workdir guesses the working directory: the folder with which the session's
// absolute paths and its relative ones agree, by vote.
func workdir(items []*item) string {
	byBase := make(map[string][]*item)
	for _, it := range items {
		if it.class == path && it.name[0] != '/' && strings.IndexByte(it.name, '/') > 0 && !strings.Contains(it.name, "://") {
			b := base(it.name)
			byBase[b] = append(byBase[b], it)
		}
	}
	votes := make(map[string]float64)
	most := 0.0
	for _, abs := range items {
		if abs.class != path || abs.name[0] != '/' {
			continue
		}
		rels := byBase[base(abs.name)]
		for _, rel := range rels[:min(len(rels), maxVotes)] {
			root, ok := strings.CutSuffix(abs.name, "/"+rel.name)
			if !ok || root == "" {
				continue
			}
			votes[root] += min(abs.score, rel.score)
			most = max(most, votes[root])
		}
	}
	best := ""
	for root, v := range votes {
		// Paths relative to a folder inside the working directory (imports)
		// vote too; the outermost folder with a fair share is the one.
		if v >= most/4 && (best == "" || len(root) < len(best) || len(root) == len(best) && root < best) {
			best = root
		}
	}
	if best != "" {
		return best
	}
	return commonFolder(items)
}

// commonFolder is the deepest folder, two levels at least, that holds nearly all of
// the absolute paths.
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
func mergePaths(items []*item, root string) []*item {
	byBase := make(map[string][]*item)
	out := make([]*item, 0, len(items))
	for _, it := range items {
		if it.class != path {
			out = append(out, it)
			continue
		}
		if rel, ok := strings.CutPrefix(it.name, root+"/"); ok && root != "" && rel != "" {
			it.name, it.rooted = rel, true
		}
		byBase[base(it.name)] = append(byBase[base(it.name)], it)
	}
	for _, same := range byBase {
		// Longest first: shorter ones are taken for the best scored file they
		// are the end of.
		slices.SortFunc(same, func(x, y *item) int {
			return cmp.Or(cmp.Compare(len(y.name), len(x.name)), cmp.Compare(y.score, x.score), cmp.Compare(x.name, y.name))
		})
		var files []*item
		for _, it := range same {
			f := endsIn(files, it.name)
			switch {
			case f == nil:
				files = append(files, it)
			case strings.IndexByte(it.name, '/') < 0:
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

// endsIn finds the best scored of the files whose path ends in name.
func endsIn(files []*item, name string) *item {
	var best *item
	for _, f := range files[:min(len(files), maxVotes)] {
		if (f.name == name || strings.HasSuffix(f.name, "/"+name)) && (best == nil || f.score > best.score) {
			best = f
		}
	}
	return best
}

// merge takes over what was said of the same file under a shorter name. The
// name relative to the root is the one to show.
func (it *item) merge(other *item) {
	if other.rooted && !it.rooted {
		it.name, it.rooted = other.name, true
	}
	it.score += other.score
	it.seen = max(it.seen, other.seen)
	it.use = max(it.use, other.use)
}

func base(p string) string { return p[strings.LastIndexByte(p, '/')+1:] }

// maxVotes bounds the pairs looked at for a common file name like index.ts.
const maxVotes = 16
