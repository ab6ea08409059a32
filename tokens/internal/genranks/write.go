package main

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"maps"
	"slices"
)

// write returns a vocabulary as a trie of its tokens' bytes, in a form that is asked as it stands: a command waits for
// whatever is done to it before it counts.
//
// The nodes are in the order of their depth, and those of one depth in that of their parents, so that children stand
// beside each other, and where they begin is known by how many children come before. It begins with the number of
// nodes, of tokens, of those with many children and of those with long left parts, each four bytes. Then there is a
// record for each 32 nodes, of 24 bytes: how many children each has, two bits, where 3 stands for three and what the
// next of the many says; where the first child of the first one is; for each a bit, whether it is a token; the place
// of the first token; and that of the first of the many. Then the many, a byte each. Then the tokens, three bytes
// each: the rank in 18 bits, and in six the length of the first of the two tokens that it was merged from (its own
// where it is one byte); and a byte more, so that four can be read at once. Where the six bits are full, the long
// have it, in four bytes: the token's place, and above it the length. The root's 256 children are not among those
// that are counted. Labels are the last byte of each node, and eight more, so that eight can be read at once.
func write(ranks map[string]int) (labels, doc []byte, err error) {
	if err := check(ranks); err != nil {
		return nil, nil, err
	}
	nodes := trie(ranks)
	children := make(map[string]int)
	for _, n := range nodes[257:] {
		children[n[:len(n)-1]]++
	}
	var records, many, tokens, long []byte
	labels = make([]byte, len(nodes)+8)
	first := 257
	for at := 0; at < len(nodes); at += perRecord {
		var counts uint64
		var isToken uint32
		begin := []int{first, len(tokens) / tokenSize, len(many)}
		for i, n := range nodes[at:min(at+perRecord, len(nodes))] {
			below := children[n]
			first += below
			if below >= 3 {
				if below > 255 {
					return nil, nil, fmt.Errorf("%q goes on with any byte, which does not fit the form", n)
				}
				many, below = append(many, byte(below-3)), 3
			}
			counts |= uint64(below) << (2 * i)
			if n != "" {
				labels[at+i] = n[len(n)-1]
			}
			rank, ok := ranks[n]
			if !ok {
				continue
			}
			isToken |= 1 << i
			left, err := left(ranks, n)
			if err != nil {
				return nil, nil, err
			}
			if left >= longLeft {
				long = binary.LittleEndian.AppendUint32(long, uint32(len(tokens)/tokenSize|left<<24))
				left = longLeft
			}
			tokens = append(tokens, byte(rank), byte(rank>>8), byte(rank>>16|left<<2))
		}
		records = binary.LittleEndian.AppendUint64(records, counts)
		for _, n := range []int{begin[0], int(isToken), begin[1], begin[2]} {
			records = binary.LittleEndian.AppendUint32(records, uint32(n))
		}
	}
	for _, n := range []int{len(nodes), len(tokens) / tokenSize, len(many), len(long) / 4} {
		doc = binary.LittleEndian.AppendUint32(doc, uint32(n))
	}
	return labels, slices.Concat(doc, records, many, tokens, []byte{0}, long), nil
}

const (
	perRecord = 32 // nodes
	tokenSize = 3  // bytes of a token
	longLeft  = 63 // the left part whose length does not fit there
)

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

// trie returns the beginnings of all tokens, the empty one first, shorter ones before longer ones: those that go on
// from the same one stand together.
func trie(ranks map[string]int) []string {
	seen := map[string]bool{"": true}
	for t := range ranks {
		for n := len(t); n > 0 && !seen[t[:n]]; n-- {
			seen[t[:n]] = true
		}
	}
	return slices.SortedFunc(maps.Keys(seen), func(a, b string) int {
		return cmp.Or(cmp.Compare(len(a), len(b)), cmp.Compare(a, b))
	})
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
