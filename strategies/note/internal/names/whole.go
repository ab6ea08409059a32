package names

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/kagewasm/kagewasm/internal/clip"
	"github.com/kagewasm/kagewasm/internal/lower"
	"github.com/kagewasm/kagewasm/internal/set"
	"github.com/kagewasm/kagewasm/internal/toolcall"
	"github.com/kagewasm/kagewasm/strategies/redact"
)

// Some names are several words with signs between them: a setting and its value, a host and its port, an image and its
// digest. People and machines read each as one word, and a piece of it is another name. They are listed whole.

// joins marks the signs that stand between the pieces of such a name.
var joins = [256]bool{':': true, '=': true, '+': true, '#': true}

// joined reports whether a sign at i may join the word that ends there to what stands behind it.
func joined(s string, i int) bool { return i+1 < len(s) && joins[s[i]] && s[i+1] > ' ' }

// joint is a run of words with signs between them.
type joint struct {
	s     string
	start int // where it begins
	sign  int // the first sign in it
	end   int // where it ends, 0 where it is not one name
	class class
	fresh bool // nothing but space stands before it in its line
	as    reading
}

// read looks at the run that begins at start, and of which the first word ends at sign. Where it is one name, its end
// and class are set. It returns where the run ends: no other name of several words begins before that.
func (j *joint) read() int {
	switch rest := j.s[j.sign:]; {
	case strings.HasPrefix(rest, "::"):
		if j.end = scopedEnd(j.s, j.start, j.as); j.end > 0 {
			j.class = symbol
			return j.end
		}
	case j.sign == j.start+1 && strings.HasPrefix(rest, `:\`) && j.opens():
		if j.end = windowsEnd(j.s, j.start, j.sign+1); j.end > 0 {
			j.class = path
			return j.end
		}
	}
	if scheme := schemeOf(j.s, j.start, j.sign); scheme != "" {
		j.class, j.end = path, urlEnd(j.s, j.start+strings.Index(j.s[j.start:], "://")+1)
		return j.end
	}
	if clip.Digits(j.s[j.start:j.sign]) == j.sign-j.start && j.s[j.sign] != ':' || !j.opens() {
		return j.sign
	}
	end := runEnd(j.s, j.sign)
	if end-j.start > maxName || !closes(j.s, end) {
		return end
	}
	w := strings.TrimRight(j.s[j.start:end], trailing+":=+#")
	if len(w) <= j.sign-j.start+1 {
		return j.sign
	}
	if j.class = j.kind(w, j.sign-j.start); j.class != none && !strings.Contains(w, redacted) {
		j.end = j.start + len(w)
		if strings.HasPrefix(j.s[j.end:end], "=") && j.s[j.sign] == ':' { // of base64
			j.end = end - len(strings.TrimLeft(j.s[j.end:end], "="))
		}
		if strings.Contains(w, "://") {
			j.end = max(j.end, urlEnd(j.s, j.end))
			j.end = j.start + len(strings.TrimRight(j.s[j.start:j.end], trailing+urlTrailing))
		}
	}
	if isDigits(w[:j.sign-j.start]) && j.class == none {
		return j.sign // 12:NAME=value, the number of a line
	}
	return end
}

// runEnd is where a run of words and the signs between them ends.
func runEnd(s string, i int) int {
	for i < len(s) && s[i] < utf8.RuneSelf && (wordByte[s[i]] || joins[s[i]]) {
		i++
	}
	if i < len(s) && s[i] == '%' {
		i++
	}
	return i
}

// opens reports whether what stands before the run is no part of it.
func (j *joint) opens() bool {
	return j.start == 0 || j.s[j.start-1] <= ' ' || j.s[j.start-1] >= utf8.RuneSelf ||
		strings.IndexByte("\"'`([{<>,;|*:=", j.s[j.start-1]) >= 0
}

// closes reports whether a run that ends at i is not gone on with by what a name has no place for: a call, a variable.
func closes(s string, i int) bool {
	if i >= len(s) {
		return true
	}
	switch c := s[i]; {
	case c == ',':
		return i+1 >= len(s) || !isDigit(s[i+1]) || i == 0 || !isDigit(s[i-1]) // 1,250
	case c < utf8.RuneSelf:
		return c <= ' ' || strings.IndexByte("\"'`)]}>;|*!?\\", c) >= 0
	}
	r, _ := utf8.DecodeRuneInString(s[i:])
	return !unicode.In(r, unicode.L, unicode.M, unicode.N) || unicode.In(r, unspacedScripts...)
}

// kind is the class of a run of which the first sign is at n, none where it is not one name.
func (j *joint) kind(w string, n int) class {
	left, right := w[:n], w[n+1:]
	switch w[n] {
	case '=':
		if isSetting(left, right) && !(j.as == output && isCount(left, right)) {
			return symbol
		}
	case '+':
		if (w[0] == 'v' || strings.Count(left, ".") > 1) && isVersion(left) && isWord(right, "_.-+") {
			return number // 1.2.3+build.5
		}
	case '#':
		if isMethod(left, right) {
			return symbol // LedgerService#close
		}
		if strings.Count(left, "/") == 1 && isDigits(right) && isPlain(w[0]) && !extensions[extension(left)] {
			return symbol // owner/repository#12
		}
	case ':':
		return j.colon(left, right)
	}
	return none
}

// isMethod reports whether a class, with the packages around it or without, and its method stand before and behind a #.
func isMethod(class, method string) bool {
	own := class[strings.LastIndexByte(class, '.')+1:]
	return areIdentifiers(class) && classify(own, true) == symbol && own[0] >= 'A' && own[0] <= 'Z' &&
		isWord(method, "_") && !isDigit(method[0])
}

// isSetting reports whether a name has a value, as environments, flags and logs have it. Code is full of names and
// values too: there a value of letters is another name.
func isSetting(name, value string) bool {
	flag := strings.TrimLeft(name, "-")
	if len(name)-len(flag) > 2 || flag == "" || len(name) < 2 || isDigit(flag[0]) || !isWord(flag, "_.-") ||
		strings.IndexByte("-.", name[len(name)-1]) >= 0 {
		return false
	}
	if pinned, ok := strings.CutPrefix(value, "="); ok { // requests==2.31.0
		return strings.IndexByte(pinned, '.') > 0 && isVersion(pinned)
	}
	if value == "" || strings.Contains(value, "==") || joins[value[0]] && value[0] != '+' {
		return false
	}
	return len(flag) < len(name) || strings.ToUpper(name) == name || strings.ContainsAny(value, "0123456789")
}

// isCount reports whether a setting is a small number of something, new_files=2: tools put out many of these, and no
// two are the same.
func isCount(name, value string) bool {
	return len(value) < 3 && isDigits(value) && name[0] != '-' && lower.Text(name) == name
}

// colon is the class of what stands on both sides of a first colon.
func (j *joint) colon(left, right string) class {
	w := j.s[j.start : j.start+len(left)+1+len(right)]
	switch user, host, remote := strings.Cut(left, "@"); {
	case isDigit(w[0]) && isTime(w):
		if rest := strings.TrimLeft(j.s[j.start+len(w):], "\r"); isTimestamp(w) &&
			(j.fresh && rest != "" && rest[0] != '\n' || j.start > 0 && j.s[j.start-1] == '[') {
			return none // of a line of a log
		}
		return number
	case isAddress(w):
		return number
	case extensions[extension(left)], isDigits(left), !isPlain(left[0]) && left[0] != '@':
		return none // a place in a file
	case schemes[left]:
		return symbol
	case isDigest(left[strings.LastIndexByte(left, '@')+1:], right), isHostPort(left, right):
		return symbol
	case remote && user != "" && host != "" && isWord(user, "_.-") && isWord(host, ".-") &&
		strings.IndexByte(right, '/') >= 0 && isPath(right):
		return symbol // git@host:a/b.git
	case strings.IndexByte(left, '/') >= 0:
		if tag, _, _ := strings.Cut(right, "@"); isTag(left, tag) {
			return symbol
		}
	case strings.IndexByte(right, ':') >= 0:
		if isCoordinates(w) {
			return symbol
		}
	case isKeyed(left, right):
		return symbol
	}
	return none
}

// schemes begin names of which the pieces stand between colons.
var schemes = set.Of("arn", "urn", "did", "doi")

// isHostPort reports whether a name begins with a host and a port: localhost:8080, registry.local:5000/relay:1.4.2.
func isHostPort(host, rest string) bool {
	n := clip.Digits(rest)
	if n == 0 || n > 5 || n < len(rest) && rest[n] != '/' {
		return false
	}
	host = host[strings.LastIndexByte(host, '@')+1:]
	switch {
	case !isWord(host, ".-"):
		return false
	case host == "localhost", strings.Count(host, ".") == 3 && strings.Trim(host, ".0123456789") == "":
		return true
	}
	return strings.IndexByte(host, '.') > 0 && domains[extension(host)] ||
		n < len(rest)-1 && n > 1 && strings.IndexByte(host, '.') < 0 // db:5432/app
}

// isTag reports whether what stands behind an image is its tag: a version, or for one with a host any word.
func isTag(image, tag string) bool {
	if tag == "" || !isWord(tag, "_.-") {
		return false
	}
	host, _, _ := strings.Cut(image, "/")
	return strings.IndexByte(tag, '.') > 0 && isVersion(tag) ||
		strings.IndexByte(host, '.') > 0 && domains[extension(host)] && !isDigits(tag)
}

// isDigest reports whether a hash stands behind the name of how it was made: sha256:9f3c2e1.
func isDigest(kind, hash string) bool {
	const shortest = 6
	return len(kind) > 1 && len(hash) >= shortest && isPlain(kind[0]) && isWord(kind, "-") &&
		isWord(hash, "+/_-") && strings.IndexByte(hash, '/') != 0 && hexadecimal(lower.Text(hash)) &&
		strings.ContainsAny(hash, "0123456789") && !isDigits(hash) || isHash(kind, hash)
}

// isHash reports whether a text is a long hash in base64, as lists of what a program was made of have it: h1:...=.
func isHash(kind, hash string) bool {
	const shortest = 27 // of twenty bytes
	return len(hash) >= shortest && isWord(kind, "-") && isWord(hash, "+/_-") &&
		strings.ContainsAny(hash, "0123456789") && lower.Text(hash) != hash &&
		strings.IndexByte(hash, '/') != 0
}

// isCoordinates reports whether words with colons between them name one thing: org.x:lib:1.2.3.
func isCoordinates(w string) bool {
	if strings.Contains(w, "::") || !strings.ContainsAny(w, "0123456789") {
		return false
	}
	for i, p := range strings.Split(w, ":") {
		if !isWord(p, "_.-/") || i == 0 && (len(p) < 2 || isDigit(p[0])) || i == 1 && (isDigits(p) || p[0] == '/') {
			return false
		}
	}
	return true
}

// isKeyed reports whether an id, a version or a number stands behind its kind: redis:7.2-alpine, user:4711.
func isKeyed(kind, id string) bool {
	if len(kind) < 2 || len(id) < 3 || !isWord(kind, "_-") || !isWord(id, "_.-") ||
		!strings.ContainsAny(id, "0123456789") {
		return false
	}
	_, _, lines := isRange(id)
	figure := strings.TrimRight(id, "abcdefghijklmnopqrstuvwxyz")
	switch c := classify(id, false); {
	case lines, c == path, styleUnits[id[len(figure):]]:
		return false
	case isDigits(id):
		return kind[0] >= 'a' && kind[0] <= 'z'
	default:
		return c == number || isDigit(id[0]) || c == symbol && strings.ContainsAny(id, "-_")
	}
}

// styleUnits stand behind the numbers of a style sheet, which names nothing: width:100px.
var styleUnits = set.Of("px", "em", "rem", "vh", "vw", "pt")

// isTime reports whether a text is a point in time with its zone, or with its date: 14:30:00Z, 2026-02-10T14:30.
func isTime(w string) bool {
	dated := isTimestamp(w)
	if dated {
		w = w[11:]
	}
	clock := strings.TrimRight(w, "Zz")
	zoned := len(clock)+1 == len(w)
	if i := strings.LastIndexAny(clock, "+-"); i > 0 && !zoned {
		zone := strings.ReplaceAll(clock[i+1:], ":", "")
		if len(zone) != 4 && !(dated && len(zone) == 2) || !isDigits(zone) {
			return false
		}
		clock, zoned = clock[:i], true
	}
	parts := strings.Split(clock, ":")
	if len(parts) < 2 || len(parts) > 3 {
		return false
	}
	for i, p := range parts {
		if whole, part, _ := strings.Cut(p, "."); len(whole) != 2 || !isDigits(whole) ||
			part != "" && (i < 2 || !isDigits(part)) {
			return false
		}
	}
	return dated || zoned
}

// isAddress reports whether a text is an address of a net or of a card in it, with or without how much of it counts:
// fe80::1ff:fe23:4567:890a, 2001:db8::/32, 00:1a:2b:3c:4d:5e.
func isAddress(w string) bool {
	const groups, shortest = 5, 7 // signs between those of a card, and letters of 1a2b::1
	w, bits, cut := strings.Cut(w, "/")
	colons := strings.Count(w, ":")
	if len(w) < shortest || colons < 2 || cut && (!isDigits(bits) || len(bits) > 3) ||
		!strings.ContainsAny(w, "0123456789") || colons < groups && strings.Count(w, "::") != 1 {
		return false
	}
	for p := range strings.SplitSeq(w, ":") {
		if len(p) > 4 || !hexadecimal(lower.Text(p)) {
			return false
		}
	}
	return true
}

// isNet reports whether a word is a range of addresses: 10.0.0.0/16.
func isNet(w string) bool {
	address, bits, _ := strings.Cut(w, "/")
	return strings.Count(address, ".") == 3 && strings.Trim(address, ".0123456789") == "" && isDigit(w[0]) &&
		len(bits) < 3 && isDigits(bits)
}

// isHex reports whether a word is a number written in hexadecimal: 0x7ffdeadbeef.
func isHex(w string) bool {
	return len(w) > len("0x") && w[0] == '0' && w[1]|0x20 == 'x' && hexadecimal(lower.Text(w[2:]))
}

// isVersion reports whether a text begins as a version does.
func isVersion(w string) bool {
	w = strings.TrimPrefix(w, "v")
	return w != "" && isDigit(w[0]) && isWord(w, "_.-+")
}

// isPath reports whether a text has nothing in it that paths do not have.
func isPath(w string) bool { return isWord(w, "_.-/~@") }

// isDigits reports whether a text is of digits, one at least.
func isDigits(w string) bool { return w != "" && clip.Digits(w) == len(w) }

// isWord reports whether a text is of letters, digits and these signs.
func isWord(w, signs string) bool {
	for i := range len(w) {
		if !isPlain(w[i]) && strings.IndexByte(signs, w[i]) < 0 {
			return false
		}
	}
	return w != ""
}

// hexadecimal reports whether a text is of digits and the letters of hexadecimal numbers.
func hexadecimal(w string) bool { return strings.Trim(w, "0123456789abcdef") == "" }

// extension is what stands behind the last dot of a name, empty where none does.
func extension(w string) string {
	if i := strings.LastIndexByte(w, '.'); i > 0 {
		return w[i+1:]
	}
	return ""
}

// schemeOf is the scheme of an address that a word at start begins, empty where none does.
func schemeOf(s string, start, sign int) string {
	const longest = 32
	i := sign
	for i < len(s) && i-start < longest && (isPlain(s[i]) || s[i] == '+' || s[i] == '-' || s[i] == '.') {
		i++
	}
	if !strings.HasPrefix(s[i:], "://") {
		return ""
	}
	for start < i && s[start]|0x20 < 'a' || start < i && s[start]|0x20 > 'z' {
		start++
	}
	return s[start:i]
}

// urlTrailing is what stands behind an address besides what stands behind other names.
const urlTrailing = "!?:&=#"

// urlEnd is where a URL ends: it holds characters that names do not.
func urlEnd(s string, i int) int {
	for i < len(s) && (s[i] < utf8.RuneSelf && wordByte[s[i]] || strings.IndexByte(":?=&%#+!$*", s[i]) >= 0) {
		i++
	}
	return i
}

// take reports the name where the run is one. It returns where to go on, and where the run ends.
func (j *joint) take(found func(name string, c class, file string)) (next, behind int) {
	behind = j.read()
	if j.end == 0 {
		return j.sign, behind
	}
	j.report(func(name string, c class) { found(name, c, "") })
	return j.end, behind
}

// report reports a name of several words, without what is secret in it.
func (j *joint) report(found func(name string, c class)) {
	w := j.s[j.start:j.end]
	if j.class == path && strings.HasPrefix(j.s[j.sign:], `:\`) {
		found(windowsPath(w), path)
		return
	}
	if j.class == path {
		scheme := schemeOf(j.s, j.start, j.sign)
		w = strings.TrimRight(w[strings.Index(w, scheme+"://"):], trailing+urlTrailing)
		reportURL(w, found)
		return
	}
	if name, value, ok := strings.Cut(w, "="); ok {
		switch {
		case isTimestamp(value) && logTimes[name]:
			return
		case secret(w):
			word(trim(name), false, found)
			return
		}
	}
	found(w, j.class)
}

// logTimes are what logs call the times of their lines.
var logTimes = set.Of("ts", "time", "timestamp")

// reportURL reports an address, without who logs in there with what.
func reportURL(u string, found func(string, class)) {
	at := strings.Index(u, "://")
	if at < 0 || len(u) > maxName || strings.Contains(u, redacted) || len(u) == at+len("://") {
		return
	}
	host, _, _ := strings.Cut(u[at+len("://"):], "/")
	if login := strings.LastIndexByte(host, '@'); login >= 0 && strings.IndexByte(host[:login], ':') >= 0 {
		u = u[at+len("://")+login+1:]
		if i := strings.IndexByte(u, ':'); i > 0 && isHostPort(u[:i], u[i+1:]) && !secret(u) {
			found(u, symbol)
		} else if !secret(u) {
			word(trim(u), false, found)
		}
		return
	}
	if i := strings.IndexByte(u, '?'); i > 0 && secret(u[i:]) {
		u = u[:i]
	}
	found(u, path)
}

// secret reports whether a name of several words holds a secret.
func secret(w string) bool {
	const longest = 24 // of what no key of a service is
	if len(w) < longest && !toolcall.HasAny(lower.Text(w), secretWords) {
		return false
	}
	_, n := redact.Known().Redact(w)
	return n > 0
}

// secretWords are such that settings of secrets hold one of them.
var secretWords = []string{"key", "token", "pass", "pwd", "secret", "auth", "cred", "sig", "session",
	"cookie", "bearer"}
