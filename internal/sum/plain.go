package sum

import (
	"encoding/binary"
	"unsafe"
)

// plain is SHA-256 in Go, as FIPS 180-4 writes it down.
type plain struct {
	state [8]uint32
	rest  [blockBytes]byte // what is no whole block yet
	used  int              // of it
}

const blockBytes = 64

func plainOf(parts []string) [Size]byte {
	p := plain{state: [8]uint32{
		0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19,
	}}
	length := 0
	for _, text := range parts {
		p.write(text)
		length += len(text)
	}
	return p.end(uint64(length))
}

func (p *plain) write(text string) {
	if p.used > 0 {
		n := copy(p.rest[p.used:], text)
		text = text[n:]
		if p.used += n; p.used < blockBytes {
			return
		}
		p.block(&p.rest)
	}
	bytes := unsafe.Slice(unsafe.StringData(text), len(text))
	for ; len(bytes) >= blockBytes; bytes = bytes[blockBytes:] {
		p.block((*[blockBytes]byte)(bytes))
	}
	p.used = copy(p.rest[:], bytes)
}

// end ends a text of that length in bytes.
func (p *plain) end(length uint64) (out [Size]byte) {
	p.rest[p.used] = 0x80
	clear(p.rest[p.used+1:])
	if p.used >= blockBytes-8 {
		p.block(&p.rest)
		clear(p.rest[:])
	}
	binary.BigEndian.PutUint64(p.rest[blockBytes-8:], length*8)
	p.block(&p.rest)
	for i, s := range p.state {
		binary.BigEndian.PutUint32(out[4*i:], s)
	}
	return out
}

// block takes in a block. Eight rounds stand one behind the other, after
// which each variable has its own part again: a jump takes a guest as long as a round. The
// lower half of a variable counts: to cut off the upper one each time takes longer.
func (p *plain) block(in *[blockBytes]byte) {
	var w [64]uint64
	schedule(&w, in)
	s := &p.state
	a, b, c, d := uint64(s[0]), uint64(s[1]), uint64(s[2]), uint64(s[3])
	e, f, g, h := uint64(s[4]), uint64(s[5]), uint64(s[6]), uint64(s[7])
	for i := 0; i < len(w); i += 8 {
		w, k := (*[8]uint64)(w[i:]), (*[8]uint32)(constants[i:])
		h += mix1(e) + (g ^ e&(f^g)) + uint64(k[0]) + w[0]
		d, h = d+h, h+mix0(a)+(a&b^c&(a^b))
		g += mix1(d) + (f ^ d&(e^f)) + uint64(k[1]) + w[1]
		c, g = c+g, g+mix0(h)+(h&a^b&(h^a))
		f += mix1(c) + (e ^ c&(d^e)) + uint64(k[2]) + w[2]
		b, f = b+f, f+mix0(g)+(g&h^a&(g^h))
		e += mix1(b) + (d ^ b&(c^d)) + uint64(k[3]) + w[3]
		a, e = a+e, e+mix0(f)+(f&g^h&(f^g))
		d += mix1(a) + (c ^ a&(b^c)) + uint64(k[4]) + w[4]
		h, d = h+d, d+mix0(e)+(e&f^g&(e^f))
		c += mix1(h) + (b ^ h&(a^b)) + uint64(k[5]) + w[5]
		g, c = g+c, c+mix0(d)+(d&e^f&(d^e))
		b += mix1(g) + (a ^ g&(h^a)) + uint64(k[6]) + w[6]
		f, b = f+b, b+mix0(c)+(c&d^e&(c^d))
		a += mix1(f) + (h ^ f&(g^h)) + uint64(k[7]) + w[7]
		e, a = e+a, a+mix0(b)+(b&c^d&(b^c))
	}
	for i, v := range [...]uint64{a, b, c, d, e, f, g, h} {
		s[i] += uint32(v)
	}
}

// schedule spreads a block over all rounds.
func schedule(w *[64]uint64, in *[blockBytes]byte) {
	for i := range 16 {
		w[i] = uint64(binary.BigEndian.Uint32(in[4*i:]))
	}
	for i := 0; i < 48; i += 4 {
		w := (*[20]uint64)(w[i:])
		w[16] = w[0] + small0(w[1]) + w[9] + small1(w[14])
		w[17] = w[1] + small0(w[2]) + w[10] + small1(w[15])
		w[18] = w[2] + small0(w[3]) + w[11] + small1(w[16])
		w[19] = w[3] + small0(w[4]) + w[12] + small1(w[17])
	}
}

// twice is the lower half of x in both halves.
func twice(x uint64) uint64 { return x&(1<<32-1) | x<<32 }

func mix0(x uint64) uint64 { x = twice(x); return x>>2 ^ x>>13 ^ x>>22 }

func mix1(x uint64) uint64 { x = twice(x); return x>>6 ^ x>>11 ^ x>>25 }

func small0(x uint64) uint64 { y := twice(x); return y>>7 ^ y>>18 ^ (x&(1<<32-1))>>3 }

func small1(x uint64) uint64 { y := twice(x); return y>>17 ^ y>>19 ^ (x&(1<<32-1))>>10 }

// constants are the first bits of the cube roots of the first primes.
var constants = [64]uint32{
	0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
	0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
	0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
	0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
	0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
	0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
	0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
	0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
}
