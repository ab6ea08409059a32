package names

import (
	"strings"

	"github.com/kagewasm/kagewasm/internal/set"
)

// A member, lease.Store.Renew or store::LeaseTable, is one name where people write of it. In code most are of use
// there alone.

// isMember reports whether the word up to end is a member of something that people write of. In backticks any is, or
// one that is called. Elsewhere two words with a dot between them may be two sentences.
func (c place) isMember(end int, as reading) bool {
	w := c.s[c.start:end]
	first, _, dotted := strings.Cut(w, ".")
	if as == output && !isQualified(w) || !dotted ||
		len(w) < 6 || len(w) > maxName || notNames[w] || handles[first] || len(first) < 3 {
		return false
	}
	last := w[strings.LastIndexByte(w, '.')+1:]
	parts := strings.Count(w, ".") + 1
	if extensions[last] || domains[last] || !areIdentifiers(w) || strings.Contains(w, redacted) ||
		parts == 2 && classify(last, false) != none {
		return false
	}
	called := strings.HasPrefix(c.s[end:], "(")
	if c.before() == '`' {
		return called || end < len(c.s) && c.s[end] == '`'
	}
	return as != code && !secret(w) && parts > 2 && strings.IndexByte(" \t\n(\"'", c.before()) >= 0 &&
		(called || ends(c.s, end))
}

// isQualified reports whether a class stands behind the packages that it is in, two at least, java.lang.LinkageError:
// what tools put out is full of other members.
func isQualified(w string) bool {
	for i, part := range strings.Split(w, ".") {
		if strings.ToLower(part) != part {
			return i > 1 && part[0] >= 'A' && part[0] <= 'Z' && classify(part, false) == symbol
		}
	}
	return false
}

// holdsName reports whether one of the words of a scope is a name by itself.
func holdsName(w string) bool {
	for part := range strings.SplitSeq(w, "::") {
		if classify(part, false) == symbol {
			return true
		}
	}
	return false
}

// handles are what code reaches its own things by.
var handles = set.Of(wordLists["at hand"]...)

// areIdentifiers reports whether a text is of names as programs have them, with dots between them.
func areIdentifiers(w string) bool {
	for p := range strings.SplitSeq(w, ".") {
		if p == "" || isDigit(p[0]) || !isWord(p, "_") {
			return false
		}
	}
	return true
}

// scopedEnd is where a member ends that begins at start and has :: between its words, std::vector<int>::at, 0 where
// there is none that people write of.
func scopedEnd(s string, start int, as reading) int {
	before := (place{s, start, start}).before()
	if as == code && before != '`' || strings.IndexByte(" \t\n(\"'`", before) < 0 || isDigit(s[start]) {
		return 0
	}
	limit := min(len(s), start+maxName)
	i, end, parts := start, 0, 0
	for {
		from := i
		for i < limit && (isPlain(s[i]) || s[i] == '_') {
			i++
		}
		if i == from || isDigit(s[from]) {
			break
		}
		end = i
		parts++
		if i < limit && s[i] == '<' {
			if i = genericEnd(s[:limit], i); i == 0 {
				break
			}
			end = i
		}
		if !strings.HasPrefix(s[i:limit], "::") {
			break
		}
		if i += 2; i < limit && s[i] == '<' { // Vec::<u8>::new
			n := genericEnd(s[:limit], i)
			if n == 0 || !strings.HasPrefix(s[n:limit], "::") {
				break
			}
			i = n + 2
		}
	}
	if parts < 2 || end == limit && limit < len(s) || !ends(s, end) && s[end] != '(' ||
		strings.Contains(s[start:end], redacted) || as == output && !holdsName(s[start:end]) {
		return 0
	}
	return end
}

// genericEnd is where the types end that stand between brackets at i, 0 where there are none.
func genericEnd(s string, i int) int {
	depth := 0
	for ; i < len(s); i++ {
		switch c := s[i]; {
		case c == '<':
			depth++
		case c == '>':
			if depth--; depth == 0 {
				return i + 1
			}
		case !isPlain(c) && strings.IndexByte("_:,&*", c) < 0:
			return 0
		}
	}
	return 0
}
