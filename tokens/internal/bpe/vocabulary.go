package bpe

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"io"
	"math/bits"
)

// token is a token's rank, which is its id.
type token uint32

// none is no token.
const none = token(idMask) // more than any id

// vocabulary holds the tokens of an encoding in flat arrays that never change.
type vocabulary struct {
	// nodes are a trie of the tokens' bytes, of which the first is the root. Children stand beside each other, and
	// what is below them soon behind, so that a walk stays in one place.
	nodes  []node
	labels []byte          // the last byte of each node, and eight more, so that eight can be read at once
	second [1 << 16]uint32 // the nodes of two bytes, which have the most siblings

	origins []origin // by token
	// table is a hash table with open addressing: the ids of two tokens, and of the one that they merge to.
	table []uint64
}

type node struct {
	children uint32 // where the first is, and in the low byte how many there are; not of the root
	token    token  // or none
}

// origin is what a token was merged from.
type origin struct {
	left, right token // not those of a single byte
	lead        token // the longest other token that it begins with, or none
	size        int32 // in bytes
}

const (
	idBits   = 18 // of the largest id
	idMask   = 1<<idBits - 1
	bytesEnd = 256 // the tokens of single bytes come first
)

// readVocabulary reads what genranks writes.
func readVocabulary(gz []byte) (*vocabulary, error) {
	r, err := gzip.NewReader(bytes.NewReader(gz))
	if err != nil {
		return nil, err
	}
	doc := make([]byte, binary.LittleEndian.Uint32(gz[len(gz)-4:]))
	if _, err := io.ReadFull(r, doc); err != nil {
		return nil, err
	}
	n := int(binary.LittleEndian.Uint32(doc))
	children, labels, lefts, ids := doc[4:4+n], doc[4+n:4+2*n], doc[4+2*n:4+3*n], doc[4+3*n:]
	v := &vocabulary{labels: append(bytes.Clone(labels), make([]byte, 8)...), nodes: make([]node, n)}
	v.name(lefts, ids)
	b := builder{vocabulary: v, children: children, lefts: lefts, next: 1}
	b.link(0, bytesEnd) // all bytes are tokens
	b.explain(0, 0, none)
	v.table = make([]uint64, 1<<bits.Len(uint(2*len(v.origins)-1)))
	for t := bytesEnd; t < len(v.origins); t++ {
		v.insert(v.origins[t].left, v.origins[t].right, token(t))
	}
	return v, nil
}

// name tells the nodes which tokens they are.
func (v *vocabulary) name(lefts, ids []byte) {
	count, next := len(ids)/3, 0
	v.origins = make([]origin, count)
	for i, left := range lefts {
		v.nodes[i].token = none
		if left > 0 {
			v.nodes[i].token = token(ids[next]) | token(ids[count+next])<<8 | token(ids[2*count+next])<<16
			next++
		}
	}
}

// builder walks over the trie.
type builder struct {
	*vocabulary
	children []byte // by node: how many
	lefts    []byte // by node: the length of the left part, or zero where no token ends
	next     uint32 // node that is no child yet
	path     [maxToken]byte
	above    [maxToken + 1]token // the tokens that the path begins with, by length
}

// maxToken is the length of the longest token.
const maxToken = 128

// link tells a node and those below it where their children are.
func (b *builder) link(n uint32, children uint32) {
	first := b.next
	b.nodes[n].children = first<<8 | children&0xff
	b.next += children
	for child := first; child < first+children; child++ {
		if n-1 < bytesEnd { // one byte: these nodes come first
			b.second[(n-1)<<8|uint32(b.labels[child])] = child
		}
		b.link(child, uint32(b.children[child]))
	}
}

// explain tells of the tokens at a node and below it what they were merged from.
func (b *builder) explain(n uint32, depth int, lead token) {
	t := b.nodes[n].token
	b.above[depth] = t
	if t != none {
		from := origin{lead: lead, size: int32(depth)}
		if left := int(b.lefts[n]); left < depth {
			from.left = b.above[left]
			from.right = b.longest(string(b.path[left:depth]))
		}
		b.origins[t], lead = from, t
	}
	first, end := b.below(n)
	if n == 0 {
		end = first + bytesEnd
	}
	for child := first; child < end; child++ {
		b.path[depth] = b.labels[child]
		b.explain(child, depth+1, lead)
	}
}

// insert adds a pair to the table.
func (v *vocabulary) insert(left, right, t token) {
	i := v.slot(left, right)
	for v.table[i] != 0 {
		i = (i + 1) & uint64(len(v.table)-1)
	}
	v.table[i] = uint64(left)<<(2*idBits) | uint64(right)<<idBits | uint64(t)
}

// merge returns the token that two tokens merge to, or none.
func (v *vocabulary) merge(left, right token) token {
	key := uint64(left)<<idBits | uint64(right)
	for i := v.slot(left, right); v.table[i] != 0; i = (i + 1) & uint64(len(v.table)-1) {
		if v.table[i]>>idBits == key {
			return token(v.table[i] & idMask)
		}
	}
	return none
}

// golden spreads what is multiplied with it over the upper bits.
const golden = 0x9e3779b97f4a7c15

func (v *vocabulary) slot(left, right token) uint64 {
	return (uint64(left)<<idBits | uint64(right)) * golden >> 32 & uint64(len(v.table)-1)
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

// longest returns the longest token that the text, which is not empty, begins with.
func (v *vocabulary) longest(text string) token {
	best := v.single(text[0])
	if len(text) == 1 {
		return best
	}
	n := v.second[uint32(text[0])<<8|uint32(text[1])]
	for i := 2; n != 0; i++ {
		if t := v.nodes[n].token; t != none {
			best = t
		}
		if i == len(text) {
			break
		}
		n = v.child(n, text[i])
	}
	return best
}

// single returns the token of a byte.
func (v *vocabulary) single(b byte) token { return v.nodes[1+int(b)].token }

// size returns the length of a token in bytes.
func (v *vocabulary) size(t token) int { return int(v.origins[t].size) }
