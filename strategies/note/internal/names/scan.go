package names

import (
	"path/filepath"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/kagewasm/kagewasm/internal/clip"
	"github.com/kagewasm/kagewasm/internal/set"
	"github.com/kagewasm/kagewasm/strategies/note/internal/action"
)

// class is what kind of name an item is.
type class uint8

const (
	none   class = iota
	path         // a/b.go, /etc/hosts, main.go, https://example.com/a?b=c
	symbol       // camelCase, snake_case, pkg.Func, --flag, HAT136
	number       // 8080, 1.2.3, 2024-05-15, 9f3c2e1
)

// maxWord is the longest run taken for a name; longer ones are data (base64,
// minified code).
const maxWord = 512

// scan calls found for every name in the text, in order, with the file that a number is a line of. It runs in linear
// time and finds substrings of s, copies of none but paths of Windows. In what
// tools put out the numbers that lines begin with are not names, nor sizes of files.
func (l *lexicon) scan(s string, as reading, found func(name string, c class, file string)) {
	whole, listing := as, as == output
	fresh := true // nothing but space since the line began
	sizes := false
	file := ""
	from, end := 0, 0 // of the word before
	behind := 0       // the last run of words with signs between them that was looked at
	report := func(name string, c class) {
		if !sizes || c != number {
			found(name, c, file)
		}
	}
	for i := 0; i < len(s); {
		start := i
		if c := s[i]; c < utf8.RuneSelf && !wordByte[c] {
			if c == '[' || c == '*' || c == '\\' {
				if end := signEnd(s, i, as, found); end > 0 {
					i, fresh = end, fresh && c == '['
					continue
				}
			} else if c == '`' && fresh {
				as = as.behindFence(s[i:], whole)
			}
			fresh = c == '\n' || fresh && (c == ' ' || c == '\t')
			sizes = sizes && c != '\n'
			i++
			continue
		}
		if i = plainEnd(s, i); i > start {
			if listing && fresh {
				i += blocks(s[start:])
			}
			if start >= behind && joined(s, i) {
				j := joint{s: s, start: start, sign: i, as: as}
				i, behind = j.take(found)
			}
			fresh = false
			continue
		}
		if i = wordEnd(s, i); i == start {
			fresh = false
			_, size := utf8.DecodeRuneInString(s[i:])
			i += size
			continue
		}
		i = groupsEnd(s, start, i)
		file = ""
		if listing && fresh {
			sizes = isMode(s[start:i])
			start = afterLineNumber(s, start, i)
			if i < len(s) && s[i] == ':' && start < i && clip.Digits(s[start:i]) == i-start && action.IsLine(s[i+1:]) {
				file = oneFile
			}
		}
		if start >= behind && joined(s, i) {
			j := joint{s: s, start: start, sign: i, fresh: fresh, as: as}
			if i, behind = j.take(found); j.end > 0 {
				fresh = false
				continue
			}
		}
		fresh = false
		if start > 0 && s[start-1] == ':' {
			file = fileBefore(s, from, end, start)
		}
		from, end = start, i
		c := place{s, start, i}
		if i-start < 3 && c.before() != '#' || i-start > maxWord {
			continue
		}
		if next := c.passage(as, found); next > 0 {
			i = next
			continue
		}
		w := c.clean()
		l.word(trim(w), c.quoted() || c.isKey() || strings.HasPrefix(w, "./") || strings.HasPrefix(w, "../"), report)
	}
}

// isMode reports whether a word says who may do what with a file, -rw-r--r--: the numbers behind it are how many links
// there are to the file, its size and its time.
func isMode(w string) bool {
	return len(w) >= 10 && strings.IndexByte("-dlbcps", w[0]) >= 0 && strings.Trim(w[1:10], "rwxsStT-") == ""
}

// groupsEnd is where a number ends that begins at start and of which the first group is
// read up to i: 1,337.5 and 1.299,95 and 12'000 are one number each, 800-2,000 and 8,000-20,000 one range each.
func groupsEnd(s string, start, i int) int {
	if i == start || s[i-1] == '.' {
		return i
	}
	from := start
	for k := start; k < i; k++ {
		if s[k] == '-' && from == start && k > start && k-start < 4 {
			from = k + 1
		} else if !isDigit(s[k]) && s[k] != '.' {
			return i
		}
	}
	end := numberEnd(s, from, i)
	if begins := end > i && from == start; begins && end+1 < len(s) && s[end] == '-' && isDigit(s[end+1]) {
		to := end + 1 + clip.Digits(s[end+1:])
		return numberEnd(s, to, to)
	}
	return end
}

// numberEnd is where a number that begins at start, and whose first group is read up to i, ends.
func numberEnd(s string, start, i int) int {
	for i+1 < len(s) && (s[i] == ',' || s[i] == '\'') {
		group := clip.Digits(s[i+1 : min(len(s), i+5)])
		decimals := s[i] == ',' && strings.Contains(s[start:i], ".") && group <= 2
		if group != 3 && !(decimals && group > 0) {
			break
		}
		i += 1 + group
		if i+1 < len(s) && s[i] == '.' && clip.Digits(s[i+1:min(len(s), i+2)]) > 0 {
			i += 1 + clip.Digits(s[i+1:])
		}
	}
	return i
}

// scanPath is scan for a text that is to be a path. It may hold blanks, which stand in a list behind a backslash, and
// brackets: app/[id]/page.tsx.
func (l *lexicon) scanPath(s string, found func(name string, c class)) {
	if len(s) > maxName || !strings.Contains(s, "/") && wordEnd(s, 0) < len(s) || strings.ContainsFunc(s, notInPaths) ||
		strings.Contains(s, "://") {
		l.scan(s, words, func(name string, c class, _ string) { found(name, c) })
		return
	}
	l.word(trim(escaped(s)), true, found)
}

// notInPaths reports whether a rune says that a text is no path alone, or one that a list could not be read back with.
func notInPaths(r rune) bool {
	if r < utf8.RuneSelf && isPlain(byte(r)) {
		return false
	}
	return unicode.IsControl(r) || r != ' ' && unicode.IsSpace(r) || strings.ContainsRune("\"'`<>{}()*?|;:,\\$=", r) ||
		r == utf8.RuneError
}

// escaped is a path as a list has it: blanks behind a backslash.
func escaped(p string) string { return strings.ReplaceAll(p, " ", "\\ ") }

// unescaped is the path that a list has so.
func unescaped(p string) string { return strings.ReplaceAll(p, "\\ ", " ") }

// wordByte marks the ASCII bytes names are made of.
var wordByte = func() (t [utf8.RuneSelf]bool) {
	for c := range utf8.RuneSelf {
		t[c] = c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' ||
			strings.IndexByte("_-./@~", byte(c)) >= 0
	}
	return t
}()

// plainEnd is where the plain word that begins at i ends; i where none begins.
// Most words are of small letters, or begin with one capital, and are no names:
// they need no second look.
func plainEnd(s string, i int) int {
	start := i
	if c := s[i]; c >= 'A' && c <= 'Z' {
		i++
	}
	for i < len(s) && s[i] >= 'a' && s[i] <= 'z' {
		i++
	}
	if i < len(s) && (s[i] >= utf8.RuneSelf || wordByte[s[i]]) {
		return start
	}
	return i
}

// wordEnd is where the word that begins at i ends; i where none begins. Names
// may hold letters of any script. Where a script that puts no spaces between
// words meets another, a word ends: 看src/main.go文件.
func wordEnd(s string, i int) int {
	unspaced, letter := false, false // of the rune before
	for i < len(s) {
		if c := s[i]; c < utf8.RuneSelf {
			if !wordByte[c] {
				return i
			}
			alnum := c >= '0' && c != '@' && c != '_' && c != '~'
			if unspaced && alnum && letter {
				return i
			}
			unspaced, letter = false, alnum
			i++
			continue
		}
		r, size := utf8.DecodeRuneInString(s[i:])
		if !unicode.In(r, unicode.L, unicode.M, unicode.N) {
			return i
		}
		u := unicode.In(r, unspacedScripts...)
		if letter && u != unspaced {
			return i
		}
		unspaced, letter = u, true
		i += size
	}
	return i
}

// unspacedScripts are those that put no spaces between words.
var unspacedScripts = []*unicode.RangeTable{
	unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar,
}

// afterLineNumber is where the word goes on after the number of its line, as
// viewers (12→text) and grep's context (12-text) write it. The number of a line
// that grep found (12:text) is one to go back to, and stays, unless it counts the lines (12:text, 13:text).
func afterLineNumber(s string, start, end int) int {
	n := start + clip.Digits(s[start:end])
	switch rest := s[n:]; {
	case n == start:
	case n == end && (strings.HasPrefix(rest, "\t") || strings.HasPrefix(rest, "|") || strings.HasPrefix(rest, "→")):
		return end
	case n == end && strings.HasPrefix(rest, ":") && counts(s, start, end):
		return end
	case n < end && s[n] == '-' && (len(rest) == 1 || !isDigit(rest[1])):
		return n + 1
	}
	return start
}

// counts reports whether the number of a line is one more than that of the line before, or one less than that of the
// line behind.
func counts(s string, start, end int) bool {
	number, err := strconv.Atoi(s[start:end])
	if err != nil || number == 0 {
		return false
	}
	begin := strings.LastIndexByte(s[:start], '\n')
	before := s[strings.LastIndexByte(s[:max(0, begin)], '\n')+1 : max(0, begin)]
	_, behind, _ := strings.Cut(s[end:], "\n")
	return lineNumber(before) == number-1 || lineNumber(behind) == number+1
}

// lineNumber is the number that a line begins with, a colon behind it; -1 where there is none.
func lineNumber(line string) int {
	line = strings.TrimLeft(line, " \t")
	n := clip.Digits(line[:min(len(line), maxLines)])
	if number, err := strconv.Atoi(line[:n]); err == nil && strings.HasPrefix(line[n:], ":") {
		return number
	}
	return -1
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

// hasDigit reports whether a text holds a digit.
func hasDigit(s string) bool {
	for i := range len(s) {
		if isDigit(s[i]) {
			return true
		}
	}
	return false
}

// isPlain reports whether a byte is a letter or a digit, which nothing that surrounds a name is.
func isPlain(c byte) bool { return isDigit(c) || c|0x20 >= 'a' && c|0x20 <= 'z' }

// place is a word and the text it stands in.
type place struct {
	s          string
	start, end int
}

// before is the byte before the word, a space where there is none.
func (c place) before() byte {
	if c.start == 0 {
		return ' '
	}
	return c.s[c.start-1]
}

// quoted reports whether the word stands alone in quotes of any kind.
func (c place) quoted() bool {
	return c.end < len(c.s) && c.before() == c.s[c.end] && strings.IndexByte("`'\"", c.before()) >= 0
}

// isKey reports whether the word is a key, a colon behind it: Change-Id: 17.
func (c place) isKey() bool {
	return strings.HasPrefix(c.s[c.end:], ": ") && strings.IndexByte(c.s[c.start:c.end], '/') < 0
}

// goesOn reports whether a path goes on behind a blank: it stands behind a backslash, or another folder is behind it,
// ~/Library/Application Support/kw. What ends there would be another path.
func (c place) goesOn() bool {
	w, rest := c.s[c.start:c.end], c.s[c.end:]
	if strings.IndexByte(w, '/') < 0 || len(rest) < 2 {
		return false
	}
	if strings.HasPrefix(rest, "\\ ") {
		return true
	}
	if rest[0] != ' ' || rest[1] < 'A' || rest[1] > 'Z' || w[0] != '/' && w[0] != '~' || strings.Count(w, "/") < 2 ||
		strings.IndexByte(base(w), '.') >= 0 {
		return false
	}
	next := rest[1 : 1+wordEnd(rest[1:min(len(rest), 1+maxName)], 0)]
	folder := strings.IndexByte(next, '/')
	return folder > 0 && strings.Trim(next[:folder], letters) == ""
}

// quotedEnd is where a path with blanks ends that stands alone in quotes, `src/a b/c.go`, 0 where none does. A command
// in quotes begins with a program, or a file stands before its first blank.
func (c place) quotedEnd() int {
	const most = 4 // words
	q := c.before()
	if c.end >= len(c.s) || c.s[c.end] != ' ' || strings.IndexByte("`'\"", q) < 0 {
		return 0
	}
	first := c.s[c.start:c.end]
	top, _, within := strings.Cut(first, "/")
	text := c.s[c.start:min(len(c.s), c.start+maxName)]
	end := strings.IndexByte(text, q)
	if !within || programs[top] || extensions[extension(first)] || end < 0 {
		return 0
	}
	text = text[:end]
	last := text[strings.LastIndexByte(text, ' ')+1:]
	if !extensions[extension(base(last))] || strings.IndexByte(last, '/') < 0 || strings.Count(text, " ") >= most ||
		strings.Contains(text, " -") || strings.Contains(text, "  ") || strings.ContainsFunc(text, notInPaths) {
		return 0
	}
	return c.start + end
}

// programs are folders of them.
var programs = set.Of("", ".", "..", "~", "bin", "sbin", "scripts", "script", "tools", "cmd", "node_modules", "usr")

const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"

// blanks is where a path with blanks ends, 0 where the word begins none. One that stands alone in quotes is reported.
// Where another one ends is a guess.
func (c place) blanks(found func(name string, c class, file string)) int {
	if c.goesOn() {
		return c.blankEnd()
	}
	end := c.quotedEnd()
	if end > 0 {
		found(escaped(c.s[c.start:end]), path, "")
	}
	return end
}

// blankEnd is where a path ends that goes on behind a blank.
func (c place) blankEnd() int {
	i, blank := c.end, len(c.s[c.end:])-len(strings.TrimLeft(c.s[c.end:], "\\ "))
	for blank > 0 {
		end := wordEnd(c.s, i+blank)
		if end == i+blank {
			break
		}
		if i, blank = end, 0; strings.HasPrefix(c.s[i:], "\\ ") {
			blank = 2
		}
	}
	return i
}

// placeholder reports whether a word is what is left of a pattern: agent-%s.jsonl,
// hooks_<agent>_handlers.go, session-<date>.
func (c place) placeholder() bool {
	w := c.s[c.start:c.end]
	switch c.before() {
	case '%':
		return strings.IndexByte("sdvqxf", w[0]) >= 0 && (len(w) == 1 || strings.IndexByte("._-/", w[1]) >= 0)
	case '>': // what is marked up stands behind a tag, which joins no word before it
		const longest = 40
		from := max(1, c.start-longest)
		open := strings.LastIndexByte(c.s[from:c.start], '<')
		if open < 0 {
			break
		}
		b := c.s[from+open-1]
		return b < utf8.RuneSelf && wordByte[b] && c.s[from+open+1] != '/'
	}
	return c.end+1 < len(c.s) && c.s[c.end] == '<' && c.s[c.end+1] != '/' && strings.IndexByte("-_.", w[len(w)-1]) >= 0
}

// clean is the word without what belongs to the text around it.
func (c place) clean() string {
	w := c.s[c.start:c.end]
	if c.end < len(c.s) && c.s[c.end] == '*' && w[len(w)-1] == '_' {
		return "" // TestStore_*
	}
	if c.end+1 < len(c.s) && c.s[c.end] == '*' && strings.IndexByte(w, '/') >= 0 && w[len(w)-1] != '/' &&
		c.s[c.end+1] < utf8.RuneSelf && wordByte[c.s[c.end+1]] {
		return "" // store/lease*.go
	}
	if c.placeholder() {
		return ""
	}
	if cut := "…"; w[0] == '/' && strings.HasSuffix(c.s[:c.start], cut) {
		return c.s[c.start-len(cut) : c.end]
	}
	switch c.before() {
	case '\\': // "\nName" in a string in a string
		if strings.IndexByte("ntr", w[0]) >= 0 {
			return w[1:]
		}
		if n := len("u003c"); len(w) > n && w[0] == 'u' && hexadecimal(w[1:n]) {
			return w[n:]
		}
	case '[':
		if c.start >= 2 && c.s[c.start-2] == '\x1b' { // a terminal's colours
			rest := strings.TrimLeft(w, "0123456789")
			return rest[min(1, len(rest)):]
		}
		if c.end < len(c.s) && c.s[c.end] == ']' && isCharClass(w) {
			return ""
		}
	case ':': // the seconds of a time, 11:45:21.725231-07
		if c.start >= 2 && isDigit(c.s[c.start-2]) && clip.Digits(w) == 2 && len(w) > 2 && w[2] == '.' {
			return ""
		}
	case '$': // $HOME/bin
		if strings.IndexByte(w, '/') > 0 {
			return c.s[c.start-1 : c.end]
		}
	case '}', ')', ']', '*': // ${DIR}/a/b.go, **/b.go: what comes before is unknown
		if w[0] == '_' || w[0] == '.' && c.before() == '*' {
			return "" // *_test.go, *.test.tsx
		}
		return strings.TrimPrefix(w, "/")
	}
	return w
}

// isCharClass reports whether w is what stands in the brackets of a pattern:
// a-f0-9.
func isCharClass(w string) bool {
	w = strings.TrimRight(w, "_-./@~")
	for i := 0; i < len(w); i += 3 {
		if i+3 > len(w) || w[i+1] != '-' {
			return false
		}
	}
	return true
}

// ending is a path without what stands for folders that are not known: "../", and the ".../" by which git and others
// cut a path.
func ending(p string) string {
	for p != "" && (p[0] == '.' || p[0] == "…"[0]) {
		first, rest, ok := strings.Cut(p, "/")
		if !ok || first != ".." && first != "..." && first != "…" {
			break
		}
		p = rest
	}
	return p
}

// trailing is what a sentence puts after a name.
const trailing = ".-/@~"

// settingsFile reports whether a name behind a dot is that of a file of settings.
func settingsFile(name string) bool {
	switch filepath.Ext(name) {
	case ".yaml", ".yml", ".json", ".toml":
		return true
	}
	return false
}
