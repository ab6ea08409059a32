package proxy

import (
	"bytes"
	"compress/gzip"
	"crypto/aes"
	"crypto/cipher"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"io"
	"strings"

	"github.com/kagewasm/kagewasm/internal/sealmark"
)

// sealed is what a compaction made of a conversation, as a client keeps it: the provider
// whose API this stands for hands out such items too, which only it can read.
type sealed struct {
	// Session and Record name the compaction in the store.
	Session string `json:"session"`
	Record  string `json:"record,omitempty"`
	// Items stand for all that was there before, each the JSON of one. Covers are the digests
	// of that.
	Items  []string `json:"items"`
	Covers [][]byte `json:"covers"`
}

// sealer seals items, and opens its own. Who does not have the key can neither read them
// nor make one that is taken for ours.
type sealer struct{ aead cipher.AEAD }

// newSealer makes one of a key; without one items can be opened as long as the process
// lives.
func newSealer(key []byte) (*sealer, error) {
	if len(key) == 0 {
		key = make([]byte, 32)
		if _, err := rand.Read(key); err != nil {
			return nil, err
		}
	}
	mac := hmac.New(sha256.New, key)
	_, _ = mac.Write([]byte("proxy: sealed items"))
	block, err := aes.NewCipher(mac.Sum(nil))
	if err != nil {
		return nil, err
	}
	aead, err := cipher.NewGCM(block)
	return &sealer{aead}, err
}

func (s *sealer) seal(what *sealed) (string, error) {
	plain, err := json.Marshal(what)
	if err != nil {
		return "", err
	}
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	if _, err = z.Write(plain); err == nil {
		err = z.Close()
	}
	nonce := make([]byte, s.aead.NonceSize())
	if err == nil {
		_, err = rand.Read(nonce)
	}
	if err != nil {
		return "", err
	}
	return sealmark.Prefix + base64.RawURLEncoding.EncodeToString(s.aead.Seal(nonce, nonce, packed.Bytes(),
		[]byte(sealmark.Prefix))), nil
}

// open is nil for what is not its own: that is the provider's, and stays as it is.
func (s *sealer) open(text string, most int64) *sealed {
	text, own := strings.CutPrefix(text, sealmark.Prefix)
	data, err := base64.RawURLEncoding.DecodeString(text)
	n := s.aead.NonceSize()
	if !own || err != nil || len(data) < n {
		return nil
	}
	packed, err := s.aead.Open(nil, data[:n], data[n:], []byte(sealmark.Prefix))
	if err != nil {
		return nil
	}
	z, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		return nil
	}
	plain, err := io.ReadAll(io.LimitReader(z, most))
	what := &sealed{}
	if err != nil || json.Unmarshal(plain, what) != nil {
		return nil
	}
	return what
}

// cover is the digest of an element as long as a client keeps it.
func cover(element []byte) []byte {
	sum := sha256.Sum256(element)
	return sum[:12]
}
