package ui

import (
	"fmt"
	"io"

	json "github.com/goccy/go-json"
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

func (p Printer) paint(s style, text string) string {
	if !p.Color || text == "" {
		return text
	}
	return "\x1b[" + string(s) + "m" + text + "\x1b[0m"
}

// Linef writes a line.
func (p Printer) Linef(format string, args ...any) { fmt.Fprintf(p.W, format+"\n", args...) }

// field writes a label and a value in columns.
func (p Printer) field(label, format string, args ...any) {
	p.Linef("  %s %s", p.paint(dim, fmt.Sprintf("%-11s", label)), fmt.Sprintf(format, args...))
}

// labelled prints fields under one label, which stands beside the first of them.
func (p Printer) labelled(label string) func(format string, args ...any) {
	return func(format string, args ...any) {
		p.field(label, format, args...)
		label = ""
	}
}

// JSON writes v as an indented document. Text for a model is not escaped
// for a page.
func JSON(w io.Writer, v any) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(v)
}
