package bank

import (
	"math/bits"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
	"unsafe"

	"github.com/kagewasm/kagewasm/internal/unaligned"
)

// days are words for the days that a text names, however it writes them: 8 May
// 2023, May 8th, 2023-05-08; and, where it is known when it was said, yesterday
// and three days ago. They are searched with the text, so that a question about
// a day finds what was said on it, and what was said about it.
func days(text string, said time.Time) string {
	if !mayNameDays(text) {
		return "" // most texts
	}
	var out []string
	for at := dayStart(text, 0); at < len(text); {
		end := wordEnd(text, at)
		if day := dayAt(text, at, end, said); day != "" {
			out = append(out, day)
		}
		at = dayStart(text, end)
	}
	return strings.Join(out, " ")
}

// mayNameDays is the quick look before that: a day without a number is written in small letters.
func mayNameDays(text string) bool {
	return strings.ContainsAny(text, "0123456789") || strings.Contains(text, "day") || strings.Contains(text, "night")
}

// dayStart is where the first word begins, from a place of a text between words on, that days has to look at: one that
// begins with a digit, or as one of the names does. Most words do not. It is the end of the text where there is none.
func dayStart(text string, from int) int {
	bytes, before := unsafe.Slice(unsafe.StringData(text), len(text)), uint64(0)
	for ; from+8 <= len(bytes); from += 8 {
		within := plainIn(unaligned.Load(bytes, from))
		for starts := within &^ (within<<8 | before); starts != 0; starts &= starts - 1 {
			if at := from + bits.TrailingZeros64(starts)/8; mayBeDay(text, at) {
				return at
			}
		}
		before = within >> (64 - 8)
	}
	for ; from < len(text); from++ {
		within := uint64(kindOf[text[from]] & inside)
		if within > before && mayBeDay(text, from) {
			return from
		}
		before = within
	}
	return len(text)
}

// mayBeDay reports whether days has to look at a letter or digit of ASCII and what follows, before which none stands.
func mayBeDay(text string, at int) bool {
	if c := text[at]; c > '9' {
		if at+dayBytes > len(text) {
			return false
		}
		if n := dayBegins(text[at:]); beginsDay[n/64]>>(n%64)&1 == 0 {
			return false
		}
	}
	return !behindWord(text, at)
}

// beginsDay tells most words from those that begin as one of the names does of which days makes something.
var beginsDay = func() (is [1 << (5 * dayBytes) / 64]uint64) {
	for _, name := range append([]string{"today", "tonight", "yesterday", "ago"}, months...) {
		n := dayBegins(name)
		is[n/64] |= 1 << (n % 64)
	}
	return is
}()

// dayBytes is how many bytes of a word dayBegins tells apart, whatever their case.
const dayBytes = 3

func dayBegins(word string) uint {
	return uint(word[0]&31)<<10 | uint(word[1]&31)<<5 | uint(word[2]&31)
}

// dayAt are the words for the day that the word between two places of a text names together with the words around it;
// "" where it names none.
func dayAt(text string, start, end int, said time.Time) string {
	word := text[start:end]
	if '0' <= word[0] && word[0] <= '9' {
		return numbered(word, text[end:], said)
	}
	if month := monthOf(word); month > 0 {
		return inMonth(text, start, end, month)
	}
	if said.IsZero() {
		return ""
	}
	switch strings.ToLower(word) {
	case "today", "tonight":
		return dayBefore(said, 0)
	case "yesterday":
		return dayBefore(said, 1)
	case "ago": // a number in digits was at its turn
		days, start := wordBefore(text, start)
		if !isDays(days) {
			return ""
		}
		many, _ := wordBefore(text, start)
		if n := slices.Index(numbers, many); n >= 0 {
			return dayBefore(said, n+1)
		}
	}
	return ""
}

// numbered are the words for the day that a number names with what follows: three days ago in digits, 2023-05-08.
func numbered(word, rest string, said time.Time) string {
	ago, y := numeral(word, 366), year(word)
	if ago == 0 && y == 0 {
		return ""
	}
	next, from := wordAfter(rest, 0)
	switch {
	case ago > 0 && isDays(next):
		if after, _ := wordAfter(rest, from); after == "ago" && !said.IsZero() {
			return dayBefore(said, ago)
		}
	case y > 0:
		if m := numeral(next, 12); m > 0 {
			after, _ := wordAfter(rest, from)
			if d := numeral(after, 31); d > 0 {
				return dayWords(y, m, d)
			}
		}
	}
	return ""
}

// inMonth are the words for the day of a month that stands between two places of a text.
func inMonth(text string, start, end, month int) string {
	number, start := wordBefore(text, start)
	if number == "of" {
		number, _ = wordBefore(text, start)
	}
	next, end := wordAfter(text, end)
	if day := ordinal(number); day > 0 {
		return dayWords(year(next), month, day) // 8 May 2023
	}
	if day := ordinal(next); day > 0 {
		after, _ := wordAfter(text, end)
		return dayWords(year(after), month, day) // May 8, 2023
	}
	return ""
}

// wordAfter is the first word from a place of a text on, in lower case, and where it ends.
func wordAfter(text string, from int) (word string, end int) {
	start, end := nextWord(text, from)
	return strings.ToLower(text[start:end]), end
}

// wordBefore is the last word before a place of a text, in lower case, and where it begins.
func wordBefore(text string, from int) (word string, start int) {
	end := from
	for end > 0 && !behindWord(text, end) {
		_, size := utf8.DecodeLastRuneInString(text[:end])
		end -= size
	}
	start = wordStart(text, end)
	return strings.ToLower(text[start:end]), start
}

// dayBefore are the words for the day that many days before a time.
func dayBefore(said time.Time, days int) string {
	day := said.AddDate(0, 0, -days)
	return dayWords(day.Year(), int(day.Month()), day.Day())
}

// dayWords are the words for a day: for it alone, where the year is not 0, and
// for it in any year.
func dayWords(year, month, day int) string {
	inAny := "day" + padded(month, 2) + padded(day, 2)
	if year == 0 {
		return inAny
	}
	return "day" + padded(year, 4) + inAny[len("day"):] + " " + inAny
}

// padded is a number with as many digits as are wanted at least.
func padded(n, digits int) string {
	s := strconv.Itoa(n)
	return "0000"[:max(0, digits-len(s))] + s
}

func isDays(w string) bool { return w == "days" || w == "day" }

var numbers = []string{"one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"}

// year is the year of a word, 0 where it is none.
func year(w string) int {
	if len(w) != 4 {
		return 0
	}
	if y := numeral(w, 2199); y >= 1800 {
		return y
	}
	return 0
}

// ordinal is the day of a month that a word is, such as 8 and 8th, or 0.
func ordinal(w string) int {
	for _, end := range [...]string{"st", "nd", "rd", "th"} {
		w = strings.TrimSuffix(w, end)
	}
	return numeral(w, 31)
}

// numeral is the number that a word is, from 1 to limit, or 0. Most words are none, and
// an error for each of them is what retaining would take longest for.
func numeral(w string, limit int) int {
	n := 0
	for i := range len(w) {
		if w[i] < '0' || w[i] > '9' || n > limit {
			return 0
		}
		n = 10*n + int(w[i]-'0')
	}
	if n > limit {
		return 0
	}
	return n
}

var months = []string{
	"january", "february", "march", "april", "may", "june",
	"july", "august", "september", "october", "november", "december",
}

// monthOf is the month that a word of any case names, in full or by its first three
// letters, or 0.
func monthOf(w string) int {
	if len(w) < 3 {
		return 0
	}
	w = strings.ToLower(w)
	for i, month := range months {
		if w == month || w == month[:3] {
			return i + 1
		}
	}
	return 0
}
