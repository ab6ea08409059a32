package bank

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/kagewasm/kagewasm/internal/clip"
)

// What a byte is to a word.
const (
	outside   = iota
	lowercase // or a digit
	uppercase
	wide // the first byte of a longer character
)

var kindOf = func() (kinds [256]uint8) {
	for c := range kinds {
		switch {
		case c >= utf8.RuneSelf:
			kinds[c] = wide
		case 'a' <= c && c <= 'z', '0' <= c && c <= '9':
			kinds[c] = lowercase
		case 'A' <= c && c <= 'Z':
			kinds[c] = uppercase
		}
	}
	return kinds
}()

// lowerWords are the runs of letters and digits of a text, in lower case.
func lowerWords(text string) []string {
	words := make([]string, 0, len(text)/6+1)
	for i := 0; i < len(text); {
		if kindOf[text[i]] == outside {
			i++
			continue
		}
		end, lower := wordEnd(text, i)
		switch word := text[i:end]; {
		case word == "":
			_, size := utf8.DecodeRuneInString(text[i:])
			end += size
		case lower:
			words = append(words, word)
		default:
			words = append(words, strings.ToLower(word))
		}
		i = end
	}
	return words
}

// wordEnd is where the letters and digits end that begin at from, and whether they are
// known to be in lower case.
func wordEnd(text string, from int) (end int, lower bool) {
	end, lower = from, true
	for end < len(text) {
		switch kindOf[text[end]] {
		case outside:
			return end, lower
		case lowercase:
			end++
		case uppercase:
			lower = false
			end++
		case wide:
			r, size := utf8.DecodeRuneInString(text[end:])
			switch {
			case clip.IsHan(r): // it has no cases
			case unicode.IsLetter(r), unicode.IsDigit(r):
				lower = false
			default:
				return end, lower
			}
			end += size
		}
	}
	return end, lower
}
