package names

import (
	"strings"
	"unicode/utf8"

	"github.com/kagewasm/kagewasm/internal/clip"
)

// trim takes off what surrounds a name but is not part of it.
func trim(w string) string {
	if w != "" && !isPlain(w[len(w)-1]) {
		w = strings.TrimRight(w, trailing)
	}
	if n := len(w); n > 4 && w[0] == '_' && w[n-1] == '_' && w[1] != '_' && w[n-2] != '_' {
		w = w[1 : n-1] // _emphasis_, but __init__
	}
	if i := strings.IndexByte(w, '/'); i > 0 && w[0] == '@' {
		return w // @scope/package
	}
	for strings.HasPrefix(w, "./") {
		w = w[2:]
	}
	if end := ending(w); end != w {
		if strings.IndexByte(end, '/') > 0 {
			return w // of which the folders above are not known: ../src/x
		}
		w = end
	}
	if strings.HasPrefix(w, "--") && len(w) > 3 && w[2] != '-' {
		return w // a flag
	}
	if w != "" && isPlain(w[0]) {
		return w // most are
	}
	rest := strings.TrimLeft(w, "-@.")
	if len(rest) > 0 && len(w) == len(rest)+1 && w[0] == '.' &&
		(strings.IndexByte(rest, '/') > 0 || isDotFile(rest) || settingsFile(rest)) {
		return w // .github/workflows, .gitignore, .env.local, .golangci.yaml
	}
	return rest
}

// isDotFile reports whether a name behind a dot is that of a file, or of what it is for some use: env.local.
func isDotFile(name string) bool {
	file, use, _ := strings.Cut(name, ".")
	return dotFiles[file] && (use == "" || isUse(use))
}

// lexicon remembers what words name: a session has the same ones again and again, and to tell takes many times longer
// than to look it up. The zero value is ready.
type lexicon struct {
	plain, quoted map[string][]classified
}

// classified is a name in a word, and what it is.
type classified struct {
	name  string
	class class
}

// maxKnown is how many words are remembered: there is no end of those in data.
const maxKnown = 1 << 14

// word reports what a trimmed word names, see [word].
func (l *lexicon) word(w string, quoted bool, found func(string, class)) {
	if l.plain == nil {
		l.plain, l.quoted = make(map[string][]classified), make(map[string][]classified)
	}
	known := l.plain
	if quoted {
		known = l.quoted
	}
	list, ok := known[w]
	if !ok {
		word(w, quoted, func(name string, c class) { list = append(list, classified{name, c}) })
		if len(known) < maxKnown {
			known[w] = list
		}
	}
	for _, n := range list {
		found(n.name, n.class)
	}
}

// word reports a trimmed word, or where it is made of names with something
// between them (pkg.Func, main..HEAD, a.go-12-text, One/Two) those that are
// names by themselves.
func word(w string, quoted bool, found func(string, class)) {
	if !isJoined(w) {
		if c := classify(w, quoted); c != none {
			found(w, c)
		}
		return
	}
	if i := strings.LastIndexByte(w, '@'); i > 0 && i+1 < len(w) && isDigit(w[i+1]) && isVersion(w[i+1:]) &&
		len(w) <= maxName && !extensions[extension(w)] && !strings.Contains(w, redacted) {
		found(w, symbol) // package@1.2.3
		return
	}
	if i := strings.IndexByte(w, '/'); i > 0 && i+2 < len(w) && w[i+1] == '-' && w[i+2] != '/' { // --short/-s
		word(w[:i], quoted, found)
		word(trim(w[i+1:]), false, found)
		return
	}
	if i := strings.Index(w, ".."); i > 0 && w[i-1] != '/' {
		word(w[:i], true, found)
		word(trim(strings.TrimLeft(w[i:], ".")), true, found)
		return
	}
	if i := grepLine(w); i > 0 {
		found(w[:i], path)
		word(trim(strings.TrimLeft(w[i+1:], "0123456789")), false, found)
		return
	}
	if c := classify(w, quoted); c != none {
		found(w, c)
		return
	}
	if versioned(w) {
		found(w, symbol)
		return
	}
	separator := "."
	if strings.IndexByte(w, '/') >= 0 {
		separator = "/"
	} else if strings.IndexByte(w, '.') < 0 {
		return
	}
	for part := range strings.SplitSeq(w, separator) {
		if c := classify(part, false); c == symbol || c == number && separator == "." {
			found(part, c)
		}
	}
}

// isJoined reports whether a word has a sign in it that stands between names. Most have none.
func isJoined(w string) bool {
	for i := range len(w) {
		if c := w[i]; c == '.' || c == '/' || c == '@' {
			return true
		}
	}
	return false
}

// versioned reports whether a word is a name with a version in it, "gpt-5.1-codex": a part of it is another name.
func versioned(w string) bool {
	point, dash := false, false
	for i := range len(w) {
		switch c := w[i]; {
		case c == '.':
			if i == 0 || i+1 == len(w) || !isDigit(w[i-1]) || !isDigit(w[i+1]) {
				return false
			}
			point = true
		case c == '-':
			dash = true
		case c >= utf8.RuneSelf || !isDigit(c) && c != '_' && (c|0x20 < 'a' || c|0x20 > 'z'):
			return false
		}
	}
	return point && dash && len(w) <= maxName && (w[0]|0x20 >= 'a' && w[0]|0x20 <= 'z')
}

// grepLine is where the file ends in a line of grep's context: a.go-12-text.
// It is 0 where w is no such line.
func grepLine(w string) int {
	if strings.IndexByte(w, '.') < 0 {
		return 0
	}
	for i := range len(w) {
		if w[i] != '-' {
			continue
		}
		n := i + 1 + clip.Digits(w[i+1:])
		dot := strings.LastIndexByte(w[:i], '.')
		if n > i+1 && (n == len(w) || w[n] == '-') && dot > 0 && extensions[w[dot+1:i]] {
			return i
		}
	}
	return 0
}
