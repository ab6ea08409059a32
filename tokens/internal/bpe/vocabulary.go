package bpe

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"io"
	"math/bits"
	"sync/atomic"
)

// token is a token's rank, which is its id.
type token uint32

// none is no token.
const none = token(idMask) // more than any id

// vocabulary holds the tokens of an encoding. What a text needs of it beside the trie is worked out when it is first
// needed: a session uses a small part of a vocabulary, and a command waits for all that is loaded.
type vocabulary struct {
	// nodes are a trie of the tokens' bytes, of which the first is the root. Children stand beside each other, and
	// what is below them soon behind, so that a walk stays in one place.
	nodes  []node
	labels []byte          // the last byte of each node, and eight more, so that eight can be read at once
	second [1 << 16]uint32 // the nodes of two bytes, which have the most siblings

	origins []atomic.Uint64 // by token, each an [origin]; zero where nobody asked yet
}

// node is where its first child is, and in the low byte how many there are; and its token, and above that the length
// of the left one of the two that the token was merged from (its own length where it is one byte).
type node struct{ children, token uint32 }

// is is the token that ends at a node, or none.
func (n node) is() token { return token(n.token & idMask) }

// left is the length of the left part of a node's token.
func (n node) left() int { return int(n.token >> idBits) }

const (
	idBits   = 18 // of the largest id
	idMask   = 1<<idBits - 1
	bytesEnd = 256 // the tokens of single bytes come first
)

// readVocabulary reads what genranks writes.
func readVocabulary(labels, doc []byte) *vocabulary {
	var sizes [4]int // of nodes, tokens, and what does not fit into its bits
	for i := range sizes {
		sizes[i] = int(binary.LittleEndian.Uint32(doc[4*i:]))
	}
	doc = doc[4*len(sizes):]
	part := func(n int) []byte {
		p := doc[:n:n]
		doc = doc[n:]
		return p
	}
	bits := func(n, each int) []byte { return part((n*each + 7) / 8) }
	nodes, tokens, many, long := sizes[0], sizes[1], sizes[2], sizes[3]
	v := &vocabulary{labels: labels, nodes: make([]node, nodes), origins: make([]atomic.Uint64, tokens)}
	b := builder{vocabulary: v, counts: bits(nodes-1, 2), many: part(many), next: 1}
	v.name(bits(nodes, 1), bits(tokens, 4), part(long), part(tokens), part(tokens), bits(tokens, 2))
	b.link(0, bytesEnd) // all bytes are tokens
	return v
}

// unpack panics where what is linked into the program cannot be read: there is nothing a caller could do.
func unpack(gz []byte) []byte {
	r, err := gzip.NewReader(bytes.NewReader(gz))
	if err == nil {
		doc := make([]byte, binary.LittleEndian.Uint32(gz[len(gz)-4:])) // the length stands at the end
		if _, err = io.ReadFull(r, doc); err == nil {
			return doc
		}
	}
	panic("bpe: embedded vocabulary: " + err.Error())
}

// name tells the nodes which tokens they are.
func (v *vocabulary) name(isToken, lefts, long, low, middle, high []byte) {
	next, more := 0, 0
	for i := range v.nodes {
		if isToken[i/8]>>(i%8)&1 == 0 {
			v.nodes[i].token = uint32(none)
			continue
		}
		left := uint32(lefts[next/2] >> (next % 2 * 4) & 15)
		if left == 15 {
			left = uint32(long[more])
			more++
		}
		id := uint32(low[next]) | uint32(middle[next])<<8 | uint32(high[next/4]>>(next%4*2)&3)<<16
		v.nodes[i].token = id | left<<idBits
		next++
	}
}

// builder walks over the trie.
type builder struct {
	*vocabulary
	counts []byte // of children, two bits each, in the order of the walk
	many   []byte // children of those that have three or more
	met    int    // nodes whose children were counted
	next   uint32 // node that is no child yet
}

// count is how many children the next node of the walk has.
func (b *builder) count() uint32 {
	n := uint32(b.counts[b.met/4] >> (b.met % 4 * 2) & 3)
	if b.met++; n == 3 {
		n, b.many = uint32(b.many[0]), b.many[1:]
	}
	return n
}

// link tells a node that has children, and those below it, where their children are.
func (b *builder) link(n uint32, children uint32) {
	first := b.next
	b.nodes[n].children = first<<8 | children&0xff
	b.next += children
	if n-1 < bytesEnd { // one byte: these nodes come first
		for child := first; child < first+children; child++ {
			b.second[(n-1)<<8|uint32(b.labels[child])] = child
		}
	}
	for child := first; child < first+children; child++ {
		if below := b.count(); below > 0 {
			b.link(child, below)
		}
	}
}

// below returns where a node's children begin and end. It is not for the root.
func (v *vocabulary) below(n uint32) (from, end uint32) {
	from = v.nodes[n].children >> 8
	return from, from + v.nodes[n].children&0xff
}

// child returns the child of a node with the label, or 0. It looks at eight labels at a time.
func (v *vocabulary) child(n uint32, label byte) uint32 {
	const ones, highs = 0x0101010101010101, 0x8080808080808080
	for at, end := v.below(n); at < end; at += 8 {
		x := binary.LittleEndian.Uint64(v.labels[at:]) ^ uint64(label)*ones
		if zeros := (x - ones) &^ x & highs; zeros != 0 {
			if at += uint32(bits.TrailingZeros64(zeros) / 8); at < end {
				return at
			}
			return 0
		}
	}
	return 0
}

// longest returns the longest token that the text, which is not empty, begins with, and its length.
func (v *vocabulary) longest(text string) (best token, size int) {
	best, size = v.single(text[0]), 1
	if len(text) == 1 {
		return best, size
	}
	n := v.second[uint32(text[0])<<8|uint32(text[1])]
	for i := 2; n != 0; i++ {
		if t := v.nodes[n].is(); t != none {
			best, size = t, i
		}
		if i == len(text) {
			break
		}
		n = v.child(n, text[i])
	}
	return best, size
}

// find returns the node of a text, which is not empty, and the length of the longest token that the text begins with
// and goes on from. It returns 0 where no token begins with the text.
func (v *vocabulary) find(text string) (n uint32, lead int) {
	n = 1 + uint32(text[0])
	for i := 1; i < len(text) && n != 0; i++ {
		if v.nodes[n].is() != none {
			lead = i
		}
		if i == 1 {
			n = v.second[uint32(text[0])<<8|uint32(text[1])]
		} else {
			n = v.child(n, text[i])
		}
	}
	return n, lead
}

// single returns the token of a byte.
func (v *vocabulary) single(b byte) token { return v.nodes[1+int(b)].is() }

// size returns the length of a token in bytes, which was explained.
func (v *vocabulary) size(t token) int { return v.origin(t).size() }
