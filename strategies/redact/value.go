package redact

import (
	_ "embed"
	"slices"
	"strings"
	"sync"

	"github.com/kagewasm/kagewasm/internal/set"
	"github.com/kagewasm/kagewasm/internal/wordlist"
)

//go:embed words.txt
var wordFile string

// vocabulary are the words that tell secrets from what only stands in their place.
type vocabulary struct {
	ordinary map[string]bool // what a setting or a sentence says of a password
	stand    map[string]bool // words that placeholders are made of
}

var words = sync.OnceValue(func() vocabulary {
	lists := wordlist.Read(wordFile)
	return vocabulary{ordinary: set.Of(lists["ordinary"]...), stand: set.Of(lists["placeholder"]...)}
})

// meant reports whether a text can be a secret at all, and is no variable, no
// placeholder and no path.
func meant(s string) bool {
	if s == "" || strings.ContainsRune("$<{[(%@*.…", firstRune(s)) || isPath(s) {
		return false
	}
	for _, sign := range []string{"${", "$(", "{{", "://"} {
		if strings.Contains(s, sign) {
			return false
		}
	}
	if strings.Trim(s, s[:1]) == "" { // xxxxxxxx
		return false
	}
	return !placeholder(s)
}

func firstRune(s string) rune {
	for _, r := range s {
		return r
	}
	return 0
}

// placeholder reports whether all words of a text are such as placeholders have:
// your_api_key_here.
func placeholder(s string) bool {
	parts := strings.FieldsFunc(lower(s), func(r rune) bool { return r == '_' || r == '-' || r == '.' || r == ' ' })
	for _, p := range parts {
		if !words().stand[p] && strings.Trim(p, "x") != "" {
			return false
		}
	}
	return true
}

// weak reports whether a text is a word for a password that people take as one. Right after a flag, as
// in -psecret, it is no placeholder: those are written apart, or in capitals.
func weak(s string) bool {
	switch s {
	case "secret", "password", "passwd", "pass", "changeme":
		return true
	}
	return false
}

// isPath reports whether a text is the path of a file, and no secret with a slash.
func isPath(s string) bool {
	for _, beginning := range []string{"~/", "./", "../", `\\`} {
		if strings.HasPrefix(s, beginning) {
			return true
		}
	}
	if s[0] != '/' {
		return false
	}
	first, _, more := strings.Cut(s[1:], "/")
	return more && first == lower(first) && !hasDigit(first)
}

// ordinary reports whether a text is a word that people and settings say of a
// password: "required", "string", "null".
func ordinary(s string) bool {
	s = strings.TrimRight(lower(s), "!?")
	if words().ordinary[s] {
		return true
	}
	for _, ending := range []string{"ed", "ing", "able", "ible", "ly", "ory", "less", "ful", "ous", "ive"} {
		if len(s) > len(ending)+2 && strings.HasSuffix(s, ending) {
			return true
		}
	}
	typeNames := []string{"str", "string", "field", "type", "schema", "input"}
	return slices.ContainsFunc(typeNames, func(name string) bool { return strings.HasSuffix(s, name) })
}

// sentence reports whether a text of several words says something, and is no secret:
// it has signs of a sentence, or a third of it is what people say of a password.
func sentence(s string) bool {
	all, said := 0, 0
	for word := range strings.FieldsSeq(lower(s)) {
		if all++; words().ordinary[word] || words().stand[word] {
			said++
		}
	}
	return 3*said >= all || strings.ContainsAny(s, ".,:;?!([{\n")
}

// reference reports whether a text is a name in a program: args.password.
func reference(s string) bool {
	if !strings.Contains(s, ".") {
		return false
	}
	for part := range strings.SplitSeq(s, ".") {
		if part == "" || '0' <= part[0] && part[0] <= '9' {
			return false
		}
		for i := range len(part) {
			if !isWord(part[i]) || part[i] == '-' {
				return false
			}
		}
	}
	return true
}

// hasDigit reports whether there is a digit in a text.
func hasDigit(s string) bool { return strings.ContainsAny(s, "0123456789") }

// mixed reports whether a text has both letters and digits, or signs that words do
// not have.
func mixed(s string) bool {
	letters, digits, signs := false, false, false
	for i := range len(s) {
		switch c := s[i]; {
		case '0' <= c && c <= '9':
			digits = true
		case 'a' <= c|0x20 && c|0x20 <= 'z', c >= 0x80:
			letters = true
		case strings.IndexByte("!@#$%^&*+=?~|", c) >= 0:
			signs = true
		}
	}
	return letters && (digits || signs)
}
