package ui

import (
	"fmt"
	"math"
	"strings"
	"unicode/utf8"

	"github.com/kagewasm/kagewasm/internal/clip"
	"github.com/kagewasm/kagewasm/internal/lists"
)

// Number writes 1234567 as 1,234,567.
func Number[T ~int | ~int64](n T) string {
	s := fmt.Sprint(n)
	for i := len(s) - 3; i > 0 && s[i-1] != '-'; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// change writes how much more a figure is than before: +12.3%.
func change(before, now float64) string {
	switch by := 100 * (now/before - 1); {
	case before == now:
		return "as before"
	case before == 0:
		return "there was none"
	case math.Abs(by) < 0.1:
		return fmt.Sprintf("%+.4f%%", by)
	default:
		return fmt.Sprintf("%+.1f%%", by)
	}
}

// Plural writes "1 session" and "2 sessions".
func Plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return Number(n) + " " + what + "s"
}

// bytesOf writes a size for a person.
func bytesOf[T ~int | ~int64](n T) string {
	switch {
	case n >= 1<<20:
		return fmt.Sprintf("%.1f MiB", float64(n)/(1<<20))
	case n >= 1<<10:
		return fmt.Sprintf("%.1f KiB", float64(n)/(1<<10))
	}
	return fmt.Sprintf("%d B", n)
}

// shortened cuts s to n characters.
func shortened(s string, n int) string {
	if s = clip.OneLine(s); utf8.RuneCountInString(s) > n {
		s = clip.Chars(s, n-1) + "…"
	}
	return s
}

// amount writes fuel for a person: 1.2 M.
func amount(n int64) string {
	switch v := float64(n); {
	case v >= 1e9:
		return fmt.Sprintf("%.1f G", v/1e9)
	case v >= 1e6:
		return fmt.Sprintf("%.1f M", v/1e6)
	case v >= 1e3:
		return fmt.Sprintf("%.1f k", v/1e3)
	}
	return fmt.Sprint(n)
}

// percent says by how much a figure grew or shrank, in brackets. Below one percent
// it says nothing.
func percent(old, now int64) string {
	if old == 0 || now == 0 || math.Abs(float64(now)/float64(old)-1) < 0.01 {
		return ""
	}
	return " (" + change(float64(old), float64(now)) + ")"
}

func difference(old, now int) string {
	if old == now {
		return ""
	}
	return fmt.Sprintf(" (%+d)", now-old)
}

// joined lists what is safe already.
func joined(list []safe) (out safe) {
	for i, s := range list {
		if i > 0 {
			out += ", "
		}
		out += s
	}
	return out
}

// Joined lists names.
func Joined[T ~string](list []T) string { return strings.Join(lists.Strings(list), ", ") }
