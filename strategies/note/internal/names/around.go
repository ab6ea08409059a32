package names

import (
	"strings"

	"github.com/kagewasm/kagewasm/internal/clip"
	"github.com/kagewasm/kagewasm/internal/lazy"
)

// Some names are told from prose and code by what stands around them: a path with blanks, a pattern, a member, a number
// in groups, an issue. They are listed whole, and no piece of them.

// passage reports the name that the word begins or is, where it is one of these, and returns where it ends, 0 where it
// is none.
func (c place) passage(as reading, found func(name string, c class, file string)) int {
	if next := c.blanks(found); next > 0 {
		return next
	}
	if c.end < len(c.s) && c.s[c.end] == '*' {
		if end := patternEnd(c.s, c.start, as); end > 0 {
			found(c.s[c.start:end], symbol, "")
			return end
		}
		return 0
	}
	issue := c.before() == '#'
	from, end, class := c.start, c.start+len(strings.TrimRight(c.s[c.start:c.end], trailing)), number
	switch {
	case issue && c.isIssue(end, as):
		from--
	case isDigit(c.s[c.start]) && c.isGrouped(end, as):
	case c.isMember(end, as):
		class = symbol
	default:
		return 0
	}
	found(c.s[from:end], class, "")
	return c.end
}

// signEnd reports the name that a sign begins and no word, and returns where it ends, or what a harness put where it
// cut a text, 0 where there is neither.
func signEnd(s string, i int, as reading, found func(name string, c class, file string)) (end int) {
	switch s[i] {
	case '[':
		mark, splits := cutMark(s[i:])
		if splits {
			return behindWord(s, i+mark)
		} else if mark > 0 {
			return i + mark
		}
	case '*':
		if end = patternEnd(s, i, as); end > 0 {
			found(s[i:end], symbol, "")
		}
	case '\\':
		if end = shareEnd(s, i); end > 0 {
			found(windowsPath(s[i:end]), path, "")
		}
	}
	return end
}

// isIssue reports whether a number behind a # is that of an issue. In style sheets numbers of three and of six digits
// are colours.
func (c place) isIssue(end int, as reading) bool {
	const most = 6
	n := end - c.start
	if clip.Digits(c.s[c.start:end]) != n || n < 2 || n > most || as != words && (n < 4 || n == most) {
		return false
	}
	sign := place{c.s, c.start - 1, end}
	return strings.IndexByte(" \t\n([,`*", sign.before()) >= 0 && !strings.HasPrefix(c.s[end:], ";") && ends(c.s, end)
}

// ends reports whether a name ends at i where a sentence may go on.
func ends(s string, i int) bool { return closes(s, i) || s[i] == '.' || s[i] == ':' }

// isGrouped reports whether a word is a number in groups that stands by itself: 1,048,576. In parentheses it may be two
// numbers, f(100,200), and in what tools put out columns.
func (c place) isGrouped(end int, as reading) bool {
	w := c.s[c.start:end]
	if strings.IndexAny(w, ",'") < 1 || strings.IndexByte(" \t\n(*`", c.before()) < 0 {
		return false
	}
	alone := end == len(c.s) || strings.IndexByte(" \t\n.:;,*`", c.s[end]) >= 0 || c.s[end] == ')' && c.before() != '('
	return alone && (groupedElsewhere().MatchString(w) || as != code && strings.IndexByte(w, ',') > 0 &&
		numberEnd(w, 0, clip.Digits(w)) == len(w) && (as != output || !c.isColumns(end)))
}

// groupedElsewhere is a number in groups as other countries write it: 1.299,95 and 12'000.
var groupedElsewhere = lazy.Regexp(`^\d{1,3}(?:(?:\.\d{3})+,\d{1,2}|(?:'\d{3})+(?:\.\d{1,2})?)$`)

// isColumns reports whether numbers with commas between them may be columns: they are all of their line, or neither
// their groups nor decimals tell that they are not.
func (c place) isColumns(end int) bool {
	w := c.s[c.start:end]
	line := (c.start == 0 || c.before() == '\n') && (end == len(c.s) || c.s[end] == '\n')
	return line || strings.IndexByte(w, '.') < 0 && (clip.Digits(w) == 3 || strings.Count(w, ",") == 1)
}
