package ui

import (
	"bytes"
	"fmt"
	"io"
	"unicode/utf16"

	json "github.com/goccy/go-json"
)

// JSON writes v as an indented document. Text for a model is not escaped for a page;
// what a terminal does not show, or obeys, is escaped, which changes no value.
func JSON(w io.Writer, v any) error { return encode(w, v, "  ") }

// JSONLine is [JSON] on one line.
func JSONLine(w io.Writer, v any) error { return encode(w, v, "") }

func encode(w io.Writer, v any, indent string) error {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", indent)
	if err := enc.Encode(v); err != nil {
		return err
	}
	_, err := w.Write(escapeJSON(b.Bytes()))
	return err
}

// escapeJSON escapes the hidden characters of a document. All of them stand in its
// strings, but for the line breaks between its values.
func escapeJSON(doc []byte) []byte {
	hides := func(r rune) bool { return r != '\n' && r != '\t' && r != '\r' && hidden(r) }
	if bytes.IndexFunc(doc, hides) < 0 {
		return doc
	}
	out := make([]byte, 0, len(doc)+64)
	for _, r := range string(doc) {
		switch {
		case !hides(r):
			out = append(out, string(r)...)
		case r > 0xffff:
			high, low := utf16.EncodeRune(r)
			out = fmt.Appendf(out, `\u%04x\u%04x`, high, low)
		default:
			out = fmt.Appendf(out, `\u%04x`, r)
		}
	}
	return out
}

// Answer writes what a plugin answered: a document as [JSON] writes its texts, and
// anything else line by line.
func Answer(p Printer, out []byte) error {
	out = bytes.TrimRight(out, "\n")
	if json.Valid(out) {
		_, err := p.W.Write(append(escapeJSON(out), '\n'))
		return err
	}
	for line := range bytes.SplitSeq(out, []byte("\n")) {
		p.Linef("%s", string(line))
	}
	return nil
}
