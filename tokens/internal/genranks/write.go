package main

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"fmt"
	"maps"
	"slices"
)

// write returns a vocabulary as a trie of its tokens' bytes: the number of nodes, and then, node by node, how many
// children each has, its last byte, and the length of the first of the two tokens that it was merged from (its own
// where it is one byte, zero where it is no token); at last the tokens' ranks, in three planes of bytes, as like goes
// with like where it is compressed. The root's 256 children are more than a byte holds; it has zero.
func write(ranks map[string]int) ([]byte, error) {
	if err := check(ranks); err != nil {
		return nil, err
	}
	nodes := trie(ranks)
	index := make(map[string]int, len(nodes))
	for i, n := range nodes {
		index[n] = i
	}
	children, labels, lefts := make([]byte, len(nodes)), make([]byte, len(nodes)), make([]byte, len(nodes))
	var planes [3][]byte
	for i, n := range nodes[1:] {
		labels[1+i] = n[len(n)-1]
		if parent := index[n[:len(n)-1]]; parent > 0 {
			if children[parent]++; children[parent] == 0 {
				return nil, fmt.Errorf("%q goes on with any byte, which does not fit the form", n[:len(n)-1])
			}
		}
		rank, ok := ranks[n]
		if !ok {
			continue
		}
		left, err := left(ranks, n)
		if err != nil {
			return nil, err
		}
		lefts[1+i] = byte(left)
		for p := range planes {
			planes[p] = append(planes[p], byte(rank>>(8*p)))
		}
	}
	doc := binary.LittleEndian.AppendUint32(nil, uint32(len(nodes)))
	return compress(slices.Concat(doc, children, labels, lefts, planes[0], planes[1], planes[2]))
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
