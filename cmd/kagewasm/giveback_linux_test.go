package main

import (
	"os"
	"testing"
)

// TestGiveBack: the program goes on after its code was given back, as often as it likes.
func TestGiveBack(t *testing.T) {
	if _, err := os.Stat("/proc/self/maps"); err != nil {
		t.Skip("the system does not say where code is:", err)
	}
	for range 3 {
		if n := giveBack(); n < 1<<20 {
			t.Errorf("%d bytes of code were given back: it is larger", n)
		}
	}
}
