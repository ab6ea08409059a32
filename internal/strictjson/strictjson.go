// Package strictjson refuses JSON documents that decoders read in more than one
// way, before a decoder sees them. [Check] is for documents of the ABI, whose
// keys are known; [CheckForeign] for logs and requests of other programs.
// [Decode] checks and decodes in one step.
package strictjson

import (
	"bytes"
	"encoding/json"
	"errors"
	"reflect"
	"slices"
	"strings"
	"unicode/utf8"
)

const (
	// MaxDepth is how deep a document may nest.
	MaxDepth = 64
	// MaxNumber is how many characters a number may be written with.
	MaxNumber = 64
)

// Check refuses documents that decoders read in more than one way, before
// a decoder sees them: invalid UTF-8, duplicate keys, keys that differ only in
// case, nesting over [MaxDepth], numbers over [MaxNumber] characters,
// and anything but white space after the document. (Measured: encoding/json
// and goccy/go-json both take {"id":"a","ID":"EVIL"} as EVIL.)
//
// known are keys that may appear in no other spelling: {"ID":"x"} is refused
// where "id" is known. Keys below a field the ABI does not define (meta, raw,
// config, arguments, content, default, headers) are free: there only the same key twice
// is refused.
//
// It runs in linear time, several times faster than json.Valid, and allocates
// one small block for the documents it is made for; objects of many keys, and
// keys with escapes or upper-case letters, cost more. Errors are of type
// [*Error].
func Check(doc []byte, known map[string]bool) error { return check(doc, known, false, Limits{}) }

// CheckWithin is [Check] within limits, the errors of which are returned as they are.
func CheckWithin(doc []byte, known map[string]bool, l Limits) error {
	return check(doc, known, false, l)
}

// Limits bound what it costs to read a document that somebody else wrote.
type Limits struct {
	// Take reserves memory for what is about to be built, in bytes, and Look is
	// asked every few thousand values whether to go on. An error of either ends the
	// reading. Nil: as much as it takes.
	Take func(n int64) error
	Look func() error
}

// check scans doc; where free, its keys are nobody's.
func check(doc []byte, known map[string]bool, free bool, l Limits) error {
	if !utf8.Valid(doc) {
		return &Error{Offset: invalidUTF8(doc), Err: errors.New("invalid utf-8")}
	}
	s := jsonScanner{doc: doc, known: known, limits: l}
	s.keys = s.keyspace[:0]
	s.space()
	if err := s.value(0, free); err != nil {
		if s.why != nil {
			return s.why
		}
		return &Error{Offset: s.pos, Err: err}
	}
	if s.space(); s.pos < len(doc) {
		return &Error{Offset: s.pos, Err: errors.New("trailing data after the document")}
	}
	return nil
}

// opaque reports whether key is a field whose value the ABI does not define.
func opaque(key []byte) bool {
	switch string(key) {
	case "meta", "raw", "config", "arguments", "content", "default", "headers":
		return true
	}
	return false
}

// Decode checks doc with [Check] against the fields of v and decodes
// it; fields v does not have are errors.
func Decode(doc []byte, v any) error {
	if err := Check(doc, Keys(v)); err != nil {
		return err
	}
	dec := json.NewDecoder(bytes.NewReader(doc))
	dec.DisallowUnknownFields()
	return dec.Decode(v)
}

// Keys returns the JSON keys that tags name in v's type and in all types
// inside it, for [Check]. It reflects: compute it once for each type.
func Keys(v any) map[string]bool {
	keys := make(map[string]bool)
	collectKeys(reflect.TypeOf(v), keys, make(map[reflect.Type]bool))
	return keys
}

func collectKeys(t reflect.Type, keys map[string]bool, seen map[reflect.Type]bool) {
	holders := []reflect.Kind{reflect.Pointer, reflect.Slice, reflect.Map, reflect.Array}
	for t != nil && slices.Contains(holders, t.Kind()) {
		t = t.Elem()
	}
	if t == nil || t.Kind() != reflect.Struct || seen[t] {
		return
	}
	seen[t] = true
	for f := range t.Fields() {
		tag := f.Tag.Get("json")
		if tag == "-" {
			continue
		}
		if name, _, _ := strings.Cut(tag, ","); name != "" {
			keys[name] = true
		}
		collectKeys(f.Type, keys, seen)
	}
}
