package strategies

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/kagewasm/kagewasm/internal/clip"
	"github.com/kagewasm/kagewasm/strategies/note"
)

// headTail shortens a text to n characters of its beginning and its end, since that is where errors
// stand. A text that is no longer than the mark for what is left out stays whole.
func headTail(s string, n int) string {
	left := utf8.RuneCountInString(s) - n
	mark := fmt.Sprintf("[%d characters left out]", left)
	if left <= len(mark) {
		return s
	}
	if n <= 0 {
		return mark
	}
	return clip.Chars(s, (n+1)/2) + " … " + mark + " … " + clip.LastChars(s, n/2)
}

// within shortens a text to limit tokens of its beginning and its end.
func within(s string, limit int, count func(string) int) string {
	if len(s) > limit*maxTokenBytes {
		s = headTail(s, limit*maxTokenBytes)
	}
	return clip.Shrink(s, limit, count, func(n int) string { return headTail(s, n) })
}

// maxTokenBytes is more bytes than a token of any text worth reading takes. With it a megabyte of which
// a page will be left need not be counted.
const maxTokenBytes = 16

// cutMark ends what was cut to its budget.
const cutMark = "[cut]"

// head cuts the end off a text that has more than limit tokens, at a line or a word.
func head(s string, limit int, count func(string) int) string {
	return clip.Shrink(s, limit, count, func(n int) string {
		s := clip.Chars(s, n)
		if at := strings.LastIndexAny(s, "\n "); at > len(s)/2 {
			s = s[:at]
		}
		return strings.TrimSpace(s + "\n" + cutMark)
	})
}

// squeeze shortens a summary to limit tokens. Long sections are cut before short ones: each keeps its
// beginning, up to a length that is the same for all.
func squeeze(o note.Outline, text string, limit int, count func(string) int) string {
	if len(o.Sections) == 0 {
		return head(text, limit, count)
	}
	found := o.Parse(text)
	write := func(share int) string {
		return o.Render(func(s note.Section) string { return head(found[s.Title], share, count) })
	}
	lo, hi := 0, limit
	for lo < hi {
		if mid := (lo + hi + 1) / 2; count(write(mid)) <= limit {
			lo = mid
		} else {
			hi = mid - 1
		}
	}
	return write(lo)
}
