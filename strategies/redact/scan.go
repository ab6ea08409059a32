package redact

import (
	"context"
	"strings"
	"sync"
)

// lookEvery is how much of a text is read between two looks at the context, in bytes.
const lookEvery = 64 << 10

// scanner finds, in one pass over a text, where the words of all rules stand:
// few texts hold more than a few of them, and most hold none.
type scanner struct {
	rules int
	// begins has a bit for each beginning that a word has, and of says which of the lists
	// has the words that begin so.
	begins [beginnings / 64]uint64
	of     [beginnings]uint16
	lists  [][]entry
	// letter marks the words of one letter, which are single. Nothing that goes on in a
	// word stands before them.
	letter [256]bool
	single []entry
	shown  [256]window // of each byte
	used   sync.Pool   // of places
}

// beginning is the first three bytes of a word, each by its sign.
type beginning uint16

const (
	beginnings = signs * signs * signs
	signs      = 32
)

func (b beginning) then(c byte) beginning { return (b*signs | beginning(sign[c])) % beginnings }

// sign tells letters apart, whatever their case, and what many words begin with. Digits and
// other signs are alike; the bytes of other scripts share the letters' signs.
var sign = func() (t [256]byte) {
	for c := byte('a'); c <= 'z'; c++ {
		t[c], t[c-0x20] = c-'a'+1, c-'a'+1
	}
	for i, c := range []byte("- \t:/") {
		t[c] = byte(27 + i)
	}
	for c := 0x80; c < len(t); c++ {
		t[c] = byte(c % signs)
	}
	return t
}()

// window is what is known of the last three bytes of a text: their beginning, and above it of each whether it is a
// letter that is a word.
type window uint32

const (
	oneLetter   window = beginnings                // the last byte is one
	afterLetter        = oneLetter * signs * signs // the first one of the three is
	inWindow           = beginnings - 1 | oneLetter*signs | afterLetter
)

// then is the window one byte further on. It is what most of the time of a scan goes into.
func (s *scanner) then(w window, c byte) window { return w*signs&inWindow | s.shown[c] }

// entry is a word of a rule.
type entry struct {
	word  string
	ascii bool
	rule  int
	// begins, capital and run are the rule's.
	begins, capital bool
	run             int
}

func newScanner(rules []rule) *scanner {
	s := &scanner{rules: len(rules)}
	for i, r := range rules {
		for _, w := range r.words {
			ascii := strings.IndexFunc(w, func(c rune) bool { return c >= 0x80 }) < 0
			s.add(entry{w, ascii, i, r.begins, r.capital, r.run})
		}
	}
	for c := range s.shown {
		if s.shown[c] = window(sign[c]); s.letter[c] {
			s.shown[c] |= oneLetter
		}
	}
	return s
}

func (s *scanner) add(e entry) {
	if len(e.word) == 1 {
		for c, l := range low {
			s.letter[c] = s.letter[c] || l == e.word[0] && !(e.capital && byte(c) == l)
		}
		s.single = append(s.single, e)
		return
	}
	b := beginning(0).then(e.word[0]).then(e.word[1])
	for c := range beginning(signs) { // whatever follows a word of two bytes
		if len(e.word) > 2 && c != beginning(sign[e.word[2]]) {
			continue
		}
		b := (b*signs | c) % beginnings
		if bit := uint64(1) << (b % 64); s.begins[b/64]&bit == 0 {
			s.begins[b/64] |= bit
			s.of[b] = uint16(len(s.lists))
			s.lists = append(s.lists, nil)
		}
		s.lists[s.of[b]] = append(s.lists[s.of[b]], e)
	}
}

// places returns, by rule, where one of its words stands in a text, whatever the case, in order. It
// ends early where the context is done. Give the result back to the pool when it is used.
func (s *scanner) places(ctx context.Context, text string) *[][]int {
	given, _ := s.used.Get().(*[][]int)
	if given == nil {
		list := make([][]int, s.rules)
		given = &list
	}
	places := *given
	for i := range places {
		places[i] = places[i][:0]
	}
	if len(text) < 2 { // no secret is a letter long
		return given
	}
	w := s.then(s.then(0, text[0]), text[1])
	for from := 0; from < len(text)-2 && ctx.Err() == nil; from += lookEvery {
		for i, c := range []byte(text[from+2 : min(len(text), from+2+lookEvery)]) {
			w = s.then(w, c)
			b := beginning(w % beginnings)
			if s.begins[b/64]>>(b%64)&1 != 0 || w >= afterLetter && (from+i == 0 || !isWord(text[from+i-1])) {
				s.look(places, b, text, from+i)
			}
		}
	}
	s.look(places, beginning(s.then(w, 0)%beginnings), text, len(text)-2)
	return given
}

// look adds a place of a text, which has the beginning, to those of the rules of which one
// of the words stands there.
func (s *scanner) look(places [][]int, b beginning, text string, i int) {
	if s.begins[b/64]>>(b%64)&1 != 0 {
		found(places, s.lists[s.of[b]], text, i)
	}
	if s.letter[text[i]] {
		found(places, s.single, text, i)
	}
}

func found(places [][]int, words []entry, text string, i int) {
	for k := range words {
		e := &words[k]
		if list := places[e.rule]; e.at(text, i) && (len(list) == 0 || list[len(list)-1] != i) {
			places[e.rule] = append(list, i)
		}
	}
}

// at reports whether the word stands at a place of a text as its rule wants it.
func (e *entry) at(text string, i int) bool {
	end := i + len(e.word)
	switch {
	case end > len(text), e.begins && i > 0 && isWord(text[i-1]), e.capital && low[text[i]] == text[i]:
		return false
	case !e.ascii:
		return strings.EqualFold(text[i:end], e.word)
	}
	for k := range len(e.word) {
		if low[text[i+k]] != e.word[k] {
			return false
		}
	}
	return e.run == 0 || i+e.run <= len(text) && isRun(text[i:i+e.run])
}

// isRun reports whether a text is of letters, digits, "_" and "-" alone. It looks at the
// end first, where most are not.
func isRun(s string) bool {
	for i := len(s) - 1; i >= 0; i-- {
		if !isWord(s[i]) {
			return false
		}
	}
	return true
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
