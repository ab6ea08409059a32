package ui

import (
	"bytes"
	"strings"
	"testing"
)

// TestWrap: lines are broken between words, and go on below the column that they began
// in. Colours take no room, and what has no space in it stays whole.
func TestWrap(t *testing.T) {
	for name, tc := range map[string]struct {
		width      int
		line, want string
	}{
		"no terminal":     {0, "one two three four five", "one two three four five"},
		"what fits":       {23, "one two three four five", "one two three four five"},
		"a sentence":      {12, "one two three four five", "one two\n  three four\n  five"},
		"an indented one": {14, "  one two three four", "  one two\n    three four"},
		"columns":         {24, "  label    one two three four", "  label    one two three\n           four"},
		"a path":          {12, "see /a/long/path/to/a/file now", "see /a/long/path/to/a/file\n  now"},
		"colours": {11, "\x1b[1mone\x1b[0m two \x1b[2mthree\x1b[0m",
			"\x1b[1mone\x1b[0m two\n  \x1b[2mthree\x1b[0m"},
		"letters of two width": {9, "日本 日本 x", "日本 日本\n  x"},
	} {
		t.Run(name, func(t *testing.T) {
			var b bytes.Buffer
			Printer{W: &b, Width: tc.width}.Linef("%s", safe(tc.line))
			if got := strings.TrimSuffix(b.String(), "\n"); got != tc.want {
				t.Errorf("got\n%s\nwant\n%s", got, tc.want)
			}
		})
	}
}

// TestQuotesKeepTheirBar: what somebody else said has the bar on every line, so that no
// part of it looks like a line of ours.
func TestQuotesKeepTheirBar(t *testing.T) {
	var b bytes.Buffer
	Printer{W: &b, Width: 20}.quote("one two three kagewasm: nothing failed")
	for line := range strings.Lines(b.String()) {
		if !strings.HasPrefix(line, "  | ") {
			t.Errorf("a line without: %q", line)
		}
	}
}

// TestProgressFitsTheTerminal: a line of progress that were wider than the terminal would
// stay there in part.
func TestProgressFitsTheTerminal(t *testing.T) {
	var b bytes.Buffer
	p := NewProgress(&b, 20)
	p.Step("reading %s", "/a/very/long/path/to/a/session.jsonl")
	p.show()
	if line := strings.TrimPrefix(b.String(), "\r\x1b[K"); columns(line) > 20 || !strings.HasPrefix(line, "reading /a") {
		t.Errorf("%q", b.String())
	}
	p.Done()
}

// TestWrapLongNames: a word that does not fit below the columns before it stands on a line of its
// own; only one that is wider than the terminal is wider than that, behind a short word at most.
func TestWrapLongNames(t *testing.T) {
	const line = "  s-0123456789ab      120  28,350            1  2026-11-23 15:23  an-agents-own-long-name.jsonl"
	for width := 17; width < 100; width++ {
		got := wrap(line, hanging(line, width), width)
		if strings.Join(strings.Fields(got), " ") != strings.Join(strings.Fields(line), " ") {
			t.Fatalf("%d columns: %s", width, got)
		}
		for part := range strings.SplitSeq(got, "\n") {
			words := strings.Fields(part)
			if columns(part) > width && (len(words) > 2 || columns(words[len(words)-1]) <= width) {
				t.Errorf("%d columns: %q", width, part)
			}
		}
	}
}
