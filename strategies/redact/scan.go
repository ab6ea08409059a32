package redact

import (
	"context"
	"strings"
)

// lookEvery is how much of a text is read between two looks at the context, in bytes.
const lookEvery = 64 << 10

// scanner finds, in one pass over a text, where the words of all rules stand:
// few texts hold more than a few of them, and most hold none.
type scanner struct {
	rules int
	pairs [1 << 10]uint64    // the first two bytes of words, as a set
	of    map[uint16][]entry // by these
}

// entry is a word of a rule.
type entry struct {
	word string
	rule int
}

func newScanner(rules []rule) *scanner {
	s := &scanner{rules: len(rules), of: make(map[uint16][]entry)}
	for i, r := range rules {
		for _, w := range r.words {
			if len(w) > 1 {
				s.add(uint16(w[0])<<8|uint16(w[1]), entry{w, i})
				continue
			}
			for next := range 256 { // whatever follows: no secret is a letter long
				s.add(uint16(w[0])<<8|uint16(next), entry{w, i})
			}
		}
	}
	return s
}

func (s *scanner) add(pair uint16, e entry) {
	s.pairs[pair>>6] |= 1 << (pair & 63)
	s.of[pair] = append(s.of[pair], e)
}

// places are, by rule, where one of its words stands in a text, whatever the
// case, in order. It ends early where the context is done.
func (s *scanner) places(ctx context.Context, text string) [][]int {
	places := make([][]int, s.rules)
	for i := 0; i+1 < len(text); i++ {
		if i%lookEvery == 0 && ctx.Err() != nil {
			break
		}
		pair := uint16(low[text[i]])<<8 | uint16(low[text[i+1]])
		if s.pairs[pair>>6]&(1<<(pair&63)) == 0 {
			continue
		}
		for _, e := range s.of[pair] {
			list, end := places[e.rule], i+len(e.word)
			if end > len(text) || !strings.EqualFold(text[i:end], e.word) {
				continue
			}
			if len(list) == 0 || list[len(list)-1] != i {
				places[e.rule] = append(list, i)
			}
		}
	}
	return places
}

// low is a byte with ASCII letters in lower case.
var low = func() (t [256]byte) {
	for i := range t {
		t[i] = byte(i)
		if 'A' <= i && i <= 'Z' {
			t[i] |= 0x20
		}
	}
	return t
}()

func lower(s string) string {
	b := []byte(s)
	for i, c := range b {
		b[i] = low[c]
	}
	return string(b)
}
