package bank

import (
	"encoding/base64"

	"github.com/kagewasm/kagewasm/internal/sum"
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
	length := func(s string) string {
		var w writer
		w.number(len(s))
		return string(w)
	}
	whole := sum.Of(length(m.Session), m.Session, length(m.Author), m.Author, length(m.Text), m.Text)
	var letters [12]byte // of 72 bits
	base64.RawURLEncoding.Encode(letters[:], whole[:9])
	copy(m.sum[:], letters[:])
	return m.sum
}

// markBytes is the length of a mark.
const markBytes = 8

// Mark tells the memories of a session apart, in eight letters.
func (m *Memory) Mark() string {
	h := m.hash()
	return string(h[:markBytes])
}
