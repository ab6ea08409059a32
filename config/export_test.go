package config

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
)

const (
	DefaultPrompt = defaultPrompt
	SchemaFile    = schemaFile
	SchemaID      = schemaID
)

// Sample is what Init writes.
func Sample() []byte { return sample() }

// Check reports what is wrong with a configuration as far as its text alone shows
// it: no prompt is read.
func Check(name string, data []byte) error {
	n, r := read(name, data)
	if len(r.problems) == 0 {
		b := newBuilder(r, name)
		b.build(n)
		b.write(func(string) (string, error) { return "", nil })
	}
	return r.problems.asError()
}

// Names are the names of a list of settings.json, Choices and Default what it says
// of one of them.
func Names(list string) (names []string) {
	for _, f := range blocks()[list] {
		names = append(names, f.Name)
	}
	return names
}

func Choices(list, name string) []string { return blockOf(list).child(name).Choices }

func Default(list, name string) any { return blockOf(list).child(name).Default }

// Reference is the documentation of every setting, as Markdown.
func Reference() []byte {
	var b bytes.Buffer
	b.WriteString("# " + FileName + "\n\n" +
		"Written by package config from the settings themselves. At the top of the file stand the settings of\n" +
		"an agent, which hold for all, and `models`, `overrides`, `plugins` and `agents`. The first three take trust,\n" +
		"and so does what is marked so: see security.md.\n")
	for _, s := range []struct {
		title string
		of    *field
	}{
		{"An agent: the top of the file, `agents.NAME`, `subagents.NAME`", agentBlock()},
		{"models.NAME", blockOf("model")},
		{"overrides", blockOf("overrides")},
		{"plugins.NAME", blockOf("plugin")},
		{"compaction.always_keep", agentBlock().at("compaction.always_keep").Elem},
	} {
		fmt.Fprintf(&b, "\n## %s\n\n| setting | value | default | |\n|---|---|---|---|\n", s.title)
		reference(&b, "", s.of)
	}
	return b.Bytes()
}

func blockOf(name string) *field { return &field{Kind: block, fields: blocks()[name]} }

func reference(b *bytes.Buffer, path string, of *field) {
	for _, f := range of.fields {
		if f.Refuse {
			continue
		}
		read := f.like(of)
		doc := strings.TrimSpace(strings.ReplaceAll(f.Doc, "|", "\\|") + takesTrust[read.Untrusted])
		name := path + f.Name
		if strings.Contains(f.Name, ".") { // which is one word, not a path
			name = path + strconv.Quote(f.Name)
		}
		fmt.Fprintf(b, "| `%s` | %s | %s | %s |\n", name, read.allowed(), read.standard(), doc)
		if f.Kind == block && f.Same == "" {
			reference(b, path+f.Name+".", f)
		}
	}
}

// takesTrust says in words what only a trusted file may say.
var takesTrust = map[trust]string{
	trustNo: " **Takes trust.**", trustLess: " **More than the default takes trust.**",
	trustAdd: " **`off` takes trust.**",
}

// allowed says in words what a value may be.
func (f *field) allowed() string {
	var s string
	switch {
	case len(f.Choices) > 0:
		s = "`" + strings.Join(f.Choices, "`, `") + "`"
	case f.Kind == integer && f.Max == 0:
		s = fmt.Sprintf("whole number from %s", decimal(f.Min))
	case f.Kind == integer:
		s = fmt.Sprintf("whole number, %s to %s", decimal(f.Min), decimal(f.Max))
	case f.Kind == number && f.Over:
		s = fmt.Sprintf("number over %s, to %s", decimal(f.Min), decimal(f.Max))
	case f.Kind == number && f.Max == 0:
		s = fmt.Sprintf("number from %s", decimal(f.Min))
	case f.Kind == number:
		s = fmt.Sprintf("number, %s to %s", decimal(f.Min), decimal(f.Max))
	default:
		s = strings.TrimPrefix(f.Kind.String(), "a ")
	}
	if f.Off {
		s += ", or `off`"
	}
	return s
}

func (f *field) standard() string {
	if f.Default == nil {
		return ""
	}
	v, _ := json.Marshal(f.Default)
	return "`" + strings.Trim(string(v), `"`) + "`"
}

// Untrusted is what settings.json says that a file nobody trusts may set, by path.
func Untrusted() map[string]string {
	all := make(map[string]string)
	var add func(path string, of *field)
	add = func(path string, of *field) {
		for _, f := range of.settable() {
			switch {
			case f.Untrusted == "" && f.Kind == table && f.Elem.Of == "agent": // its settings are those of the top
			case f.Untrusted == "" && f.Kind == block:
				add(path+f.Name+".", f)
			default:
				all[path+f.Name] = string(f.Untrusted)
			}
		}
	}
	add("", file())
	add("agents.", agentBlock())
	return all
}
