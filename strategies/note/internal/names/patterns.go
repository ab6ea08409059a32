package names

import "strings"

// patternEnd is where a pattern of files ends that begins at i, 0 where there is none that people write of: it says
// more than an extension, and is no emphasis, **main.go**.
func patternEnd(s string, i int, as reading) int {
	before := (place{s, i, i}).before()
	quoted := strings.IndexByte("\"'`", before) >= 0
	if as == output || as == code && !quoted || !quoted && strings.IndexByte(" \t\n(=:", before) < 0 {
		return 0
	}
	end := i
	for end < len(s) && end-i <= maxName && (s[end] < 0x80 && wordByte[s[end]] || s[end] == '*') {
		end++
		if end < len(s) && s[end] == '{' {
			end += braces(s[end:])
		}
	}
	if quoted && (end == len(s) || s[end] != before) || !closes(s, end) {
		return 0
	}
	w := strings.TrimRight(s[i:end], ".")
	if len(w) > maxName || strings.Contains(w, redacted) || !isPattern(w) {
		return 0
	}
	return i + len(w)
}

// braces is how long one or the other word in braces is, {ts,tsx}.
func braces(s string) int {
	n := strings.IndexByte(s[:min(len(s), maxName)], '}')
	if n < 2 || !isWord(s[1:n], ",._-") {
		return 0
	}
	return n + 1
}

// isPattern reports whether a text is a pattern of files that says more than their extension.
func isPattern(w string) bool {
	folder, last := w[:strings.LastIndexByte(w, '/')+1], w[strings.LastIndexByte(w, '/')+1:]
	dot := strings.LastIndexByte(last, '.')
	if dot < 0 {
		return false
	}
	stem, kind := last[:dot], last[dot+1:]
	if !extensions[kind] && !strings.HasPrefix(kind, "{") || strings.HasPrefix(w, "/") ||
		len(strings.Trim(stem, "*._-~")) < 2 && (strings.IndexByte(folder, '*') < 1) {
		return false
	}
	for i := 0; i < len(w); i++ {
		if w[i] != '*' {
			continue
		}
		from := i
		for i < len(w) && w[i] == '*' {
			i++
		}
		beside := from > 0 && strings.IndexByte("/._-", w[from-1]) >= 0 ||
			i < len(w) && strings.IndexByte("/._-", w[i]) >= 0
		if !beside || from == 0 && i == len(w) {
			return false
		}
	}
	return true
}
