// Package excerpt is the form in which the words of a person are shortened: their
// beginning, a mark that says how much is left out and where all of it is, and their
// end. Whoever shortens such words writes this form, and who reads them again knows by
// it that they were cut.
package excerpt

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/kagewasm/kagewasm/internal/clip"
)

// Pruned begins the notice that stands for pruned text, whoever wrote it: "[Pruned — 6103 tokens]".
const Pruned = "[Pruned — "

// LeftOut stands in every mark.
const LeftOut = " characters left out here"

// A mark is "[... 120 characters left out here: message m1; how to read it ...]".
const (
	begins  = "[... "
	ends    = " ...]"
	message = ": message "
	recall  = "; "
)

// Mark says that so many characters are left out, of which message, and how that can be
// read. The last two may be empty.
func Mark(runes int, id, how string) string {
	if id != "" {
		id = message + id
	}
	if how = clip.OneLine(how); how != "" && !strings.Contains(how, ends) {
		id += recall + how
	}
	return begins + strconv.Itoa(runes) + LeftOut + id + ends
}

// Marked reads the marks in a text that was shortened before: how many characters they
// speak of, more than they have themselves, and of which message; of the one given
// where they name none.
func Marked(text, id string) (runes int, of string) {
	for {
		_, rest, ok := strings.Cut(text, begins)
		if !ok {
			return runes, id
		}
		inner, after, ok := strings.Cut(rest, ends)
		number, where, isMark := strings.Cut(inner, LeftOut)
		if n, err := strconv.Atoi(number); ok && isMark && err == nil {
			runes += n - utf8.RuneCountInString(inner) - len(begins+ends) - 1
			if m, ok := strings.CutPrefix(where, message); ok {
				id, _, _ = strings.Cut(m, recall)
			}
		}
		text = after
	}
}

// Gone is the mark for text that is left out. What the marks in it speak of is gone too.
func Gone(text, id, how string) string {
	n, id := Marked(text, id)
	return Mark(utf8.RuneCountInString(text)+n, id, how)
}

// Of is what is left of a text of a message: about so many bytes of its beginning and of
// its end, whole characters and no part of an earlier mark.
func Of(text string, head, tail int, id, how string) string {
	first, last := Head(clip.Head(text, head)), Tail(clip.Tail(text, tail))
	if len(first)+len(last) >= len(text) {
		return text
	}
	return line(first) + Gone(text[len(first):len(text)-len(last)], id, how) + "\n" + last
}

// Head is the beginning of a text without a mark that was cut at its end.
func Head(text string) string {
	if i := strings.LastIndex(text, begins); i >= 0 && !strings.Contains(text[i:], ends) {
		return text[:i]
	}
	return text
}

// Tail is the end of a text without a mark that was cut at its beginning.
func Tail(text string) string {
	if before, after, ok := strings.Cut(text, ends); ok && !strings.Contains(before, begins) {
		return after
	}
	return text
}

// Is reports whether a text is nothing but the beginning and the end of the whole, and a
// mark between them.
func Is(text, whole string) bool {
	for from := 0; ; {
		i := strings.Index(text[from:], begins)
		if i < 0 {
			return false
		}
		first, rest := text[:from+i], text[from+i+len(begins):]
		from += i + len(begins)
		inner, last, ok := strings.Cut(rest, ends+"\n")
		number, _, isMark := strings.Cut(inner, LeftOut)
		if _, err := strconv.Atoi(number); !ok || !isMark || err != nil {
			continue
		}
		for _, first := range []string{first, strings.TrimSuffix(first, "\n")} { // the mark begins a line
			if len(first)+len(last) < len(whole) && strings.HasPrefix(whole, first) && strings.HasSuffix(whole, last) {
				return true
			}
		}
	}
}

// line ends a text with a newline.
func line(s string) string {
	if s == "" || strings.HasSuffix(s, "\n") {
		return s
	}
	return s + "\n"
}
