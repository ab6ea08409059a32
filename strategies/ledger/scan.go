package ledger

import (
	"strings"
	"unicode/utf8"
)

// class is what kind of name an item is.
type class uint8

const (
	none   class = iota
	path         // a/b.go, /etc/hosts, main.go
	symbol       // camelCase, snake_case, pkg.Func, --flag, HAT136
	number       // 8080, 1.2.3, 2024-05-15, 9f3c2e1
)

// scan calls found for every name in the text, in order. It runs in linear
// time and finds substrings of s, never copies.
func scan(s string, found func(name string, c class)) {
	for i := 0; i < len(s); {
		if !wordByte[s[i]] {
			i++
			continue
		}
		start := i
		for i < len(s) && wordByte[s[i]] {
			i++
		}
		if i-start < 3 || i-start > maxWord {
			continue
		}
		if url := urlStart(s, start); url < start {
			found(strings.TrimRight(s[url:i], trailing), path)
			continue
		}
		word(trim(s[start:i]), found)
	}
}

// word reports a trimmed word, or where it is a qualified name (pkg.Func,
// event.message.role) those of its parts that are names by themselves.
func word(w string, found func(string, class)) {
	if i := strings.LastIndexByte(w, '@'); i > 1 && i+1 < len(w) && w[i+1] >= '0' && w[i+1] <= '9' {
		word(w[i+1:], found) // package@1.2.3
		w = w[:i]
	}
	if c := classify(w); c != none {
		found(w, c)
		return
	}
	if strings.IndexByte(w, '.') < 0 || strings.IndexByte(w, '/') >= 0 {
		return
	}
	for part := range strings.SplitSeq(w, ".") {
		if c := classify(part); c != none {
			found(part, c)
		}
	}
}

// maxWord is the longest run taken for a name; longer ones are data (base64,
// minified code).
const maxWord = 512

// wordByte marks the bytes names are made of. Bytes of multi-byte runes count:
// paths may hold any letters.
var wordByte = func() (t [256]bool) {
	for c := range 256 {
		t[c] = c >= utf8.RuneSelf || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' ||
			strings.IndexByte("_-./@~", byte(c)) >= 0
	}
	return t
}()

// urlStart returns where the scheme begins if the word at start is what
// follows it, and start otherwise.
func urlStart(s string, start int) int {
	if start < 3 || s[start-1] != ':' || !strings.HasPrefix(s[start:], "//") {
		return start
	}
	i := start - 1
	for i > 0 && s[i-1] >= 'a' && s[i-1] <= 'z' {
		i--
	}
	if i == start-1 {
		return start
	}
	return i
}

// trailing is what a sentence puts after a name.
const trailing = ".-/@~"

// trim takes off what surrounds a name but is not part of it.
func trim(w string) string {
	w = strings.TrimRight(w, trailing)
	if i := strings.IndexByte(w, '/'); i > 0 && w[0] == '@' {
		return w // @scope/package
	}
	for strings.HasPrefix(w, "./") || strings.HasPrefix(w, "../") {
		_, w, _ = strings.Cut(w, "/")
	}
	if strings.HasPrefix(w, "--") && len(w) > 3 && w[2] != '-' {
		return w // a flag
	}
	if rest := strings.TrimLeft(w, "-@."); len(rest) > 0 && len(w) == len(rest)+1 && w[0] == '.' &&
		(strings.IndexByte(rest, '/') > 0 || dotFiles[rest]) {
		return w // .github/workflows, .gitignore
	} else {
		return rest
	}
}

// dotFiles are files that keep their dot when they stand alone.
var dotFiles = map[string]bool{
	"gitignore": true, "env": true, "dockerignore": true, "editorconfig": true, "npmrc": true, "gitattributes": true, "zshrc": true, "bashrc": true,
}

// classify says what a single word is.
func classify(w string) class {
	if len(w) < 3 || len(w) > 256 {
		return none
	}
	if strings.IndexByte(w, '/') >= 0 {
		return classifyPath(w)
	}
	var f features
	f.read(w)
	switch {
	case f.digits == 0 && f.letters == 0:
		return none
	case w[0] == '-':
		if f.letters >= 3 {
			return symbol
		}
		return none
	case f.hex && f.digits > 0 && len(w) >= 7:
		return number
	case f.letters == 0:
		if f.digits >= 3 {
			return number
		}
		return none
	case f.ext && f.letters > 0 && !notFiles[w], w[0] == '.':
		return path
	case f.at && f.dots > 0, f.host:
		return symbol // an address
	case f.dots > 0 && f.letters > f.digits:
		return none // a qualified name: see word
	case f.underscore && f.letters >= 3 && len(w) >= 5:
		return symbol
	case f.humps > 0 && len(w) >= 5:
		return symbol
	case f.digits > 0 && f.letters > 0 && len(w) >= 4 && f.upperOrDash:
		return symbol // HAT136, gpt-4o, pydicom-1458
	}
	return none
}

// features are what classify looks at.
type features struct {
	letters, digits, dots, humps int
	underscore, at, hex, ext     bool
	upperOrDash, host            bool
}

func (f *features) read(w string) {
	f.hex = true
	lower := false
	for i := 0; i < len(w); i++ {
		c := w[i]
		switch {
		case c >= 'a' && c <= 'z':
			f.letters++
			lower = true
			if c > 'f' {
				f.hex = false
			}
		case c >= 'A' && c <= 'Z':
			f.letters++
			f.hex = false
			f.upperOrDash = true
			if lower {
				f.humps++
			} else if i > 0 && i+1 < len(w) && w[i+1] >= 'a' && w[i+1] <= 'z' {
				f.humps++ // HTTPServer
			}
			lower = false
		case c >= '0' && c <= '9':
			f.digits++
		case c == '_':
			f.underscore = f.underscore || i > 0
			f.hex = false
			lower = false
		case c == '.':
			f.dots++
			f.hex = false
			lower = false
		case c == '@':
			f.at = i > 0
			f.hex = false
		case c == '-':
			f.upperOrDash = f.upperOrDash || i > 0
			lower = false // uuids stay hex
		default:
			f.letters++
			f.hex = false
		}
	}
	if i := strings.LastIndexByte(w, '.'); i > 0 {
		f.ext, f.host = extensions[w[i+1:]], domains[w[i+1:]]
	}
}

// classifyPath tells a path from two words with a slash between them.
func classifyPath(w string) class {
	parts, named, letters := 0, false, false
	for p := range strings.SplitSeq(w, "/") {
		if p == "" || p == "." || p == ".." || p == "~" {
			continue
		}
		parts++
		var f features
		f.read(p)
		letters = letters || f.letters > 0
		named = named || f.ext || f.underscore || f.digits > 0 || f.dots > 0 || strings.IndexByte(p, '-') > 0 || f.humps > 0
	}
	switch {
	case !letters || parts == 0:
		return none
	case w[0] == '/' && parts >= 2, strings.HasPrefix(w, "~/"), parts >= 3, parts == 2 && named:
		return path
	}
	return none
}

// notFiles look like files and are not.
var notFiles = set("console.log", "Node.js", "node.js", "Next.js", "Vue.js", "React.js", "Math.log")

// domains that make a dotted name a host.
var domains = set("com", "org", "net", "io", "dev", "ai", "edu", "gov", "local", "internal")

// extensions of files that agents name without a folder.
var extensions = func() map[string]bool {
	m := make(map[string]bool)
	for e := range strings.FieldsSeq(`go mod sum py pyi ipynb ts tsx js jsx mjs cjs vue svelte rs c h cc cpp hpp cs java kt
		swift rb php pl lua sh bash zsh fish ps1 bat sql html htm css scss less xml svg json jsonl json5 yaml yml toml ini cfg
		conf env lock md mdx rst txt csv tsv log pdf png jpg jpeg gif webp zip gz tar tgz wasm wat proto graphql tf hcl nix
		ex exs erl hs ml scala clj dart r jl zig v tex patch diff out tmpl gradle cmake mk dockerfile`) {
		m[e] = true
	}
	return m
}()
