package bank

import (
	"crypto/sha256"
	"encoding/base64"
)

// hashBytes is the length of a hash, of 60 bits, as text.
const hashBytes = 10

type hash [hashBytes]byte

// hash tells memories apart: by session, author and text.
func (m *Memory) hash() (h hash) {
	d := sha256.New()
	for _, s := range [...]string{m.Session, m.Author, m.Text} {
		var w writer
		w.number(len(s))
		d.Write(w)
		d.Write([]byte(s))
	}
	var sum [sha256.Size]byte
	copy(h[:], base64.RawURLEncoding.EncodeToString(d.Sum(sum[:0])))
	return h
}
