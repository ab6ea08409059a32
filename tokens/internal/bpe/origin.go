package bpe

// origin packs the two tokens that a token was merged from (none for one byte), the longest other token
// that it begins with, or none, and its length in bytes.
type origin uint64

const (
	sizeBits   = 64 - 3*idBits
	leadShift  = sizeBits
	rightShift = leadShift + idBits
	leftShift  = rightShift + idBits
)

func (o origin) left() token  { return token(o >> leftShift & idMask) }
func (o origin) right() token { return token(o >> rightShift & idMask) }
func (o origin) lead() token  { return token(o >> leadShift & idMask) }
func (o origin) size() int    { return int(o & (1<<sizeBits - 1)) }

// origin returns the origin of a token that was explained.
func (v *vocabulary) origin(t token) origin { return origin(v.origins[t].Load()) }

// explain returns the token that the text spells, and records what it was merged from. The tokens it
// rests on are recorded first, so that a concurrent reader never sees half of an origin. Each token is
// explained once.
func (v *vocabulary) explain(text string) token {
	n, lead := v.find(text)
	at := v.node(n)
	t := at.is()
	if v.origins[t].Load() != 0 {
		return t
	}
	var left, right token
	if mid := at.left(); mid < len(text) {
		left, right = v.explain(text[:mid]), v.explain(text[mid:])
	}
	longest := none
	if lead > 0 {
		longest = v.explain(text[:lead])
	}
	v.origins[t].Store(uint64(left)<<leftShift | uint64(right)<<rightShift | uint64(longest)<<leadShift |
		uint64(len(text)))
	return t
}

// begin returns the longest token that the text, which is not empty, begins with, explained.
func (v *vocabulary) begin(text string) token {
	t, size := v.longest(text)
	if v.origins[t].Load() == 0 {
		v.explain(text[:size])
	}
	return t
}
