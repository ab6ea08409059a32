//go:build !wasm

package sum

import "crypto/sha256"

func of(parts []string) (out [Size]byte) {
	h := sha256.New()
	for _, p := range parts {
		h.Write([]byte(p))
	}
	h.Sum(out[:0])
	return out
}
