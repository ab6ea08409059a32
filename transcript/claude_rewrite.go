package transcript

// claudeRewrite is one writing of a log.
type claudeRewrite struct {
	*rewriter
	*claudeDoc
	links []claudeLink // of the new entries
}

// claudeLink is how a new entry stands in the chain.
type claudeLink struct {
	uuid, parent string
	// like is the line whose circumstances (folder, version, branch) the entry
	// takes over, or -1.
	like int
}

func (d *claudeDoc) rewrite(changes []change) []byte {
	w := &claudeRewrite{rewriter: d.begin(changes), claudeDoc: d}
	w.choose()
	for _, in := range w.insert {
		w.links = append(w.links, claudeLink{uuid: claudeUUID(d.session, in.msg.ID)})
	}
	if !w.whole {
		w.relink()
	}
	next := 0
	return w.write(w.items(func(in *insertion) []byte {
		next++
		return w.entry(in, w.links[next-1])
	}))
}

// choose decides which lines without a message stay.
func (w *claudeRewrite) choose() {
	early := len(w.lines) // the first place that anything is left or new at
	for i := len(w.lines) - 1; i >= 0; i-- {
		if w.holds(i) && w.keep[i] {
			early = i
		}
	}
	if len(w.insert) > 0 {
		early = min(early, w.insert[0].anchor)
	}
	for i := range w.lines {
		switch {
		case w.holds(i):
		case w.lines[i].boundary:
			w.keep[i] = w.whole || early > i
		default:
			w.keep[i] = w.owner[i] < 0 || w.keep[w.owner[i]]
		}
	}
}

// relink makes one chain of the lines that stay and the new ones.
func (w *claudeRewrite) relink() {
	n := len(w.lines)
	stay := make([]int, n)   // the line itself where it stays, or the nearest ancestor that does
	prev := make([]int, n+1) // the last chained line that stays before a place
	next := make([]int, n+1) // the first one from there on
	prev[0], next[n] = -1, -1
	for i := range n {
		if stay[i] = i; !w.keep[i] {
			stay[i] = w.ancestor(stay, i)
		}
		if prev[i+1] = prev[i]; w.keep[i] && w.lines[i].chained() {
			prev[i+1] = i
		}
	}
	for i := n - 1; i >= 0; i-- {
		if next[i] = next[i+1]; w.keep[i] && w.lines[i].chained() {
			next[i] = i
		}
	}
	for k := range w.insert {
		w.linkInsert(k, stay, prev, next)
	}
	done := 0 // inserts that stand before line i
	for i := range n {
		for done < len(w.insert) && w.insert[done].anchor <= i {
			done++
		}
		if l := &w.lines[i]; w.keep[i] && l.parentAt.end > 0 && !(l.boundary && l.parent == "") {
			w.linkLine(i, done, w.ancestor(stay, i))
		}
	}
}

func (w *claudeRewrite) ancestor(stay []int, i int) int {
	if w.up[i] < 0 {
		return -1
	}
	return stay[w.up[i]]
}

// linkInsert links a new entry to the place where the line after it hung.
func (w *claudeRewrite) linkInsert(k int, stay, prev, next []int) {
	link, anchor := &w.links[k], w.insert[k].anchor
	base, after := prev[anchor], next[anchor]
	if after >= 0 {
		if a := w.ancestor(stay, after); a >= 0 && a < anchor {
			base = a
		}
	}
	link.like = after
	if base >= 0 {
		link.parent, link.like = w.lines[base].uuid, base
	}
	if k > 0 && w.insert[k-1].anchor > base {
		link.parent = w.links[k-1].uuid
	}
}

// linkLine gives a line its parent: the nearest ancestor that stays, or a new
// entry that stands between the two.
func (w *claudeRewrite) linkLine(i, done, ancestor int) {
	l := &w.lines[i]
	parent := ""
	switch {
	case done > 0 && ancestor < w.insert[done-1].anchor && !l.side:
		parent = w.links[done-1].uuid
	case ancestor >= 0:
		parent = w.lines[ancestor].uuid
	case w.up[i] < 0:
		return // a root, or a child of another file's entry
	}
	if parent == l.parent {
		return
	}
	value := []byte("null")
	if parent != "" {
		value = quote(parent)
	}
	w.edits[i] = append(w.edits[i], edit{l.parentAt, value})
}
