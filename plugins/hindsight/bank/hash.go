package bank

import (
	"crypto/sha256"
	"encoding/base64"
)

// hashBytes is the length of a hash, of 60 bits, as text.
const hashBytes = 10

type hash [hashBytes]byte

// hash tells memories apart: by session, author and text. It is made once: that takes
// longer than anything else that is done with so many bytes.
func (m *Memory) hash() hash {
	if m.sum != (hash{}) {
		return m.sum
	}
	d := sha256.New()
	var w writer
	for _, s := range [...]string{m.Session, m.Author, m.Text} {
		w = w[:0]
		w.text(s)
		d.Write(w)
	}
	var sum [sha256.Size]byte
	copy(m.sum[:], base64.RawURLEncoding.EncodeToString(d.Sum(sum[:0])))
	return m.sum
}

// markBytes is the length of a mark.
const markBytes = 8

// Mark tells the memories of a session apart, in eight letters.
func (m *Memory) Mark() string {
	h := m.hash()
	return string(h[:markBytes])
}
