package main

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"fmt"
	"maps"
	"slices"
)

// write returns a vocabulary as a trie of its tokens' bytes, in a form of few bits that is read as it stands: a session
// waits for it, and decompressing takes longer.
//
// Labels are the last byte of each node, and eight more. The rest begins with the number of nodes, of tokens, and of the
// nodes with many children and the tokens with long left parts, each four bytes. How many children each has, two bits, in the order in which a walk
// meets them that goes down before it goes on; where it is 3, there are so many as the next of the many says, a byte
// each. For each node a bit, whether it is a token. For each token half a byte, the length of the first of the two
// tokens that it was merged from (its own where it is one byte); where it is 15, the next of the long says it, a byte
// each. Then the tokens' ranks: the low bytes, the middle ones, and two bits above. The root's 256 children are more
// than a byte holds; it is not among those that are counted.
func write(ranks map[string]int) (labels, rest []byte, err error) {
	if err := check(ranks); err != nil {
		return nil, nil, err
	}
	nodes := trie(ranks)
	children := make(map[string]int)
	for _, n := range nodes[1:] {
		children[n[:len(n)-1]]++
	}
	labels = make([]byte, len(nodes)+8)
	isToken, lefts, high := newBits(1), newBits(4), newBits(2)
	var long, low, middle []byte
	for i, n := range nodes {
		if n != "" {
			labels[i] = n[len(n)-1]
		}
		rank, ok := ranks[n]
		if !ok {
			isToken.add(0)
			continue
		}
		isToken.add(1)
		left, err := left(ranks, n)
		if err != nil {
			return nil, nil, err
		}
		if lefts.add(left) {
			long = append(long, byte(left))
		}
		low, middle = append(low, byte(rank)), append(middle, byte(rank>>8))
		high.add(rank >> 16)
	}
	counts, many, err := walk(nodes, children)
	if err != nil {
		return nil, nil, err
	}
	for _, n := range []int{len(nodes), len(low), len(many), len(long)} {
		rest = binary.LittleEndian.AppendUint32(rest, uint32(n))
	}
	return labels, slices.Concat(rest, counts.packed, many, isToken.packed, lefts.packed, long, low, middle,
		high.packed), nil
}

// walk counts the children of the nodes, in the order in which one meets them who goes down before going on.
func walk(nodes []string, children map[string]int) (counts *bits, many []byte, err error) {
	counts, next := newBits(2), 1
	var below func(n int)
	below = func(n int) {
		first := next
		next += n
		for child := first; child < first+n; child++ {
			n := children[nodes[child]]
			if n > 255 && err == nil {
				err = fmt.Errorf("%q goes on with any byte, which does not fit the form", nodes[child])
			}
			if counts.add(n) {
				many = append(many, byte(n))
			}
			if n > 0 {
				below(n)
			}
		}
	}
	below(children[""])
	return counts, many, err
}

// bits are small numbers, each in so many bits, the first in the lowest ones.
type bits struct {
	size, n int
	packed  []byte
}

func newBits(size int) *bits { return &bits{size: size} }

// add adds a number, or the largest there is room for: full says that it is not less than that.
func (b *bits) add(v int) (full bool) {
	most := 1<<b.size - 1
	if b.n%8 == 0 {
		b.packed = append(b.packed, 0)
	}
	b.packed[len(b.packed)-1] |= byte(min(v, most) << (b.n % 8))
	b.n += b.size
	return v >= most
}

func compress(doc []byte) ([]byte, error) {
	var out bytes.Buffer
	w, err := gzip.NewWriterLevel(&out, gzip.BestCompression)
	if err != nil {
		return nil, err
	}
	if _, err := w.Write(doc); err != nil {
		return nil, err
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}

// check makes sure of what package bpe takes for granted: that ranks are the numbers up to how many there are, that
// each byte is a token, and that these come first.
func check(ranks map[string]int) error {
	seen := make([]bool, len(ranks))
	singles := 0
	for t, rank := range ranks {
		if rank < 0 || rank >= len(seen) || seen[rank] {
			return fmt.Errorf("rank %d of %q is no number of its own below %d", rank, t, len(seen))
		}
		seen[rank] = true
		if (len(t) == 1) != (rank < 256) {
			return fmt.Errorf("rank %d of %q: single bytes come first", rank, t)
		}
		if len(t) == 1 {
			singles++
		}
		if len(t) > 128 || rank >= 1<<18 {
			return fmt.Errorf("token %q of rank %d does not fit the form", t, rank)
		}
	}
	if singles != 256 {
		return fmt.Errorf("%d single bytes are tokens", singles)
	}
	return nil
}

// trie returns the beginnings of all tokens, the empty one first: those that go on from the same one stand together,
// and soon behind them those that go on from each. So who looks for a token finds the rest of it nearby.
func trie(ranks map[string]int) []string {
	seen := make(map[string]bool)
	for t := range ranks {
		for n := len(t); n > 0 && !seen[t[:n]]; n-- {
			seen[t[:n]] = true
		}
	}
	return below([]string{""}, slices.Sorted(maps.Keys(seen)), 1)
}

// below appends the texts, in which each is followed by what goes on from it: those of the size, and then what is below
// each of them.
func below(to, texts []string, size int) []string {
	var at []int
	for i, t := range texts {
		if len(t) == size {
			to, at = append(to, t), append(at, i)
		}
	}
	for i, from := range at {
		end := len(texts)
		if i+1 < len(at) {
			end = at[i+1]
		}
		to = below(to, texts[from+1:end], size+1)
	}
	return to
}

// left returns the length of the first of the two tokens that a token is merged from last; its own length for a single
// byte. Each token must come about by merging, and from earlier ones: package bpe's merges rest on that.
func left(ranks map[string]int, t string) (int, error) {
	ends := make([]int, len(t)+1) // where parts begin, and the end
	for i := range ends {
		ends[i] = i
	}
	for len(ends) > 3 {
		least, at := len(ranks), 0
		for i := range len(ends) - 2 {
			if rank, ok := ranks[t[ends[i]:ends[i+2]]]; ok && rank < least {
				least, at = rank, i
			}
		}
		if least >= ranks[t] {
			return 0, fmt.Errorf("token %q does not come about by merges of lower rank", t)
		}
		ends = slices.Delete(ends, at+1, at+2)
	}
	return ends[1], nil
}
