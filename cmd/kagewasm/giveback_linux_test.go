package main

import (
	"os"
	"slices"
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

// TestReadOnly: what is given back is the program's own, and nothing that anybody writes to.
func TestReadOnly(t *testing.T) {
	const maps = `00400000-00500000 r-xp 00000000 fe:00 11 /usr/bin/kagewasm
00500000-00600000 r--p 00100000 fe:00 11 /usr/bin/kagewasm
00600000-00700000 rw-p 00200000 fe:00 11 /usr/bin/kagewasm
c000000000-c000400000 rw-p 00000000 00:00 0
7f0000000000-7f0000100000 r-xp 00000000 fe:00 12 /usr/lib/libc.so.6
7f0000100000-7f0000200000 r--p 00000000 fe:00 13 /home/a person/session.jsonl
`
	want := [][2]uintptr{{0x400000, 0x500000}, {0x500000, 0x600000}}
	if got := readOnly(maps, 0x450000); !slices.Equal(got, want) {
		t.Errorf("%x, want %x", got, want)
	}
}
