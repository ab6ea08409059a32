package archtest_test

import (
	"go/scanner"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/kagewasm/kagewasm/internal/shared"
)

// TestWidth: no line has to be scrolled sideways, in any file of any module.
func TestWidth(t *testing.T) {
	for _, name := range goFiles(t) {
		src, err := os.ReadFile(filepath.Join(shared.Root(t), name))
		if err != nil {
			t.Fatal(err)
		}
		for i, line := range strings.Split(breakable(src), "\n") {
			if n := utf8.RuneCountInString(line); n > maxColumns {
				t.Errorf("%s:%d: %d columns, %d allowed", filepath.ToSlash(name), i+1, n, maxColumns)
			}
		}
	}
}

// breakable is a source without what nobody can break into lines: what stands between
// backquotes, commands of go:generate, the output of examples.
func breakable(src []byte) string {
	rest := slices.Clone(src)
	var s scanner.Scanner
	file := token.NewFileSet().AddFile("", -1, len(src))
	s.Init(file, src, nil, scanner.ScanComments)
	printed := 0 // the line of an output that was met last
	for {
		pos, tok, text := s.Scan()
		if tok == token.EOF {
			return strings.ReplaceAll(string(rest), "\x00", "")
		}
		line := file.Line(pos)
		switch {
		case tok == token.STRING && text[0] == '`':
		case tok != token.COMMENT:
			continue
		case strings.HasPrefix(text, "//go:generate "):
		case strings.HasPrefix(text, "// Output:"), strings.HasPrefix(text, "// Unordered output:"),
			printed > 0 && line == printed+1:
			printed = line
		default:
			continue
		}
		from := file.Offset(pos)
		for i := range text {
			if src[from+i] != '\n' {
				rest[from+i] = 0
			}
		}
	}
}

// TestBreakable: the look itself, at lines that are written here.
func TestBreakable(t *testing.T) {
	for _, c := range []struct{ why, src, want string }{
		{"code and a comment", "var a = 1 // one", "var a = 1 // one"},
		{"a string", `var a = "// Output:"`, `var a = "// Output:"`},
		{"a string in backquotes", "var a = f(`one\n// two`, \"b\") // c", "var a = f(\n, \"b\") // c"},
		{"a command", "//go:generate go run x\n//go:embed x", "\n//go:embed x"},
		{"the output of an example", "\tf()\n\t// Output:\n\t// one\n\n\t// two", "\tf()\n\t\n\t\n\n\t// two"},
	} {
		t.Run(c.why, func(t *testing.T) {
			if got := breakable([]byte(c.src)); got != c.want {
				t.Errorf("%q, want %q", got, c.want)
			}
		})
	}
}
