package bank

import (
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/sum"
)

// Values but the root are named by what they hold: a letter for the kind and
// 16 hex digits. So no value is ever replaced by another one, whoever writes
// at the same time.
const (
	tableKind = 't' // who says what where: of a segment
	listKind  = 'l' // posting lists, sorted by term
	wordsKind = 'w' // texts
	knownKind = 'k' // hashes of contents
	nameBytes = 1 + 16
)

const rootName = "root"

// values are the values of a bank: those that are stored, and in front of them
// those that will be.
type values struct {
	kv      KV
	prefix  string
	pending map[string]string
	written map[string]bool // that were pending and are stored
}

// put is the name under which a value will be stored.
func (v *values) put(kind byte, value string) (name string) {
	name = nameOf(kind, value)
	if v.pending == nil {
		v.pending = make(map[string]string)
	}
	v.pending[name] = value
	return name
}

// nameOf is the name of a value of a kind.
func nameOf(kind byte, value string) string {
	whole := sum.Of(value)
	return string(kind) + hex.EncodeToString(whole[:(nameBytes-1)/2])
}

// flush stores what is pending.
func (v *values) flush() error {
	if v.written == nil {
		v.written = make(map[string]bool)
	}
	for _, name := range slices.Sorted(maps.Keys(v.pending)) {
		if err := v.kv.Set(v.prefix+name, v.pending[name]); err != nil {
			return err
		}
		v.written[name] = true
	}
	clear(v.pending)
	return nil
}

// get is the value of that name.
func (v *values) get(name string) (string, error) {
	if value, ok := v.pending[name]; ok {
		return value, nil
	}
	value, found, err := v.kv.Get(v.prefix + name)
	if err == nil && !found {
		err = v.corrupt(name, "missing")
	}
	return value, err
}

// sound is get, and makes sure that the value is what was written.
func (v *values) sound(name string) (string, error) {
	value, err := v.get(name)
	if err == nil && nameOf(name[0], value) != name {
		return "", v.corrupt(name, "it is not what was written")
	}
	return value, err
}

// isName reports whether a value of a bank can have that name.
func isName(s string) bool {
	return len(s) == nameBytes && strings.IndexByte("tlwk", s[0]) >= 0 && strings.Trim(s[1:], "0123456789abcdef") == ""
}

// corrupt says that a value is not what was written.
func (v *values) corrupt(name, what string) *abi.Error {
	return &abi.Error{
		Code: abi.CodeState, Op: "bank", Message: fmt.Sprintf("%s%s: %s", v.prefix, name, what),
		Hint: "see kagewasm memory check; run kagewasm memory repair, restore it from a backup, or delete all keys under " +
			v.prefix + " for an empty memory",
	}
}

// parse reads all of a value with f.
func (v *values) parse(name string, f func(r *reader)) error {
	r, err := v.read(name)
	if err != nil {
		return err
	}
	f(r)
	if err := r.end(); err != nil {
		return v.corrupt(name, err.Error())
	}
	return nil
}

// read opens a value; its kind is the first thing in it.
func (v *values) read(name string) (*reader, error) {
	value, err := v.get(name)
	if err != nil {
		return nil, err
	}
	return newReader(name, value), nil
}

func newReader(name, value string) *reader {
	r := &reader{in: value}
	r.magic(magic(name[0]))
	return r
}

// magic is what a value of a kind begins with: its form can be told by it.
func magic(kind byte) string { return string(kind) + "1 " }

// name reads a name of a kind.
func (r *reader) name(kind byte) string {
	s := r.bytes(nameBytes)
	if r.err == nil && (!isName(s) || s[0] != kind) {
		r.fail("no name of a value")
	}
	return s
}
