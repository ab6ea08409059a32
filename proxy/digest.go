package proxy

import (
	"bytes"
	"hash/maphash"
)

// digest is what an element of a conversation is known by as long as the process lives.
type digest [2]uint64

var seeds = [2]maphash.Seed{maphash.MakeSeed(), maphash.MakeSeed()}

// digests are those of the elements of a request, by their bytes and by what they say.
type digests struct{ bytes, says []digest }

// digests are those of the elements behind the leading system messages. Nearly all of them
// were in the last request, and are known by their bytes.
func (w *wire) digests(d *document, last *digests) []digest {
	n := len(d.els) - d.lead
	now := digests{make([]digest, n), make([]digest, n)}
	for i, at := range d.els[d.lead:] {
		now.bytes[i] = sum(at.of(d.doc))
		switch {
		case !w.marks:
			now.says[i] = now.bytes[i]
		case i < len(last.bytes) && last.bytes[i] == now.bytes[i]:
			now.says[i] = last.says[i]
		default:
			now.says[i] = w.digest(d, at)
		}
	}
	*last = now
	return now.says
}

// digest is that of an element. Where the wire has cache marks they are left out, as
// clients move them from one message to the next with each request, and a content of one
// text is the same as that text: a mark makes the one of the other.
func (w *wire) digest(d *document, at span) digest {
	return sum(w.parts(d, at)...)
}

// bare is what the digest of an element is made of, for digests that last.
func (w *wire) bare(d *document, at span) []byte { return bytes.Join(w.parts(d, at), nil) }

func (w *wire) parts(d *document, at span) (parts [][]byte) {
	if !w.marks || d.doc[at.start] != '{' {
		return [][]byte{at.of(d.doc)}
	}
	d.members(at, func(key, value span) {
		parts = append(parts, key.of(d.doc), []byte{':'})
		if string(key.of(d.doc)) == `"content"` && d.doc[value.start] == '[' {
			parts = d.blocks(parts, value)
			return
		}
		parts = append(parts, value.of(d.doc), []byte{','})
	})
	return parts
}

const mark = `"cache_control"`

// blocks appends the blocks of a content without their marks.
func (d *document) blocks(parts [][]byte, list span) [][]byte {
	els := d.elements(list)
	if len(els) == 1 {
		if text, alone := d.onlyText(els[0]); alone {
			return append(parts, text.of(d.doc), []byte{','})
		}
	}
	parts = append(parts, []byte{'['})
	for _, at := range els {
		if d.doc[at.start] != '{' {
			parts = append(parts, at.of(d.doc), []byte{','})
			continue
		}
		parts = append(parts, []byte{'{'})
		d.members(at, func(key, value span) {
			if string(key.of(d.doc)) != mark {
				parts = append(parts, key.of(d.doc), []byte{':'}, value.of(d.doc), []byte{','})
			}
		})
		parts = append(parts, []byte{'}'})
	}
	return append(parts, []byte{']'})
}

// onlyText is the text of a block that has nothing else but a mark.
func (d *document) onlyText(block span) (text span, alone bool) {
	if d.doc[block.start] != '{' {
		return text, false
	}
	alone = true
	d.members(block, func(key, value span) {
		switch string(key.of(d.doc)) {
		case `"type"`:
			alone = alone && string(value.of(d.doc)) == `"text"`
		case `"text"`:
			text = value
		case mark:
		default:
			alone = false
		}
	})
	return text, alone && text.ok()
}

func sum(parts ...[]byte) (d digest) {
	if len(parts) == 1 {
		return digest{maphash.Bytes(seeds[0], parts[0]), maphash.Bytes(seeds[1], parts[0])}
	}
	for i, seed := range seeds {
		var h maphash.Hash
		h.SetSeed(seed)
		for _, p := range parts {
			_, _ = h.Write(p)
		}
		d[i] = h.Sum64()
	}
	return d
}
