package bank

import (
	"slices"
	"strconv"
	"strings"
	"time"
)

// days are words for the days that a text names, however it writes them: 8 May
// 2023, May 8th, 2023-05-08; and, where it is known when it was said, yesterday
// and three days ago. They are searched with the text, so that a question about
// a day finds what was said on it, and what was said about it.
func days(text string, said time.Time) string {
	if !strings.ContainsAny(text, "0123456789") && !strings.Contains(text, "day") && !strings.Contains(text, "night") {
		return "" // most texts
	}
	var out []string
	var last, beforeLast string // the words before
	for start, end := nextWord(text, 0); start < end; start, end = nextWord(text, end) {
		word, day := text[start:end], ""
		switch {
		case !beginsDay[word[0]]:
		case mayBeDay(word): // most words may not
			day = dayAt(strings.ToLower(word), [2]string{strings.ToLower(beforeLast), strings.ToLower(last)}, text[end:], said)
		case isAgo(word) && !said.IsZero(): // a number in digits was at its turn
			if n := slices.Index(numbers, strings.ToLower(beforeLast)); n >= 0 && isDays(strings.ToLower(last)) {
				day = dayBefore(said, n+1)
			}
		}
		if day != "" {
			out = append(out, day)
		}
		beforeLast, last = last, word
	}
	return strings.Join(out, " ")
}

// dayAt are the words for the day that a word names together with the two before it and what follows, all but that in
// lower case; "" where it names none.
func dayAt(word string, before [2]string, rest string, said time.Time) string {
	var after [2]string
	for i, from := 0, 0; i < len(after); i++ {
		start, end := nextWord(rest, from)
		after[i], from = strings.ToLower(rest[start:end]), end
	}
	if ago := daysAgo(word, after[0], after[1]); ago >= 0 && !said.IsZero() {
		return dayBefore(said, ago)
	}
	if y := year(word); y > 0 {
		if m, d := numeral(after[0], 12), numeral(after[1], 31); m > 0 && d > 0 {
			return dayWords(y, m, d) // 2023-05-08
		}
	}
	month := monthOf(word)
	if month == 0 {
		return ""
	}
	number := before[1]
	if number == "of" {
		number = before[0]
	}
	if day := ordinal(number); day > 0 {
		return dayWords(year(after[0]), month, day) // 8 May 2023
	}
	if day := ordinal(after[0]); day > 0 {
		return dayWords(year(after[1]), month, day) // May 8, 2023
	}
	return ""
}

// dayBefore are the words for the day that many days before a time.
func dayBefore(said time.Time, days int) string {
	day := said.AddDate(0, 0, -days)
	return dayWords(day.Year(), int(day.Month()), day.Day())
}

// beginsDay are the first letters of the words that days looks at, and digits.
var beginsDay = func() (is [256]bool) {
	for _, name := range append([]string{"today", "yesterday", "ago"}, months...) {
		is[name[0]], is[name[0]&^0x20] = true, true
	}
	for c := '0'; c <= '9'; c++ {
		is[c] = true
	}
	return is
}()

// mayBeDay reports whether days has to look at a word of any case. The others need not be in lower case for that.
func mayBeDay(w string) bool {
	switch c := w[0]; {
	case '0' <= c && c <= '9':
		return true
	case c|0x20 == 't' && len(w) >= len("today") && len(w) <= len("TONİGHT"), c|0x20 == 'y' && len(w) == len("yesterday"):
		return true
	}
	return monthOf(w) > 0
}

func isAgo(w string) bool {
	return len(w) == len("ago") && w[0]|0x20 == 'a' && strings.EqualFold(w, "ago")
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

// daysAgo is how many days ago a word and those after it say, the number in digits, or -1.
func daysAgo(word, next, after string) int {
	switch word {
	case "today", "tonight":
		return 0
	case "yesterday":
		return 1
	}
	if after == "ago" && isDays(next) {
		if n := numeral(word, 366); n > 0 {
			return n
		}
	}
	return -1
}

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
	n := 0
	switch uint32(w[0]|0x20)<<16 | uint32(w[1]|0x20)<<8 | uint32(w[2]|0x20) {
	case 'j'<<16 | 'a'<<8 | 'n':
		n = 1
	case 'f'<<16 | 'e'<<8 | 'b':
		n = 2
	case 'm'<<16 | 'a'<<8 | 'r':
		n = 3
	case 'a'<<16 | 'p'<<8 | 'r':
		n = 4
	case 'm'<<16 | 'a'<<8 | 'y':
		n = 5
	case 'j'<<16 | 'u'<<8 | 'n':
		n = 6
	case 'j'<<16 | 'u'<<8 | 'l':
		n = 7
	case 'a'<<16 | 'u'<<8 | 'g':
		n = 8
	case 's'<<16 | 'e'<<8 | 'p':
		n = 9
	case 'o'<<16 | 'c'<<8 | 't':
		n = 10
	case 'n'<<16 | 'o'<<8 | 'v':
		n = 11
	case 'd'<<16 | 'e'<<8 | 'c':
		n = 12
	default:
		return 0 // most words
	}
	if len(w) > 3 && strings.ToLower(w) != months[n-1] {
		return 0
	}
	return n
}
