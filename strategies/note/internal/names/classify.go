package names

import (
	_ "embed"
	"strings"
	"unicode/utf8"

	"github.com/kagewasm/kagewasm/internal/clip"
	"github.com/kagewasm/kagewasm/internal/lower"
	"github.com/kagewasm/kagewasm/internal/set"
	"github.com/kagewasm/kagewasm/internal/wordlist"
)

//go:embed words.txt
var wordFile string

var wordLists = wordlist.Read(wordFile)

// maxName is the longest name kept, in bytes.
const maxName = 256

// classify says what a single word is. Where it is quoted in the text, or
// written with ./ before it, two plain words with a slash between them are a
// path too, and two with a hyphen and capitals, Change-Id, a name.
func classify(w string, quoted bool) class {
	if len(w) < 3 || len(w) > maxName {
		return none
	}
	c := classOf(w, quoted)
	if c != none && (notNames[w] || strings.Contains(w, redacted) || isOurs(w)) {
		return none
	}
	return c
}

// isOurs reports whether a word is an id that this host gave a message or a compaction: marks in a text have it, and it
// names nothing of the session.
func isOurs(w string) bool {
	const shortest = 12
	for _, kind := range []string{"m-", "cmp-"} {
		if id, ok := strings.CutPrefix(w, kind); ok {
			id, _, _ = strings.Cut(id, ".")
			return len(id) >= shortest && hexadecimal(id)
		}
	}
	return false
}

// classOf is what a word looks like.
func classOf(w string, quoted bool) class {
	if strings.IndexByte(w, '/') >= 0 {
		if isDigit(w[0]) && isNet(w) {
			return number
		}
		return classifyPath(w, quoted)
	}
	var f features
	f.read(w)
	switch {
	case f.digits == 0 && f.letters == 0, strings.IndexByte(w, ',') >= 0:
		return none // numbers in groups: see passage
	case w[0] == '#':
		return number
	case w[0] == '-':
		if f.letters >= 3 {
			return symbol
		}
		return none
	case f.hex && f.digits > 0 && len(w) >= 7:
		return number
	case f.letters == 0:
		if from, to, ok := isRange(w); f.digits >= 3 && !(ok && len(from) < 3 && len(to) < 3) {
			return number
		}
		return none
	case w[0] == '0' && isHex(w):
		const shortest = len("0x100")
		if len(w) >= shortest {
			return number
		}
		return none
	case isTimestamp(w):
		return none
	case w[0] == 'v' && f.letters == 1 && f.digits > 1 && f.dots > 0:
		return number // v1.2.3
	case f.ext, w[0] == '.', f.dots > 0 && isVariant(w):
		return path
	case f.at && f.dots > 0, f.host:
		return symbol // an address
	case f.dots > 0 && f.letters > f.digits, isCounted(w):
		return none // a qualified name: see word
	case f.underscore && f.letters >= 3 && len(w) >= 5:
		return symbol
	case (f.humps > 0 || f.titled && quoted) && len(w) >= 5:
		return symbol
	case f.digits > 0 && f.letters > 0 && len(w) >= 4 && f.upperOrDash:
		return symbol // HAT136, gpt-4o, pydicom-1458
	}
	return none
}

// isVariant reports whether w is a file that is told by what stands before its dot: a version of a library,
// libfoo.so.2, or one of several ways to build, Dockerfile.prod.
func isVariant(w string) bool {
	if strings.HasPrefix(w, "lib") {
		_, version, ok := strings.Cut(w, ".so")
		return ok && strings.Trim(version, "0123456789.") == ""
	} else if w[0] > 'Z' {
		return false
	}
	file, use, _ := strings.Cut(w, ".")
	return buildFiles[file] && isUse(use)
}

// isUse reports whether what stands behind the dot of a file says what it is for, and begins no sentence.
func isUse(w string) bool { return isWord(w, "_.-") && w[0]|0x20 == w[0] }

// redacted stands in the place of a secret: a name with it is not exact.
const redacted = "REDACTED"

// isRange reports whether w is a range, 1-10 or 337-351, and returns its ends. Longer
// numbers may be a telephone's, and three of them a date.
func isRange(w string) (from, to string, ok bool) {
	from, to, ok = strings.Cut(w, "-")
	return from, to, ok && len(from) < 5 && len(to) < 5 && strings.Trim(from+to, "0123456789") == ""
}

// isCounted reports whether w is a number and the words it counts, 12-hex-char, or the end
// of a sentence and the beginning of the next one, 1475.To.
func isCounted(w string) bool {
	rest := w[clip.Digits(w):]
	if len(rest) < 2 || len(rest) == len(w) || strings.ContainsAny(rest, "0123456789") {
		return false
	}
	return rest[0] == '.' || rest[0] == '-' && lower.Text(rest) == rest
}

// isTimestamp reports whether w begins as 2026-01-23T14 does: the time of a
// log line, of which no two are the same.
func isTimestamp(w string) bool {
	return len(w) >= 13 && w[10] == 'T' && w[4] == '-' && w[7] == '-' && isDigit(w[0]) && isDigit(w[11])
}

// features are what classify looks at.
type features struct {
	letters, digits, dots, humps int
	underscore, at, hex, ext     bool
	upperOrDash, host, titled    bool
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
				if w[i-1] == '-' {
					f.titled = true // Test-Driven
				} else {
					f.humps++ // HTTPServer
				}
			}
			lower = false
		case isDigit(c):
			f.digits++
		case c == '_':
			f.underscore = f.underscore || i > 0 && i+1 < len(w)
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
		case utf8.RuneStart(c):
			f.letters++
			f.hex = false
		}
	}
	if f.dots == 0 {
		return
	}
	if i := strings.LastIndexByte(w, '.'); i > 0 {
		f.ext, f.host = extensions[w[i+1:]], domains[w[i+1:]]
	}
}

// classifyPath tells a path from two words with a slash between them.
func classifyPath(w string, quoted bool) class {
	if strings.Contains(w, "path/to/") {
		return none // stands for any path
	}
	if isTestCase(w) || isRelease(w) {
		return symbol
	}
	if isDate(w) {
		return none
	}
	parts, named, letters := 0, false, false
	for p := range strings.SplitSeq(w, "/") {
		if p == "" || p == "." || p == ".." || p == "~" || p == "..." || p == "…" {
			continue
		}
		parts++
		var f features
		f.read(p)
		letters = letters || f.letters > 0
		named = named || f.ext || f.underscore || f.digits > 0 || f.dots > 0 || strings.IndexByte(p, '-') > 0
	}
	switch {
	case !letters || parts == 0 || !quoted && (isRate(w) || isSeries(w)) || isReplacement(w):
		return none
	case w[0] == '/' && parts >= 2, strings.HasPrefix(w, "~/"), parts >= 3,
		parts == 2 && (named || quoted || w[0] == '$' || w[0] == '@'):
		return path
	}
	return none
}

// isDate reports whether w is a day as logs of servers have it, 13/Oct/2026, and no file.
func isDate(w string) bool {
	day, rest, _ := strings.Cut(w, "/")
	month, year, _ := strings.Cut(rest, "/")
	return len(day) <= 2 && isDigits(day) && len(year) == 4 && isDigits(year) && months[month]
}

var months = set.Of("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")

// isReplacement reports whether w tells an editor of streams what to replace, s/old/new/g, and names no file.
func isReplacement(w string) bool {
	if !strings.HasPrefix(w, "s/") {
		return false
	}
	parts := strings.Split(w, "/")
	return len(parts) == 4 && parts[1] != "" && replacementFlags[parts[3]]
}

// replacementFlags say how a replacement is done.
var replacementFlags = set.Of("", "g", "gi", "ig", "gI", "Ig", "i", "I", "p", "gp")

// isRelease reports whether w is a word and a version of what it names, authorship/3.0.0, and no file.
func isRelease(w string) bool {
	product, version, _ := strings.Cut(w, "/")
	return isPair(w) && isDigit(version[0]) && !topFolders[product]
}

// isPair reports whether w is two words with a slash between them, each of letters and hyphens. The second may be a
// version.
func isPair(w string) bool {
	first, second, ok := strings.Cut(w, "/")
	return ok && isPhrase(first) && (isPhrase(second) ||
		strings.IndexByte(second, '.') > 0 && strings.Trim(second, "0123456789.") == "")
}

// isPhrase reports whether a text is of letters, with hyphens between them.
func isPhrase(w string) bool {
	for i := range len(w) {
		if c := w[i] | 0x20; (c < 'a' || c > 'z') && (w[i] != '-' || i == 0 || i+1 == len(w)) {
			return false
		}
	}
	return w != ""
}

// isRate reports whether w is an amount for something, 25/h or $30-60/mo, and no file.
func isRate(w string) bool {
	amount, per, _ := strings.Cut(w, "/")
	return amount != "" && strings.Trim(amount, "$€£¥0123456789.,-") == "" && rateUnits[per]
}

// rateUnits are what amounts are for.
var rateUnits = set.Of("h", "hr", "d", "s", "ms", "m", "mo", "min", "wk", "w", "y", "yr", "GB", "MB", "kB", "km", "kg",
	"月", "天", "小时", "年")

// isSeries reports whether w names several things of one kind by their numbers, SLR124/133, and no file.
func isSeries(w string) bool {
	first, others, _ := strings.Cut(w, "/")
	return first != "" && isDigit(first[len(first)-1]) && !isDigit(first[0]) &&
		others != "" && strings.Trim(others, "0123456789/") == ""
}

// isTestCase reports whether w names a case of a test of Go, TestLease/after_a_restart, and no file.
func isTestCase(w string) bool {
	test, _, _ := strings.Cut(w, "/")
	for _, kind := range []string{"Test", "Benchmark", "Fuzz", "Example"} {
		rest, ok := strings.CutPrefix(test, kind)
		if ok && rest != "" && (rest[0] >= 'A' && rest[0] <= 'Z' || rest[0] == '_') && strings.IndexByte(rest, '.') < 0 {
			return !extensions[w[strings.LastIndexByte(w, '.')+1:]]
		}
	}
	return false
}

// notNames look like names and are words, or are the same everywhere.
var notNames = set.Of(wordLists["no names"]...)

// dotFiles are files that keep their dot when they stand alone.
var dotFiles = set.Of(wordLists["dot files"]...)

// buildFiles have no extension of their own.
var buildFiles = set.Of(wordLists["build files"]...)

// domains that make a dotted name a host.
var domains = set.Of(wordLists["domains"]...)

// extensions of files that agents name without a folder.
var extensions = set.Of(wordLists["extensions"]...)
