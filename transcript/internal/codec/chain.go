package codec

import "github.com/kagewasm/kagewasm/transcript/internal/jsondoc"

// Link is an entry's place in a chain. Some logs are chains: every entry names
// the one before it as its parent, and the program follows the parents from the
// newest entry back.
type Link struct {
	ID, Parent string
	At         jsondoc.Span // the value that names the parent, if there is one
	Up         int          // the record of the parent, -1 for none
	// New entries may follow one that is Main. They never come into a branch
	// that is Apart.
	Main, Apart bool
}

// Earlier returns the record of an id, or -1 unless it stands before record i.
// So parents always lead backwards, and following them ends.
func Earlier(records map[string]int, id string, i int) int {
	if at, ok := records[id]; ok && id != "" && at < i {
		return at
	}
	return -1
}

// Chain is the chain that a rewritten log makes.
type Chain struct {
	Parents []string // the parent of each record that stays
	New     []Joint  // of the new entries
}

// Joint is where a new entry joins the chain: the id of its parent, and the
// record beside it, -1 for none.
type Joint struct {
	Parent string
	Beside int
}

// relinking builds one Chain.
type relinking struct {
	*Rewrite
	made  Chain
	links []Link
	ids   []string // of the new entries
	// stay holds each record's nearest ancestor that stays, -1 for none. A record
	// that stays is its own.
	stay []int
}

// Relink makes one chain of the entries that stay and the new ones, whose ids
// are given. An entry whose parent is gone gets the nearest ancestor that stays,
// or the last new entry between the two.
func (w *Rewrite) Relink(links []Link, ids []string) Chain {
	n := len(links)
	r := &relinking{Rewrite: w, made: Chain{make([]string, n), make([]Joint, len(ids))}, links: links, ids: ids,
		stay: make([]int, n)}
	for i := range links {
		if r.stay[i] = i; !w.Keep[i] {
			r.stay[i] = r.ancestor(i)
		}
	}
	next := make([]int, n+1) // next[i] is the first entry of the main chain at or after i that stays; -1 for none
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

// join gives new entry k its parent: the parent of the entry after it, or else
// the entry before it. base and after are the entries of the chain on either
// side, -1 for none.
func (r *relinking) join(k, base, after int) {
	at := &r.made.New[k]
	at.Beside = after
	if after >= 0 {
		if a := r.ancestor(after); a >= 0 && a < r.Insert[k].Rec {
			base = a
		}
	}
	if base >= 0 {
		at.Parent, at.Beside = r.links[base].ID, base
	}
	if k > 0 && r.Insert[k-1].Rec > base {
		at.Parent = r.ids[k-1]
	}
}

// relink gives entry i its parent. done counts the new entries before it.
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
