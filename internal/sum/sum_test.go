package sum_test

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/kagewasm/kagewasm/internal/sum"
)

// both are the two ways, by name.
var both = map[string]func([]string) [sum.Size]byte{
	"of a guest": sum.Plain,
	"native":     func(parts []string) [sum.Size]byte { return sum.Of(parts...) },
}

// TestVectors: the examples of FIPS 180-4.
func TestVectors(t *testing.T) {
	for name, of := range both {
		for text, want := range map[string]string{
			"":    "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
			"abc": "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
			"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq": "" +
				"248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1",
			strings.Repeat("a", 1_000_000): "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0",
		} {
			if got := of([]string{text}); hex.EncodeToString(got[:]) != want {
				t.Errorf("%s: of %.20q it is %x", name, text, got)
			}
		}
	}
}

// TestLikeTheLibrary: texts of every length around the borders of blocks, in any parts.
func TestLikeTheLibrary(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		parts := rapid.SliceOfN(rapid.StringN(0, 150, 150), 0, 5).Draw(t, "parts")
		want := sha256.Sum256([]byte(strings.Join(parts, "")))
		for name, of := range both {
			if got := of(parts); got != want {
				t.Fatalf("%s: %x, want %x", name, got, want)
			}
		}
	})
	for n := range 3 * 64 {
		text := strings.Repeat("x", n)
		if sum.Plain([]string{text}) != sha256.Sum256([]byte(text)) {
			t.Errorf("of %d bytes it is another", n)
		}
	}
}

func BenchmarkPlain(b *testing.B) {
	text := []string{strings.Repeat("some text ", 6_000)}
	b.SetBytes(int64(len(text[0])))
	for b.Loop() {
		sum.Plain(text)
	}
}
