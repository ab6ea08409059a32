package ui

import (
	"fmt"
	"io"
	"regexp"
	"strings"
)

// Printer writes for a person.
type Printer struct {
	W     io.Writer
	Color bool
	// Width is how many columns there are; lines are broken there. 0: no lines are.
	Width int
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

// paint is a value in a colour, made safe.
func (p Printer) paint(s style, value any) safe {
	text := safef("%v", value)
	if !p.Color || text == "" {
		return text
	}
	return "\x1b[" + safe(s) + "m" + text + "\x1b[0m"
}

// Linef writes one line. Values are made safe, whatever is in them.
func (p Printer) Linef(format string, args ...any) {
	line := string(safef(format, args...))
	fmt.Fprintln(p.W, wrap(line, hanging(line, p.Width), p.Width))
}

// behind writes one line behind a bar, also what of it stands below.
func (p Printer) behind(bar safe, line string) {
	head := string(bar) + " "
	fmt.Fprintln(p.W, wrap(head+string(plain(line)), head, p.Width))
}

// Paragraphs writes text whose lines are those of a page: where there are fewer columns,
// paragraphs are filled again.
func (p Printer) Paragraphs(text string) {
	if p.Width > 0 && p.Width < pageWidth {
		text = filled.ReplaceAllString(text, "$1 $2")
	}
	for line := range strings.SplitSeq(text, "\n") {
		fmt.Fprintln(p.W, wrap(string(plain(line)), "", p.Width))
	}
}

// pageWidth is how wide a page of help is written, in columns.
const pageWidth = 85

// filled is a line break inside a paragraph.
var filled = regexp.MustCompile(`(\S)\n(\S)`)

// Askf writes a question, and stays on its line.
func (p Printer) Askf(format string, args ...any) { fmt.Fprint(p.W, safef(format, args...)+" ") }

// lines writes a text of several lines: the first behind head, the others below it
// behind a bar, so that none looks like a line of ours.
func (p Printer) lines(head safe, text string) {
	for line := range strings.SplitSeq(text, "\n") {
		p.Linef("%s %s", head, line)
		head = "    |"
	}
}

// field writes a label and a value in columns.
func (p Printer) field(label, format string, args ...any) {
	p.Linef("  %s %s", p.paint(dim, fmt.Sprintf("%-11s", label)), safef(format, args...))
}

// labelled prints fields under one label, which stands beside the first of them.
func (p Printer) labelled(label string) func(format string, args ...any) {
	return func(format string, args ...any) {
		p.field(label, format, args...)
		label = ""
	}
}
