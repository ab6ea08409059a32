package unaligned_test

import (
	"slices"
	"testing"

	"github.com/kagewasm/kagewasm/internal/unaligned"
)

func TestAtAnyPlace(t *testing.T) {
	from := []byte("\x00\x01\x02\x03\x04\x05\x06\x07\x80\x81\x82\xff")
	for i := range 5 {
		x := unaligned.Load(from, i)
		if byte(x) != from[i] || byte(x>>56) != from[i+7] {
			t.Errorf("from %d on it reads %#x", i, x)
		}
		to := make([]byte, len(from))
		unaligned.Store(to, i, x)
		if !slices.Equal(to[i:i+8], from[i:i+8]) {
			t.Errorf("at %d it writes %q", i, to)
		}
	}
	for _, do := range []func(){
		func() { unaligned.Load(from, 5) }, func() { unaligned.Store(from, 5, 0) },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Error("it goes beyond the end")
				}
			}()
			do()
		}()
	}
}
