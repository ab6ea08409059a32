package config

import (
	"bytes"
	"cmp"
	_ "embed"
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// kind is what a setting holds.
type kind string

const (
	boolean  kind = "boolean"
	integer  kind = "integer"
	number   kind = "number"
	text     kind = "text"
	duration kind = "duration" // written as 90s, 5m
	list     kind = "list"     // of Elem
	block    kind = "block"    // of the fields of the list Of
	table    kind = "table"    // of Elem, by names the operator chooses
	free     kind = "free"     // any value
)

var kindWords = map[kind]string{
	boolean: "true or false", integer: "a whole number", number: "a number", text: "a text", duration: "a duration",
	list: "a list", block: "a mapping", table: "a mapping", free: "a value",
}

// String says it for a person.
func (k kind) String() string { return kindWords[k] }

// field is one setting, and all there is to know of it but where its value goes:
// parsing, inheritance, explain, the schema and the sample are made from this. They
// stand in settings.json.
type field struct {
	Name string
	// Doc is a sentence or more: what it does, its unit, what it is for.
	Doc  string
	Kind kind
	// Default is the value where nobody says anything, in terms of JSON. nil: Doc
	// says what happens.
	Default any
	// Example is what the sample shows in place of the default, as YAML.
	Example string

	// Of is the list of a block's fields. An entry of settings.json that has no name
	// stands for all fields of that list.
	Of     string
	fields []*field
	Elem   *field
	// Keys is the pattern of a table's names.
	Keys *regexp.Regexp

	// Min and Max bound numbers, durations in seconds; Over leaves Min itself
	// out, and Max 0 is no bound.
	Min, Max float64
	Over     bool
	Choices  []string
	// Alias is set of a text that is the alias of a model.
	Alias bool
	// Pattern of a text, and Likeness, which says in words what it asks for.
	Pattern  *regexp.Regexp
	Likeness string
	// Check names one of the checks of a value.
	Check string
	// Required, of a field that has to be there, says in words what it is.
	Required string
	// Own fields are not inherited.
	Own bool
	// Off lets "off" stand in the field's place: a block with {off: true}, a
	// number that is then -1, as 0 is; a list that is then set off.
	Off bool
	// Same makes this another spelling of a field beside it, named by its path;
	// Percent divides by 100 on the way.
	Same    string
	Percent bool
	// Untrusted is what a file that nobody trusts may set the field to.
	Untrusted trust
	// Refuse is set where this is no setting, though a key may be put there.
	Refuse bool
}

// checks say what else is wrong with a value.
var checks = map[string]func(*node) string{
	"url": checkURL, "key_env": checkKeyEnv, "headers": checkHeaders, "override": checkOverride,
	"prompt": checkPrompt, "predicate": checkPredicate, "pattern": checkPattern, "redact": checkRedact,
}

//go:embed settings.json
var settingsJSON []byte

// blocks are the fields of all blocks, by the name of the block. They are read when a configuration is, as most
// commands have none.
var blocks = sync.OnceValue(readSettings)

// The blocks that stand under names of their own, and the whole file, which has
// the agent at the root of all others.
var (
	agentBlock = sync.OnceValue(func() *field {
		return &field{Name: "agent", Kind: block, Of: "agent", fields: blocks()["agent"]}
	})
	file = sync.OnceValue(func() *field { return &field{Kind: block, Of: "file", fields: blocks()["file"]} })
)

func readSettings() map[string][]*field {
	lists := make(map[string][]*field)
	dec := json.NewDecoder(bytes.NewReader(settingsJSON))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&lists); err != nil {
		panic("config: settings.json: " + err.Error()) // it is a part of the program
	}
	for name := range lists {
		lists[name] = spelledOut(lists, name)
	}
	for _, fields := range lists {
		for _, f := range fields {
			f.link(lists)
		}
	}
	return lists
}

// spelledOut is a list with the fields of others that it stands for.
func spelledOut(lists map[string][]*field, name string) []*field {
	var out []*field
	for _, f := range lists[name] {
		if f.Name == "" {
			out = append(out, spelledOut(lists, f.Of)...)
		} else {
			out = append(out, f)
		}
	}
	return out
}

// link fills in what follows from the rest.
func (f *field) link(lists map[string][]*field) {
	if f.Elem != nil {
		f.Elem.link(lists)
	}
	if f.Kind == block {
		f.Name, f.fields = cmp.Or(f.Name, f.Of), lists[f.Of]
	}
	if f.Same != "" {
		f.Doc = cmp.Or(f.Doc, "Another spelling of "+f.Same+".")
	}
	if x, ok := f.Default.(float64); ok && f.Kind == integer {
		f.Default = int(x)
	}
}

// child finds a field of a block by its name.
func (f *field) child(name string) *field {
	i := slices.IndexFunc(f.fields, func(c *field) bool { return c.Name == name })
	if i < 0 {
		return nil
	}
	return f.fields[i]
}

// at finds a field by its path.
func (f *field) at(path string) *field {
	for name := range strings.SplitSeq(path, ".") {
		if f = f.child(name); f == nil {
			return nil
		}
	}
	return f
}

// like is how a value of the field is read: another spelling takes its kind
// and checks from what it spells, and keeps its own range and unit.
func (f *field) like(parent *field) *field {
	if f.Same == "" {
		return f
	}
	read := *parent.at(f.Same)
	read.Name, read.Doc, read.Default = f.Name, f.Doc, nil
	read.Min, read.Max, read.Over = f.Min, f.Max, f.Over
	read.Same, read.Percent = f.Same, f.Percent
	return &read
}

// single reports whether a value of the field is a single one.
func (f *field) single() bool {
	return f.Kind != block && f.Kind != table && f.Kind != list
}

// settable are the fields of a block that are no other spelling of another.
func (f *field) settable() []*field {
	return slices.DeleteFunc(slices.Clone(f.fields), func(c *field) bool { return c.Same != "" || c.Refuse })
}

// setting is one that an agent can have, with its path.
type setting struct {
	path string
	*field
}

// agentSettings are all of them, in the order of the documentation.
var agentSettings = sync.OnceValue(func() []setting { return agentBlock().leaves("") })

func (f *field) leaves(path string) (all []setting) {
	for _, c := range f.settable() {
		switch {
		case c.Own:
		case c.Kind == block:
			all = append(all, c.leaves(path+c.Name+".")...)
		default:
			all = append(all, setting{path + c.Name, c})
		}
	}
	return all
}
