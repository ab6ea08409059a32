package toolcall

import (
	"strings"
	"unicode/utf8"

	"github.com/kagewasm/kagewasm/internal/jsonlex"
	"github.com/kagewasm/kagewasm/internal/lists"
)

// EachString calls f for every string and number in a JSON object with the key
// it stands under, in the order of the document; for text that is none, once
// with the empty key. A list that is a command comes as one text.
//
// Arguments are a third of a session, and decoding them into a tree takes
// longer than everything else; this looks at each byte once.
func EachString(doc string, f func(key, value string)) {
	for _, p := range Strings(doc) {
		f(p.Key, p.Value)
	}
}

// Strings returns what [EachString] calls its function for.
func Strings(doc string) []Pair {
	r := reader{s: doc}
	if r.space(); r.peek() == '{' && r.value("", 0) {
		if r.space(); r.i == len(doc) {
			return r.found
		}
	}
	return []Pair{{"", doc}}
}

// Pair is a string or a number of a JSON object, and the key that it stands under.
type Pair struct{ Key, Value string }

// reader collects the texts of a JSON document. It is lenient with what
// cannot be mistaken: it finds strings, and leaves judging to others.
type reader struct {
	s     string
	i     int
	found []Pair
}

// maxDepth is as deep as documents go; see strictjson.Check.
const maxDepth = 64

func (r *reader) space() {
	for r.i < len(r.s) && (r.s[r.i] == ' ' || r.s[r.i] == '\n' || r.s[r.i] == '\t' || r.s[r.i] == '\r') {
		r.i++
	}
}

// peek is the next byte, zero at the end.
func (r *reader) peek() byte {
	if r.i < len(r.s) {
		return r.s[r.i]
	}
	return 0
}

// value reads one value, and reports whether there was one.
func (r *reader) value(key string, depth int) bool {
	if r.space(); depth > maxDepth {
		return false
	}
	switch c := r.peek(); {
	case c == '"':
		text, ok := r.text()
		r.found = append(r.found, Pair{key, text})
		return ok
	case c == '{':
		return r.members('}', func() bool {
			name, ok := r.text()
			if r.space(); !ok || r.peek() != ':' {
				return false
			}
			r.i++
			return r.value(name, depth+1)
		})
	case c == '[':
		from := len(r.found)
		ok := r.members(']', func() bool { return r.value(key, depth+1) })
		if IsCommandKey(key) {
			r.join(key, from)
		}
		return ok
	case c == '-' || digit(c):
		start := r.i
		for r.i < len(r.s) && (digit(r.s[r.i]) || strings.IndexByte("+-.eE", r.s[r.i]) >= 0) {
			r.i++
		}
		r.found = append(r.found, Pair{key, r.s[start:r.i]})
		return true
	}
	for _, word := range []string{"true", "false", "null"} {
		if strings.HasPrefix(r.s[r.i:], word) {
			r.i += len(word)
			return true
		}
	}
	return false
}

// members reads what stands between brackets with commas between.
func (r *reader) members(end byte, one func() bool) bool {
	r.i++
	if r.space(); r.peek() == end {
		r.i++
		return true
	}
	for {
		if r.space(); !one() {
			return false
		}
		r.space()
		c := r.peek()
		r.i++
		if c == end {
			return true
		}
		if c != ',' {
			return false
		}
	}
}

// join makes one text of those found since.
func (r *reader) join(key string, from int) {
	words := lists.Map(r.found[from:], func(p Pair) string { return p.Value })
	r.found = append(r.found[:from], Pair{key, strings.Join(words, " ")})
}

// text reads a string.
func (r *reader) text() (string, bool) {
	if r.peek() != '"' {
		return "", false
	}
	start, escaped := r.i, false
	for r.i++; r.i < len(r.s); r.i++ {
		n := strings.IndexByte(r.s[r.i:], '"')
		if n < 0 {
			return "", false
		}
		part := r.s[r.i : r.i+n]
		r.i += n
		if strings.IndexByte(part, '\\') >= 0 {
			escaped = true
		}
		if slashes := len(part) - len(strings.TrimRight(part, `\`)); slashes%2 == 1 {
			continue // the quote is part of the text
		}
		r.i++
		if !escaped {
			return r.s[start+1 : r.i-1], true
		}
		return unescape(r.s[start+1 : r.i-1])
	}
	return "", false
}

// unescape reads the escapes in the body of a JSON string.
func unescape(s string) (string, bool) {
	out := make([]byte, 0, len(s))
	for {
		i := strings.IndexByte(s, '\\')
		if i < 0 {
			return string(append(out, s...)), true
		}
		size, char := jsonlex.Escape([]byte(s[i:min(len(s), i+12)])) // two of a pair are 12 bytes
		if size == 0 {
			return "", false
		}
		out = utf8.AppendRune(append(out, s[:i]...), char)
		s = s[i+size:]
	}
}

func digit(c byte) bool { return c >= '0' && c <= '9' }
