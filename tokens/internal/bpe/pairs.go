package bpe

import "slices"

// pairs encodes a text as byte-pair encoding is defined: of all neighbours, those two merge that make the least token,
// from the left. The least of each block is known, so that a step looks at the blocks, and into those that have it.
type pairs struct {
	text       string
	known      *merges
	tokens     []token // by where they begin
	merges     []token // what each and the next one merge to, or none
	prev, next []int32 // where the one before begins, and where the token ends
	least      []token // of the merges of a block
}

// block is about the root of the usual length of a text.
const block = 32

// encode appends the tokens of a text, which is not empty, explained.
func (p *pairs) encode(v *vocabulary, known *merges, text string, to []token) []token {
	p.text, p.known = text, known
	p.reset(v, text)
	for {
		least := slices.Min(p.least)
		if least == none {
			break
		}
		for b, l := range p.least {
			if l == least {
				p.merge(v, b, least)
			}
		}
	}
	for i := int32(0); int(i) < len(text); i = p.next[i] {
		to = append(to, v.explain(text[i:p.next[i]]))
	}
	p.text = "" // which may be part of a long one
	return to
}

// reset begins with the bytes of a text.
func (p *pairs) reset(v *vocabulary, text string) {
	n := len(text)
	p.tokens, p.merges = slices.Grow(p.tokens[:0], n)[:n], slices.Grow(p.merges[:0], n)[:n]
	p.prev, p.next = slices.Grow(p.prev[:0], n)[:n], slices.Grow(p.next[:0], n)[:n]
	p.least = slices.Grow(p.least[:0], n/block+1)[:(n+block-1)/block]
	for i := range n {
		p.tokens[i], p.prev[i], p.next[i] = v.single(text[i]), int32(i-1), int32(i+1)
	}
	for i := range n {
		p.merges[i] = p.after(v, int32(i))
	}
	for b := range p.least {
		p.update(b)
	}
}

// merge merges all in a block that merge to t. What that makes possible makes later tokens.
func (p *pairs) merge(v *vocabulary, b int, t token) {
	for i := b * block; i < min((b+1)*block, len(p.merges)); i++ {
		if p.merges[i] != t {
			continue
		}
		gone := p.next[i]
		p.tokens[i], p.next[i] = t, p.next[gone]
		if end := p.next[i]; int(end) < len(p.prev) {
			p.prev[end] = int32(i)
		}
		p.merges[i] = p.after(v, int32(i))
		p.set(gone, none, b)
		if before := p.prev[i]; before >= 0 {
			p.set(before, p.after(v, before), b)
		}
	}
	p.update(b)
}

// after returns what the token at i and the next one merge to, or none.
func (p *pairs) after(v *vocabulary, i int32) token {
	mid := p.next[i]
	if int(mid) == len(p.tokens) {
		return none
	}
	pair := pair(p.tokens[i], p.tokens[mid])
	merged, known := p.known.recall(pair)
	if !known {
		merged = p.known.learn(v, pair, p.text[i:p.next[mid]], int(mid-i))
	}
	return merged
}

// set says what the token at i and the next one merge to, while block b is merged.
func (p *pairs) set(i int32, t token, b int) {
	p.merges[i] = t
	if at := int(i) / block; at != b {
		p.update(at)
	}
}

// update finds the least merge of a block.
func (p *pairs) update(b int) {
	p.least[b] = slices.Min(p.merges[b*block : min((b+1)*block, len(p.merges))])
}
