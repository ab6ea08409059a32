package bank

import (
	"unicode"
	"unicode/utf8"

	"github.com/kagewasm/kagewasm/internal/clip"
)

// What a byte is to a word.
const (
	outside = iota
	inside  // a letter or digit
	wide    // the first byte of a longer character
)

var kindOf = func() (kinds [256]uint8) {
	for c := range kinds {
		switch {
		case c >= utf8.RuneSelf:
			kinds[c] = wide
		case 'a' <= c && c <= 'z', '0' <= c && c <= '9', 'A' <= c && c <= 'Z':
			kinds[c] = inside
		}
	}
	return kinds
}()

// wordsOf are the runs of letters and digits of a text.
func wordsOf(text string) []string {
	words := make([]string, 0, len(text)/6+1)
	for i := 0; i < len(text); {
		if kindOf[text[i]] == outside {
			i++
			continue
		}
		end := wordEnd(text, i)
		if end == i {
			_, size := utf8.DecodeRuneInString(text[i:])
			i += size
			continue
		}
		words = append(words, text[i:end])
		i = end
	}
	return words
}

// wordEnd is where the letters and digits end that begin at from.
func wordEnd(text string, from int) (end int) {
	for end = from; end < len(text); {
		switch kindOf[text[end]] {
		case outside:
			return end
		case inside:
			end++
		case wide:
			r, size := utf8.DecodeRuneInString(text[end:])
			if !clip.IsHan(r) && !unicode.IsLetter(r) && !unicode.IsDigit(r) {
				return end
			}
			end += size
		}
	}
	return end
}
