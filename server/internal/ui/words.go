package ui

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"math"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	template "github.com/DataDog/datadog-agent/pkg/template/html"

	"github.com/kagewasm/kagewasm/store"
)

// funcs are what templates write figures and foreign text with.
func (p *pages) funcs() template.FuncMap {
	funcs := template.FuncMap{
		"text": text, "nameof": named, "num": numOf, "bytes": size, "pct": pct, "ms": millis, "usd": usd, "ago": p.ago,
		"to":    to,
		"asset": asset, "plural": plural, "short": short, "add": func(a, b int) int { return a + b },
		"list": func(v ...any) []any { return v }, "fixed": fixed,
	}
	maps.Copy(funcs, methods)
	return funcs
}

// methods are those that templates ask values for, as functions. To call them by name is what
// the standard library's templates do, and for it a linker keeps every method of the program.
var methods = template.FuncMap{
	"level": (*gauge).Level, "share": (*gauge).Share, "at": (*gauge).At, "room": (*gauge).Room,
	"freed": (*figures).Freed, "left": (*figures).Left, "judged": (*figures).Judged,
	"happened": (*event).Words, "compacted": (*messageRow).ByCompaction, "count": (*run).Count,
	"asks": (*manualForm).Words, "fields": (*manualForm).Fields, "address": (*manualForm).Path,
	"label": (*knob).Label, "step": (*knob).Step, "longest": (*knob).MaxLength, "options": (*knob).Options,
}

// text is foreign text as it may stand on a page: what a browser would not show, or would
// show elsewhere, is written as a mark. The templates escape the rest.
func text(v any) string {
	s := fmt.Sprint(v)
	if !strings.ContainsFunc(s, hidden) && utf8.ValidString(s) {
		return s
	}
	var b strings.Builder
	for _, r := range strings.ToValidUTF8(s, "\uFFFD") {
		switch {
		case !hidden(r):
			b.WriteRune(r)
		case r < 0x20:
			b.WriteRune(0x2400 + r) // ␀ and so on
		case r == 0x7f:
			b.WriteRune('␡')
		default:
			fmt.Fprintf(&b, "⟨U+%04X⟩", r)
		}
	}
	return b.String()
}

// hidden reports whether a character is none that is seen where it stands: controls, those
// that turn the direction of text around, and those without a width.
func hidden(r rune) bool {
	switch {
	case r == '\n', r == '\t', r == 0x200d: // joins emoji
		return false
	case r == '\r', unicode.IsControl(r), unicode.Is(unicode.Cf, r), r == 0x2028, r == 0x2029:
		return true
	case r >= 0xfe00 && r <= 0xfe0d, r >= 0xe0100 && r <= 0xe01ef, r == 0x115f, r == 0x1160, r == 0x3164, r == 0xffa0:
		return true
	}
	return false
}

// num is a number with its thousands apart.
func num[T int | int64 | float64](v T) string {
	s := strconv.FormatInt(int64(v), 10)
	neg := strings.HasPrefix(s, "-")
	s = strings.TrimPrefix(s, "-")
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	if neg {
		return "−" + s
	}
	return s
}

func numOf(v any) string {
	switch n := v.(type) {
	case int:
		return num(n)
	case int64:
		return num(n)
	case float64:
		return num(n)
	}
	return fmt.Sprint(v)
}

func size(v any) string {
	var n float64
	switch b := v.(type) {
	case int:
		n = float64(b)
	case int64:
		n = float64(b)
	case float64:
		n = b
	}
	switch {
	case n < 1000:
		return fmt.Sprintf("%.0f B", n)
	case n < 1e6:
		return fmt.Sprintf("%.1f KB", n/1e3)
	}
	return fmt.Sprintf("%.1f MB", n/1e6)
}

// pct is a share as a percentage.
func pct(share float64) string {
	if math.IsNaN(share) || math.IsInf(share, 0) {
		return "–"
	}
	return fmt.Sprintf("%.0f%%", 100*share)
}

func millis(ms float64) string {
	switch {
	case ms < 10:
		return fmt.Sprintf("%.1f ms", ms)
	case ms < 1000:
		return fmt.Sprintf("%.0f ms", ms)
	}
	return fmt.Sprintf("%.1f s", ms/1000)
}

func usd(v float64) string {
	if v != 0 && math.Abs(v) < 0.01 {
		return fmt.Sprintf("$%.4f", v)
	}
	return fmt.Sprintf("$%.2f", v)
}

func fixed(v float64) string { return strconv.FormatFloat(v, 'f', 2, 64) }

// ago is a time as a person says it.
func (p *pages) ago(stamp string) string {
	t, err := time.Parse(time.RFC3339Nano, stamp)
	if err != nil {
		return stamp
	}
	switch d := p.now().Sub(t); {
	case d < time.Minute:
		return "just now"
	case d < time.Hour:
		return fmt.Sprintf("%d min ago", int(d.Minutes()))
	case d < 24*time.Hour:
		return fmt.Sprintf("%d h ago", int(d.Hours()))
	case d < 7*24*time.Hour:
		return fmt.Sprintf("%d d ago", int(d.Hours()/24))
	}
	return t.UTC().Format("2 Jan 2006")
}

func plural(n int, one, more string) string {
	if n == 1 {
		return "1 " + one
	}
	return num(n) + " " + more
}

// short is the beginning of a digest or an id.
func short(s string) string {
	if len(s) > 12 {
		return s[:12]
	}
	return s
}

// asset is the address of a file that a page needs, with its version.
func asset(name string) (string, error) {
	data, err := staticFiles.ReadFile("static/" + name)
	sum := sha256.Sum256(data)
	return "/static/" + name + "?v=" + hex.EncodeToString(sum[:6]), err
}

// named is the name of a session in whatever form a page has it.
func named(v any) (string, error) {
	switch s := v.(type) {
	case *store.Session:
		return nameOf(s), nil
	case sessionRow:
		return nameOf(&s.Session), nil
	}
	return "", fmt.Errorf("%T is no session", v)
}
