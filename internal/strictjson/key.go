package strictjson

import (
	"bytes"
	"errors"
	"fmt"
	"strconv"
	"unicode"
	"unicode/utf8"

	"github.com/kagewasm/kagewasm/internal/jsonlex"
)

// manyKeys is how many keys of an object are compared one by one; objects of
// more keys pay for a map.
const manyKeys = 16

// keyBytes is what a key of many takes, with what growing leaves behind, and its
// text once more.
const keyBytes = 64

// keySet is the keys met so far in one object: those on the scanner's stack
// from base on, and in a map once they are many.
type keySet struct {
	base int
	many map[string]struct{}
}

// add puts key into the set and reports whether it was new.
func (s *jsonScanner) add(k *keySet, key []byte) bool {
	if k.many != nil {
		n := len(k.many)
		k.many[string(key)] = struct{}{}
		return len(k.many) > n
	}
	mine := s.keys[k.base:]
	for _, other := range mine {
		if bytes.Equal(other, key) {
			return false
		}
	}
	if len(mine) < manyKeys {
		s.keys = append(s.keys, key)
		return true
	}
	k.many = make(map[string]struct{}, 4*manyKeys)
	for _, other := range mine {
		k.many[string(other)] = struct{}{}
	}
	k.many[string(key)] = struct{}{}
	return true
}

// checkKey refuses a key that its object has already, and, unless the object
// is free, one that a case-insensitive decoder takes for another.
func (s *jsonScanner) checkKey(key []byte, seen *keySet, free bool) error {
	if seen.many != nil {
		if err := s.take(keyBytes + int64(len(key))); err != nil {
			return err
		}
	}
	if free {
		if !s.add(seen, key) {
			return fmt.Errorf("duplicate key %s", quoteKey(key))
		}
		return nil
	}
	folded := foldKey(key)
	if !s.add(seen, folded) {
		return fmt.Errorf("duplicate key %s (keys that differ only in case count as one)", quoteKey(key))
	}
	if _, ok := s.known[string(key)]; ok || len(s.known) == 0 {
		return nil
	}
	if want, ok := s.foldedKnown()[string(folded)]; ok {
		return fmt.Errorf("key %s: write %q", quoteKey(key), want)
	}
	return nil
}

// quoteKey quotes a key for an error text, the beginning of a long one.
func quoteKey(key []byte) string {
	if len(key) > 64 {
		return strconv.Quote(string(key[:64])) + "..."
	}
	return strconv.Quote(string(key))
}

func (s *jsonScanner) foldedKnown() map[string]string {
	if s.folded == nil {
		s.folded = make(map[string]string, len(s.known))
		for k := range s.known {
			s.folded[string(foldKey([]byte(k)))] = k
		}
	}
	return s.folded
}

// key reads a string and resolves its escapes. Half of a surrogate pair becomes
// U+FFFD, as decoders do it.
func (s *jsonScanner) key() ([]byte, error) {
	if s.peek() != '"' {
		return nil, errors.New("a key that is not a string")
	}
	start := s.pos + 1
	raw, escaped, err := s.str()
	if err != nil || !escaped {
		return raw, err
	}
	to := make([]byte, len(raw)+8)
	n, _, _, _ := jsonlex.Unescape(to, s.doc[start:s.pos]) // str has read it
	return to[:n], nil
}

// foldKey maps keys that a case-insensitive decoder takes for one another to
// the same text. Keys of lower-case ASCII are returned as they are.
func foldKey(key []byte) []byte {
	for _, c := range key {
		if c >= utf8.RuneSelf || c >= 'A' && c <= 'Z' {
			return bytes.Map(foldRune, key)
		}
	}
	return key
}

// foldRune maps a rune to the least of those that differ from it in case,
// ASCII letters to the lower one.
func foldRune(r rune) rune {
	least := r
	for f := unicode.SimpleFold(r); f != r; f = unicode.SimpleFold(f) {
		least = min(least, f)
	}
	if least >= 'A' && least <= 'Z' {
		least += 'a' - 'A'
	}
	return least
}
