package main

import (
	"fmt"
	"io"
	"math"
	"strings"

	json "github.com/goccy/go-json"
)

// printer writes for a person.
type printer struct {
	w     io.Writer
	color bool
}

type style string

const (
	bold   style = "1"
	dim    style = "2"
	red    style = "31"
	green  style = "32"
	yellow style = "33"
	cyan   style = "36"
)

func (p printer) paint(s style, text string) string {
	if !p.color || text == "" {
		return text
	}
	return "\x1b[" + string(s) + "m" + text + "\x1b[0m"
}

func (p printer) linef(format string, args ...any) { fmt.Fprintf(p.w, format+"\n", args...) }

// field writes a label and a value in columns.
func (p printer) field(label, format string, args ...any) {
	p.linef("  %s %s", p.paint(dim, fmt.Sprintf("%-11s", label)), fmt.Sprintf(format, args...))
}

// number writes 1234567 as 1,234,567.
func number[T ~int | ~int64](n T) string {
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

// plural writes "1 session" and "2 sessions".
func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return number(n) + " " + what + "s"
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
	r := []rune(strings.Join(strings.Fields(s), " "))
	if len(r) <= n {
		return string(r)
	}
	return string(r[:n-1]) + "…"
}

// printJSON writes v as an indented document. Text for a model is not escaped
// for a page.
func printJSON(w io.Writer, v any) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(v)
}
