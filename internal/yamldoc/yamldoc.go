// Package yamldoc reads YAML into values that know their line and column, for
// readers that have to say where something is wrong: [Parse]. What a value may be is
// for the reader to decide. [Check] says whether a text is YAML at all.
//
// Texts come from strangers, and are read before anybody is asked whether to trust
// them. So the time and memory of [Parse] are in proportion to the length: it
// refuses what is longer than [MaxBytes], has more than [MaxValues], or nests
// deeper than [MaxDepth], before anything is built of it. Anchors, aliases, tags
// and merge keys are never resolved: they are values of a kind of their own.
package yamldoc

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v4"
)

// MaxBytes bounds the length of a text.
const MaxBytes = 256 << 10

// MaxDepth bounds how deep values nest. [Parse] holds lists and mappings in
// brackets to it, and those that are indented; readers hold both together to it.
const MaxDepth = 64

// Pos is a place in a text. Line and Column count from 1; the zero value is none.
type Pos struct{ Line, Column int }

// Error is a text that cannot be read, and where.
type Error struct {
	Pos
	Message string
}

func (e *Error) Error() string { return e.Message }

// Kind is what a value is. Beside the constants there are "anchor", "alias" and
// "tag", and "infinity" and "nan" for numbers that are not finite.
type Kind string

const (
	Null   Kind = "null"
	Bool   Kind = "bool"
	Int    Kind = "integer"
	Float  Kind = "float" // a finite one
	String Kind = "string"
	List   Kind = "sequence"
	Map    Kind = "mapping"
	Merge  Kind = "mergekey" // the key "<<"
)

// Value is one value of a document.
type Value struct {
	// Pos is where it begins: a mapping with its first key.
	Pos
	Kind Kind
	// Any is what a single value says: a bool, an int, a float64 or a string. A
	// whole number that is no int is a uint64, or nil beyond that.
	Any any
	// Text is a string, or a number or bool as it was written.
	Text string
	// Missing is a Null that nobody wrote: nothing stands in its place.
	Missing bool
	// List are the items of a List.
	List []*Value
	// Map are the entries of a Map, in the order of the text.
	Map []Entry
}

// Entry is a key of a mapping with what stands behind it.
type Entry struct{ Key, Value *Value }

// Parse reads the documents of a text, each nil where it holds nothing. Errors are
// [*Error].
func Parse(data []byte) (docs []*Value, err error) {
	return reader{keys: make(map[key]Pos)}.parse(data)
}

// ParseAny is Parse for files of other programs, which may read a key that stands twice.
func ParseAny(data []byte) (docs []*Value, err error) { return reader{}.parse(data) }

func (r reader) parse(data []byte) (docs []*Value, err error) {
	err = load(data, func(doc *yaml.Node) error {
		v, err := r.document(doc)
		docs = append(docs, v)
		return err
	})
	if err != nil {
		return nil, err
	}
	return docs, nil
}

// Check is the error of a text that no reader of YAML could read. Keys that stand twice, aliases and tags are fine.
// Errors are [*Error].
func Check(data []byte) error { return load(data, func(*yaml.Node) error { return nil }) }

// load calls a function for each document of a text.
func load(data []byte, each func(doc *yaml.Node) error) error {
	switch {
	case len(data) > MaxBytes:
		return &Error{Message: fmt.Sprintf("%d bytes, %d allowed", len(data), MaxBytes)}
	case !utf8.Valid(data):
		return &Error{Message: "not UTF-8: save it as UTF-8"}
	}
	if err := scan(data); err != nil {
		return err
	}
	// The parser refuses documents that say they are of the version it reads them in.
	if rest, ok := bytes.CutPrefix(data, []byte("%YAML 1.2")); ok {
		data = append([]byte("%YAML 1.1"), rest...)
	}
	loader, err := yaml.NewLoader(bytes.NewReader(data), yaml.WithPlugin(limits{}))
	if err != nil {
		return &Error{Message: err.Error()}
	}
	for {
		var doc yaml.Node
		switch err := loader.Load(&doc); {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return asError(err, data)
		}
		if err := each(&doc); err != nil {
			return err
		}
	}
}

// asError says in one sentence where the parser stopped, and what in.
func asError(err error, data []byte) *Error {
	e, ok := errors.AsType[*yaml.LoadError](err)
	if !ok {
		return &Error{Message: err.Error()}
	}
	out := &Error{Pos: Pos{e.Mark.Line, e.Mark.Column}, Message: e.Message}
	switch {
	case tabbed(data, e.Mark.Line):
		out.Message += ": a tab, and YAML takes blanks alone before the text of a line"
	case e.ContextMsg == "" || e.Message == errDeep.Error():
	case strings.Contains(e.Message, "end of stream"):
		out.Pos = Pos{e.ContextMark.Line, e.ContextMark.Column}
		out.Message = "could not find end of this, " + e.ContextMsg
	default:
		out.Message += fmt.Sprintf(", %s that begins in line %d", e.ContextMsg, e.ContextMark.Line)
	}
	return out
}

// tabbed reports whether a line, counted from 1, begins with white space that has a tab in it.
func tabbed(data []byte, line int) bool {
	for ; line > 1; line-- {
		_, data, _ = bytes.Cut(data, []byte("\n"))
	}
	blanks := len(data) - len(bytes.TrimLeft(data, " \t"))
	return bytes.Contains(data[:blanks], []byte("\t"))
}

var errDeep = fmt.Errorf("nested deeper than %d", MaxDepth)

// limits is what the parser asks while it reads.
type limits struct{}

// CheckDepth implements [yaml.LoaderLimitsPlugin].
func (limits) CheckDepth(depth int, _ *yaml.DepthContext) error {
	if depth > MaxDepth {
		return errDeep
	}
	return nil
}

// CheckAlias implements [yaml.LoaderLimitsPlugin]. No alias is resolved.
func (limits) CheckAlias(int, int) error { return nil }

// NewAliasDataContext implements [yaml.AliasDataPlugin].
func (limits) NewAliasDataContext(yaml.AliasDataServices) (yaml.AliasDataContext, error) {
	return limits{}, nil
}

// The aliases of a text: any of them is fine, and stands for nothing.

func (limits) BeginDocument() error                          { return nil }
func (limits) EndDocument() error                            { return nil }
func (limits) DefineAnchor(string, *yaml.Node) error         { return nil }
func (limits) ResolveAlias(string) (*yaml.Node, bool, error) { return nothing, true, nil }

var nothing = &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!null"}
