package ui

import (
	"fmt"
	"io"
	"strings"
)

// Printer writes for a person.
type Printer struct {
	W     io.Writer
	Color bool
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
	for i := range args {
		args[i] = shown(args[i])
	}
	fmt.Fprintf(p.W, format+"\n", args...)
}

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
