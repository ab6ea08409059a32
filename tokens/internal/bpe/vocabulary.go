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

// readVocabulary reads what genranks writes. It panics where what is linked into the program cannot be read: there is
// nothing a caller could do.
func readVocabulary(gz []byte) *vocabulary {
	doc, err := unpack(gz)
	if err != nil {
		panic("bpe: embedded vocabulary: " + err.Error())
	}
	n := int(binary.LittleEndian.Uint32(doc))
	children, labels, lefts, ids := doc[4:4+n], doc[4+n:4+2*n+8], doc[4+2*n:4+3*n], doc[4+3*n:]
	v := &vocabulary{labels: labels, nodes: make([]node, n), origins: make([]atomic.Uint64, len(ids)/3)}
	v.name(lefts, ids)
	b := builder{vocabulary: v, counts: children, next: 1}
	b.link(0, bytesEnd) // all bytes are tokens
	return v
}

func unpack(gz []byte) ([]byte, error) {
	r, err := gzip.NewReader(bytes.NewReader(gz))
	if err != nil {
		return nil, err
	}
	doc := make([]byte, binary.LittleEndian.Uint32(gz[len(gz)-4:])) // the length stands at the end
	_, err = io.ReadFull(r, doc)
	return doc, err
}

// name tells the nodes which tokens they are.
func (v *vocabulary) name(lefts, ids []byte) {
	count, next := len(ids)/3, 0
	low, middle, high := ids[:count], ids[count:2*count], ids[2*count:]
	for i, left := range lefts {
		if left == 0 {
			v.nodes[i].token = uint32(none)
			continue
		}
		id := uint32(low[next]) | uint32(middle[next])<<8 | uint32(high[next])<<16
		v.nodes[i].token = id | uint32(left)<<idBits
		next++
	}
}

// builder walks over the trie.
type builder struct {
	*vocabulary
	counts []byte // of children, by node
	next   uint32 // node that is no child yet
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
		if below := b.counts[child]; below > 0 {
			b.link(child, uint32(below))
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
