package bank

import (
	"fmt"
	"math"
)

// Numbers are written in base 32, the lowest digit first, each digit a letter
// that JSON does not escape; all but the last digit are among the upper 32.
const (
	alphabet  = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
	digitBits = 5
	more      = 1 << digitBits
)

// noDigit is the place of a byte that is not in the alphabet.
const noDigit = 0xff

// digits are the places in the alphabet by byte.
var digits = func() (by [256]uint8) {
	for i := range by {
		by[i] = noDigit
	}
	for i := range len(alphabet) {
		by[alphabet[i]] = uint8(i)
	}
	return by
}()

// writer appends numbers and texts.
type writer []byte

// number writes n, which is not negative.
func (w *writer) number(n int) {
	for ; n >= more; n >>= digitBits {
		*w = append(*w, alphabet[n&(more-1)|more])
	}
	*w = append(*w, alphabet[n])
}

// text writes the length of s in bytes, and s.
func (w *writer) text(s string) {
	w.number(len(s))
	*w = append(*w, s...)
}

// texts writes how many texts follow, and those.
func (w *writer) texts(list []string) {
	w.number(len(list))
	for _, s := range list {
		w.text(s)
	}
}

// column writes how many numbers follow, and those.
func (w *writer) column(list []int32) {
	w.number(len(list))
	for _, n := range list {
		w.number(int(n))
	}
}

// reader reads what a writer wrote. After the first failure, which err holds,
// everything is zero.
type reader struct {
	in  string
	pos int
	err error
}

func (r *reader) fail(what string) {
	if r.err == nil {
		r.err = fmt.Errorf("byte %d: %s", r.pos, what)
	}
	r.in, r.pos = "", 0
}

// number reads a number of at most 31 bits. Most have one digit.
func (r *reader) number() int {
	if r.pos < len(r.in) {
		if d := digits[r.in[r.pos]]; d < more {
			r.pos++
			return int(d)
		}
	}
	return r.longNumber()
}

func (r *reader) longNumber() int {
	n := 0
	for shift := 0; shift < 35 && r.pos < len(r.in); shift += digitBits {
		d := digits[r.in[r.pos]]
		if d == noDigit {
			break
		}
		r.pos++
		n |= int(d) & (more - 1) << shift
		if d < more {
			if n > math.MaxInt32 {
				break
			}
			return n
		}
	}
	r.fail("no number")
	return 0
}

// column reads how many numbers under limit follow, and those. It is number in a
// loop, for the long ones.
func (r *reader) column(limit int) []int32 {
	list := make([]int32, r.count(1))
	in, pos := r.in, r.pos
	for i := range list {
		if pos < len(in) {
			if d := digits[in[pos]]; d < more && int(d) < limit {
				list[i] = int32(d)
				pos++
				continue
			}
		}
		r.pos = pos
		list[i] = int32(r.below(limit))
		in, pos = r.in, r.pos
	}
	r.pos = pos
	return list
}

// count reads how many of something follow, each at least size bytes long.
func (r *reader) count(size int) int {
	n := r.number()
	if n > (len(r.in)-r.pos)/size {
		r.fail("more than there is room for")
		return 0
	}
	return n
}

// below reads a number under limit.
func (r *reader) below(limit int) int {
	n := r.number()
	if r.err == nil && n >= limit {
		r.fail("a number over its bound")
		return 0
	}
	return n
}

// text reads what writer.text wrote.
func (r *reader) text() string { return r.bytes(r.number()) }

// texts reads what writer.texts wrote.
func (r *reader) texts() (list []string) {
	for range r.count(1) {
		list = append(list, r.text())
	}
	return list
}

// bytes reads n bytes.
func (r *reader) bytes(n int) string {
	if n > len(r.in)-r.pos {
		r.fail("the end is missing")
		return ""
	}
	r.pos += n
	return r.in[r.pos-n : r.pos]
}

// magic reads what every value of a kind begins with.
func (r *reader) magic(want string) {
	if r.bytes(min(len(want), len(r.in))) != want {
		r.fail(fmt.Sprintf("does not begin with %q", want))
	}
}

// end fails where something is left.
func (r *reader) end() error {
	if r.err == nil && r.pos < len(r.in) {
		r.fail("more than was written")
	}
	return r.err
}
