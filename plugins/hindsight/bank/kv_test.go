package bank_test

import (
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/kagewasm/kagewasm/abi"
)

// memKV is a KV in memory that counts, and fails where it is told to.
type memKV struct {
	m           map[string]string
	gets, sets  int
	read, wrote int // bytes
	failAt      int // the set, from 1, that fails; all after it too
}

var errFull = errors.New("no space")

func newKV() *memKV { return &memKV{m: make(map[string]string)} }

func (kv *memKV) Get(key string) (string, bool, error) {
	v, ok := kv.m[key]
	kv.gets++
	kv.read += len(v)
	return v, ok, nil
}

func (kv *memKV) Set(key, value string) error {
	kv.sets++
	kv.wrote += len(value)
	if kv.failAt > 0 && kv.sets >= kv.failAt {
		return errFull
	}
	if len(value) > 1<<20 || !utf8.ValidString(value) {
		return errors.New("no value for a KV")
	}
	kv.m[key] = value
	return nil
}

func (kv *memKV) Swap(key, expect, value string) error {
	if kv.m[key] != expect {
		return abi.KeyConflict(key)
	}
	return kv.Set(key, value)
}

func (kv *memKV) Delete(key string) error {
	delete(kv.m, key)
	return nil
}

func (kv *memKV) List(prefix string) ([]string, error) {
	keys := slices.Sorted(maps.Keys(kv.m))
	return slices.DeleteFunc(keys, func(k string) bool { return !strings.HasPrefix(k, prefix) }), nil
}

func (kv *memKV) size() (n int) {
	for _, v := range kv.m {
		n += len(v)
	}
	return n
}

func (kv *memKV) clone() *memKV { return &memKV{m: maps.Clone(kv.m)} }

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
