package ui

import (
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"unicode"

	"github.com/kagewasm/kagewasm/abi"
)

// safe is text that a terminal may be given as it is: our own, or what [plain] has
// made of somebody else's. A [Printer] makes every other value safe on its way out,
// so that nothing that a plugin, a session or a file says can look like a line of
// ours, hide, or steer the terminal.
type safe string

// safef is fmt.Sprintf, with values made safe.
func safef(format string, args ...any) safe {
	for i := range args {
		args[i] = shown(args[i])
	}
	return safe(fmt.Sprintf(format, args...))
}

// shown is a value as it may be printed. Numbers stay what they are.
func shown(v any) any {
	switch v := v.(type) {
	case safe:
		return v
	case error:
		return plain(v.Error())
	case fmt.Stringer:
		return plain(v.String())
	}
	switch r := reflect.ValueOf(v); {
	case r.Kind() == reflect.String:
		return plain(r.String())
	case r.CanInt(), r.CanUint(), r.CanFloat(), r.Kind() == reflect.Bool:
		return v
	}
	return plain(fmt.Sprint(v))
}

// maxMarks is how many accents one letter may carry: more of them cover the lines
// above and below.
const maxMarks = 4

// plain makes text safe on one line: what cannot be seen, breaks the line, turns its
// direction or steers the terminal is written as Go escapes it, and control words of
// models are broken up. Joiners within emoji stay.
func plain(text string) safe {
	if printable(text) {
		return safe(abi.Defuse(text))
	}
	var b strings.Builder
	last, marks := rune(0), 0
	for _, r := range text {
		if marks++; !unicode.Is(unicode.Mn, r) {
			marks = 0
		}
		switch {
		case r == '\t' || r != ' ' && unicode.Is(unicode.Zs, r):
			b.WriteByte(' ')
		case marks <= maxMarks && !hidden(r), joins(last, r):
			b.WriteRune(r)
		default:
			b.WriteString(escaped(r))
		}
		last = r
	}
	return safe(abi.Defuse(b.String()))
}

// printable reports whether text is of plain ASCII alone.
func printable(text string) bool {
	for i := range len(text) {
		if text[i] < ' ' || text[i] > '~' {
			return false
		}
	}
	return true
}

// hidden reports whether a character is not seen, or does something other than being
// seen: control and format characters, fillers, tags, selectors, private ones.
func hidden(r rune) bool {
	if r <= '~' {
		return r < ' '
	}
	return !unicode.IsPrint(r) || r == '\u2800' ||
		unicode.In(r, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector)
}

// joins reports whether a character makes one emoji of those around it.
func joins(last, r rune) bool {
	return (r == '\u200d' || r == '\ufe0e' || r == '\ufe0f') &&
		(last == '\ufe0f' || unicode.In(last, unicode.So, unicode.Sk))
}

// escaped is a character as Go writes it in a string.
func escaped(r rune) string { return strings.Trim(strconv.QuoteRuneToASCII(r), "'") }
