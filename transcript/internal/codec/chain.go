package codec

import "github.com/kagewasm/kagewasm/transcript/internal/jsondoc"

// Link is how an entry stands in a log that is a chain: every entry names the
// one before it as its parent, and the program follows the chain from the
// newest entry back.
type Link struct {
	ID, Parent string
	At         jsondoc.Span // the value that names the parent, if there is one
	Up         int          // the record of the parent, -1 for none
	// Main says that new entries may follow the entry, Apart that it belongs to
	// a branch of its own, which they never come into.
	Main, Apart bool
}

// Earlier returns the record of an id, -1 where it does not stand before record
// i: chains lead backwards, so that following one ends.
func Earlier(records map[string]int, id string, i int) int {
	if at, ok := records[id]; ok && id != "" && at < i {
		return at
	}
	return -1
}

// Chain is how a log hangs together after a rewriting.
type Chain struct {
	Parents []string // of the records that stay
	Fresh   []Joint  // of the new entries
}

// Joint is where a new entry stands in the chain: the id of its parent, and the
// record beside it, -1 for none.
type Joint struct {
	Parent string
	Like   int
}

// relinking is one chain in the making.
type relinking struct {
	*Rewrite
	made  Chain
	links []Link
	ids   []string // of the new entries
	// stay is of each record the record itself where it stays, or else its
	// nearest ancestor that does, -1 where there is none.
	stay []int
}

// Relink makes one chain of the entries that stay and the new ones, whose ids
// are given: an entry whose parent went gets the nearest ancestor that stays, or
// a new entry that stands between the two.
func (w *Rewrite) Relink(links []Link, ids []string) Chain {
	n := len(links)
	r := &relinking{Rewrite: w, made: Chain{make([]string, n), make([]Joint, len(ids))}, links: links, ids: ids,
		stay: make([]int, n)}
	for i := range links {
		if r.stay[i] = i; !w.Keep[i] {
			r.stay[i] = r.ancestor(i)
		}
	}
	next := make([]int, n+1) // the first entry of the chain that stays from a place on
	next[n] = -1
	for i := n - 1; i >= 0; i-- {
		if next[i] = next[i+1]; w.Keep[i] && links[i].Main {
			next[i] = i
		}
	}
	last, done := -1, 0 // the last entry of the chain that stays before, and how many new ones
	for i := range next {
		for ; done < len(w.Insert) && w.Insert[done].Rec == i; done++ {
			r.join(done, last, next[i])
		}
		if i == n || !w.Keep[i] {
			continue
		}
		r.relink(i, done)
		if links[i].Main {
			last = i
		}
	}
	return r.made
}

func (r *relinking) ancestor(i int) int {
	if up := r.links[i].Up; up >= 0 {
		return r.stay[up]
	}
	return -1
}

// join links new entry k to the place where the entry after it hung, or to the
// entry before it.
func (r *relinking) join(k, base, after int) {
	at := &r.made.Fresh[k]
	at.Like = after
	if after >= 0 {
		if a := r.ancestor(after); a >= 0 && a < r.Insert[k].Rec {
			base = a
		}
	}
	if base >= 0 {
		at.Parent, at.Like = r.links[base].ID, base
	}
	if k > 0 && r.Insert[k-1].Rec > base {
		at.Parent = r.ids[k-1]
	}
}

// relink gives entry i its parent. done is how many new entries stand before it.
func (r *relinking) relink(i, done int) {
	l, above := &r.links[i], r.ancestor(i)
	root := false // or a child of another file's entry
	switch {
	case done > 0 && above < r.Insert[done-1].Rec && !l.Apart:
		r.made.Parents[i] = r.ids[done-1]
	case above >= 0:
		r.made.Parents[i] = r.links[above].ID
	default:
		root = l.Up < 0
	}
	if parent := r.made.Parents[i]; !root && l.At.OK() && parent != l.Parent {
		r.EditAt(i, l.At, jsondoc.OrNull(parent))
	}
}
