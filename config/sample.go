package config

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"fmt"
	"strings"
)

// schemaFile is where init puts the schema, below the folder of the
// configuration.
const schemaFile = inFolder + "/schema.json"

//go:embed sample_head.yaml
var sampleHead string

//go:embed sample_agents.yaml
var sampleAgents string

// sample is a configuration with every setting in it, each commented out with
// what it does and its default, or an example where there is no single one.
func sample() []byte {
	var w sampler
	w.WriteString("# yaml-language-server: $schema=" + schemaFile + "\n" + sampleHead)
	for _, f := range file().settable() {
		if f.Name == "agents" {
			break // the last, and by example: settings are those of the top
		}
		w.WriteByte('\n')
		w.top(f)
	}
	w.WriteByte('\n')
	w.prose(0, file().child("agents").Doc)
	w.WriteString("agents:\n" + sampleAgents)
	return w.Bytes()
}

// sampleNames are what tables of the sample hold.
var sampleNames = map[string][]string{"models": {"main", "fast"}, "plugins": {"hindsight", "markdown"}}

type sampler struct{ bytes.Buffer }

// top writes a field of the file. What holds others stands there for real, and
// says nothing as long as all in it is commented out.
func (w *sampler) top(f *field) {
	if f.Kind != table && f.Kind != block {
		w.fields(0, f)
		return
	}
	w.prose(0, f.Doc)
	fmt.Fprintf(w, "%s:\n", f.Name)
	if f.Kind == block {
		w.fields(1, f.settable()...)
	}
	for i, name := range sampleNames[f.Name] {
		w.code(1, name+":")
		if i == 0 {
			w.fields(2, f.Elem.settable()...)
			continue
		}
		for _, c := range f.Elem.settable() {
			if c.Required != "" {
				w.code(2, c.Name+": "+c.shown())
			}
		}
	}
}

func (w *sampler) fields(depth int, fields ...*field) {
	for _, f := range fields {
		w.prose(depth, f.Doc)
		if f.Kind == block {
			w.code(depth, f.Name+":")
			w.fields(depth+1, f.settable()...)
		} else {
			w.code(depth, f.Name+": "+f.shown())
		}
	}
}

// shown is the value that stands for a field in the sample.
func (f *field) shown() string {
	if f.Example != "" {
		return f.Example
	}
	if s, ok := f.Default.(string); ok {
		return s
	}
	b, _ := json.Marshal(f.Default)
	return strings.ReplaceAll(string(b), ",", ", ")
}

// code is a line of YAML, commented out: no space behind the sign.
func (w *sampler) code(depth int, line string) {
	fmt.Fprintf(w, "%s#%s\n", strings.Repeat("  ", depth), line)
}

// prose is a comment, broken into lines.
func (w *sampler) prose(depth int, text string) {
	indent := strings.Repeat("  ", depth) + "#"
	line := indent
	for word := range strings.FieldsSeq(text) {
		if len(line)+len(word) > 98 {
			fmt.Fprintln(w, line)
			line = indent
		}
		line += " " + word
	}
	if line != indent {
		fmt.Fprintln(w, line)
	}
}
