package bank

import (
	"fmt"
	"slices"
	"strings"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/sealed"
)

// KV is what a bank keeps itself in; guest.KV is one.
type KV interface {
	Get(key string) (value string, found bool, err error)
	Set(key, value string) error
	// Swap is Set where the key holds expect, "" being no value as well, and an
	// *abi.Error of CodeConflict otherwise.
	Swap(key, expect, value string) error
	Delete(key string) error
	List(prefix string) ([]string, error)
}

// Memory is something that was said.
type Memory struct {
	// ID is where it comes from: the message's id.
	ID string
	// Session is the session it was said in; what belongs together.
	Session string
	// Author is who says it: user, assistant, a tool, a person's name.
	Author string
	// Time is when: RFC 3339, or a date. It may be empty.
	Time string
	// Type is world, experience or observation. It may be empty.
	Type string
	// Tags are what to find it by, see [Query].
	Tags []string
	// Text is what was said, of which [MaxTextBytes] are kept.
	Text string

	sum hash // once it is known, see hash
}

// Bank is a memory. It is not safe for concurrent use, but others may use the
// same KV at the same time; see the package comment.
type Bank struct {
	kv     KV
	prefix string
	stored string // the root as it was read
	root   *root
}

// Open opens the bank whose keys begin with prefix, such as "banks/main/". There
// need not be one. The error is an *abi.Error: CodeState where the root is
// nothing that a bank wrote, or missing where there are values of a bank, or what the KV says.
func Open(kv KV, prefix string) (*Bank, error) {
	b := &Bank{kv: kv, prefix: prefix}
	return b, b.load()
}

// load reads the root.
func (b *Bank) load() error {
	stored, found, err := b.kv.Get(b.prefix + rootName)
	if err != nil {
		return err
	}
	if !found {
		b.stored, b.root = "", new(root)
		return b.unborn()
	}
	root, err := openRoot(stored)
	if err != nil {
		return b.values().corrupt(rootName, err.Error())
	}
	b.stored, b.root = stored, root
	return nil
}

// unborn is an error where there is no root, and yet values of a bank: no new
// one is begun.
func (b *Bank) unborn() error {
	keys, err := b.kv.List(b.prefix)
	if err != nil {
		return err
	}
	left := slices.DeleteFunc(keys, func(key string) bool {
		name := strings.TrimPrefix(key, b.prefix)
		return !isName(name) && name != sealed.Copy(rootName)
	})
	if len(left) > 0 {
		return b.values().corrupt(rootName, fmt.Sprintf("missing, and %d values of the bank are there", len(left)))
	}
	return nil
}

// begin stores the root of an empty bank, so that no values are ever there without
// one. It reports whether nobody else did.
func (b *Bank) begin() (bool, error) {
	first := sealed.Write(0, new(root).write())
	err := b.kv.Swap(b.prefix+rootName, "", first)
	if err == nil {
		b.stored = first
	}
	if abi.CodeOf(err) == abi.CodeConflict {
		return false, nil
	}
	return err == nil, err
}

// stale reports whether an error may come of the bank having changed since its
// root was read, which then is read again.
func (b *Bank) stale(err error) bool {
	before := b.stored
	return abi.CodeOf(err) == abi.CodeState && b.load() == nil && b.stored != before
}

func (b *Bank) values() *values { return &values{kv: b.kv, prefix: b.prefix} }

// Len is how many memories there are.
func (b *Bank) Len() int { return b.root.texts() + len(b.root.tail) }
