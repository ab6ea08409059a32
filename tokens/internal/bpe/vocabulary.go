package bpe

import (
	"encoding/binary"
	"math/bits"
	"sort"
	"sync/atomic"
)

// token is a token's rank, which is its id.
type token uint32

// none is no token.
const none = token(idMask) // more than any id

// vocabulary holds the tokens of an encoding, in the form that genranks describes: nothing is unpacked or linked, as a
// command waits for all that is loaded. What a text needs of it is worked out when it is first needed: a session uses a
// small part of a vocabulary.
type vocabulary struct {
	// records are a trie of the tokens' bytes, of which the first node is the root. Children stand beside each other.
	records []byte
	labels  []byte // the last byte of each node, and eight more, so that eight can be read at once
	many    []byte // how many more than three children nodes have
	tokens  []byte
	long    []byte // the tokens with long left parts

	// What was worked out, zeros elsewhere.
	met     [1 << metBits]atomic.Uint64 // nodes, each a [node], by the lower bits of where they are
	second  [1 << 16]atomic.Uint32      // one more than the nodes of two bytes, which have the most siblings
	origins []atomic.Uint64             // by token, each an [origin]
}

// node is a node of the trie: in the lowest bits its token, above that the length of the left one of the two that the
// token was merged from (its own length where it is one byte), how many children it has, where the first of them is,
// and one more than the upper bits of where it is itself.
type node uint64

const (
	countShift = idBits + 7
	firstShift = countShift + 8
	nodeBits   = 19 // of where a node is
	ownShift   = firstShift + nodeBits
	metBits    = 14
)

// is is the token that ends at a node, or none.
func (n node) is() token { return token(n & idMask) }

// left is the length of the left part of a node's token.
func (n node) left() int { return int(n >> idBits & (1<<(countShift-idBits) - 1)) }

// below returns where a node's children begin and end.
func (n node) below() (from, end uint32) {
	from = uint32(n >> firstShift & (1<<nodeBits - 1))
	return from, from + uint32(n>>countShift&0xff)
}

const (
	idBits   = 18 // of the largest id
	idMask   = 1<<idBits - 1
	bytesEnd = 256 // the tokens of single bytes come first

	perRecord  = 32 // nodes
	recordSize = 24 // bytes
	tokenSize  = 3
	longLeft   = 1<<6 - 1
)

// readVocabulary reads what genranks writes.
func readVocabulary(labels, doc []byte) *vocabulary {
	var sizes [4]int // of nodes, tokens, the many and the long
	for i := range sizes {
		sizes[i] = int(binary.LittleEndian.Uint32(doc[4*i:]))
	}
	doc = doc[4*len(sizes):]
	part := func(n int) []byte {
		p := doc[:n:n]
		doc = doc[n:]
		return p
	}
	nodes, tokens, many, long := sizes[0], sizes[1], sizes[2], sizes[3]
	v := &vocabulary{records: part((nodes + perRecord - 1) / perRecord * recordSize), labels: labels,
		many: part(many), tokens: part(tokens*tokenSize + 1), long: part(4 * long), origins: make([]atomic.Uint64, tokens)}
	for i := 0; i < tokens; i += page / 8 {
		v.origins[i].Store(0)
	}
	return v
}

// page is what the system gives memory in, in bytes. Memory that is asked first and written to then costs it twice, so
// that tables of which most is needed are written to before.
const page = 4096

// node is a node of the trie, but for the root.
func (v *vocabulary) node(n uint32) node {
	at := &v.met[n%(1<<metBits)]
	met := node(at.Load())
	if uint32(met>>ownShift) != n>>metBits+1 {
		met = v.read(n)
		at.Store(uint64(met))
	}
	return met
}

// read reads a node off its record.
func (v *vocabulary) read(n uint32) node {
	const low, high = 0x5555555555555555, 0xaaaaaaaaaaaaaaaa
	r, at := v.records[n/perRecord*recordSize:][:recordSize], n%perRecord
	counts := binary.LittleEndian.Uint64(r)
	before := counts & (1<<(2*at) - 1)
	from := binary.LittleEndian.Uint32(r[8:]) + uint32(bits.OnesCount64(before)+bits.OnesCount64(before&high))
	count := uint32(counts >> (2 * at) & 3)
	if full := counts & (counts >> 1) & low; full != 0 {
		many := v.many[binary.LittleEndian.Uint32(r[20:]):]
		passed := bits.OnesCount64(full & (1<<(2*at) - 1))
		for _, more := range many[:passed] {
			from += uint32(more)
		}
		if count == 3 {
			count += uint32(many[passed])
		}
	}
	is, isToken := uint32(none), binary.LittleEndian.Uint32(r[12:])
	if isToken>>at&1 != 0 {
		is = v.token(binary.LittleEndian.Uint32(r[16:]) + uint32(bits.OnesCount32(isToken&(1<<at-1))))
	}
	return node(n>>metBits+1)<<ownShift | node(from)<<firstShift | node(count)<<countShift | node(is)
}

// token is the token at a place, and above it the length of its left part.
func (v *vocabulary) token(place uint32) uint32 {
	packed := binary.LittleEndian.Uint32(v.tokens[place*tokenSize:]) & (1<<(8*tokenSize) - 1)
	if packed>>idBits < longLeft {
		return packed
	}
	i := sort.Search(len(v.long)/4, func(i int) bool {
		return binary.LittleEndian.Uint32(v.long[4*i:])&(1<<24-1) >= place
	})
	return packed&idMask | uint32(v.long[4*i+3])<<idBits
}

// child returns the child of a node with the label, or 0. It looks at eight labels at a time.
func (v *vocabulary) child(of node, label byte) uint32 {
	const ones, highs = 0x0101010101010101, 0x8080808080808080
	for at, end := of.below(); at < end; at += 8 {
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
	n := v.twoBytes(text)
	for i := 2; n != 0; i++ {
		at := v.node(n)
		if t := at.is(); t != none {
			best, size = t, i
		}
		if i == len(text) {
			break
		}
		n = v.child(at, text[i])
	}
	return best, size
}

// find returns the node of a text, which is not empty, and the length of the longest token that the text begins with
// and goes on from. It returns 0 where no token begins with the text.
func (v *vocabulary) find(text string) (n uint32, lead int) {
	n = 1 + uint32(text[0])
	for i := 1; i < len(text) && n != 0; i++ {
		at := v.node(n)
		if at.is() != none {
			lead = i
		}
		if i == 1 {
			n = v.twoBytes(text)
		} else {
			n = v.child(at, text[i])
		}
	}
	return n, lead
}

// twoBytes returns the node of the first two bytes of a text, or 0.
func (v *vocabulary) twoBytes(text string) uint32 {
	at := &v.second[uint32(text[0])<<8|uint32(text[1])]
	n := at.Load()
	if n == 0 {
		n = v.child(v.node(1+uint32(text[0])), text[1]) + 1
		at.Store(n)
	}
	return n - 1
}

// single returns the token of a byte.
func (v *vocabulary) single(b byte) token { return v.node(1 + uint32(b)).is() }

// size returns the length of a token in bytes, which was explained.
func (v *vocabulary) size(t token) int { return v.origin(t).size() }
