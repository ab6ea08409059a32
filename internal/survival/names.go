package survival

import (
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// word is a letter, digit or underscore of any script; regexp's \w and \b know
// ASCII alone, so edges are checked by hand.
const word = `[\pL\pN_]`

var (
	fileRE = regexp.MustCompile(`[\pL\pN_-]+\.(?:go|py|ts|tsx|js|rs|md|json|ya?ml|toml|sh|sql|html|css|txt|` +
		`mod|c|h|cpp|java|rb)\b`)
	identRE = regexp.MustCompile(`\b(?:[a-z]+[A-Z]` + word + `{4,}|[A-Z][a-z]+[A-Z]` + word + `{3,}|` +
		`[a-z]` + word + `*_` + word + `{4,}|--[a-z](?:` + word + `|-){3,})\b`)
	numberRE = regexp.MustCompile(`\b(?:[0-9a-f]{7,40}|\p{Nd}{3,})\b`)
)

// Names collects the exact names in a text: "p:" and the last two parts of a
// path, "i:" and an identifier, "n:" and a number.
func Names(text string, into map[string]bool) {
	for _, p := range paths(text) {
		parts := strings.Split(strings.Trim(p, "./~"), "/")
		into["p:"+strings.Join(parts[max(0, len(parts)-2):], "/")] = true
	}
	for _, m := range identRE.FindAllString(text, -1) {
		into["i:"+m] = true
	}
	for _, m := range numberRE.FindAllString(text, -1) {
		into["n:"+m] = true
	}
}

func isWord(r rune) bool { return r == '_' || unicode.IsLetter(r) || unicode.IsNumber(r) }

// paths finds runs of parts with slashes between them, and file names with a
// known extension, leftmost first.
func paths(s string) []string {
	var out []string
	files := fileRE.FindAllStringIndex(s, -1)
	before := ' '
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		for len(files) > 0 && files[0][1] <= i {
			files = files[1:]
		}
		end := i
		if !isWord(before) && before != '/' && before != '.' && before != '-' {
			end = pathEnd(s, i)
		}
		// A file name begins at the edge of a word.
		if end == i && len(files) > 0 && files[0][0] <= i && isWord(before) != isWord(r) {
			end = files[0][1]
		}
		if end > i {
			out = append(out, s[i:end])
			before, _ = utf8.DecodeLastRuneInString(s[:end])
			i = end
			continue
		}
		before, i = r, i+n
	}
	return out
}

// pathEnd is the end of the path that begins at i, or i: parts of word
// characters and .@~- with slashes behind them, and a last part without ~.
func pathEnd(s string, i int) int {
	run := func(at int, more string) int {
		for at < len(s) {
			r, n := utf8.DecodeRuneInString(s[at:])
			if !isWord(r) && !strings.ContainsRune(more, r) {
				break
			}
			at += n
		}
		return at
	}
	var ends []int
	for at := i; ; {
		end := run(at, ".@~-")
		if end == at || end == len(s) || s[end] != '/' {
			break
		}
		at = end + 1
		ends = append(ends, at)
	}
	for _, at := range slices.Backward(ends) {
		if end := run(at, ".@-"); end > at {
			return end
		}
	}
	return i
}
