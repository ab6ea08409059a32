package host

import (
	"context"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/retained"
)

// kv answers the kv ops. What a dry run stores is kept here: the call sees it,
// nobody else does.
type kv struct {
	ns     string             // once it is known
	stored map[string]*string // nil of a key that was deleted
	warned bool               // that the plugin's name is another module's
	failed failed
}

// report implements reporter.
func (k *kv) report(stats *abi.CallStats) { stats.Unstored = k.failed.error() }

func (k *kv) get(ctx context.Context, c *Call, r abi.KVRequest) (any, error) {
	if err := checkKV(c, r.Key); err != nil {
		return nil, err
	}
	value, found, err := k.read(ctx, c, r.Key)
	k.failed.note(abi.OpKVGet, r.Key, err)
	if err != nil {
		return nil, err
	}
	return abi.KVResponse{Found: found, Value: value}, nil
}

func (k *kv) read(ctx context.Context, c *Call, key string) (value string, found bool, err error) {
	if value, ok := k.stored[key]; ok {
		if value == nil {
			return "", false, nil
		}
		return *value, true, nil
	}
	ns, err := k.namespace(ctx, c)
	if err != nil {
		return "", false, err
	}
	return c.Plugin.Services.kv.Get(ctx, ns, key)
}

func (k *kv) set(ctx context.Context, c *Call, r abi.KVRequest) (any, error) {
	if err := checkKV(c, r.Key); err != nil {
		return nil, err
	}
	if c.Input.dryRun() {
		if r.Expect != nil {
			switch now, _, err := k.read(ctx, c, r.Key); {
			case err != nil:
				return nil, err
			case now != *r.Expect:
				return nil, abi.KeyConflict(r.Key)
			}
		}
		return nil, k.keep(c, r.Key, &r.Value)
	}
	ns, err := k.namespace(ctx, c)
	switch {
	case err != nil:
	case r.Expect != nil:
		err = c.Plugin.Services.kv.Swap(ctx, ns, r.Key, *r.Expect, r.Value)
	default:
		err = c.Plugin.Services.kv.Set(ctx, ns, r.Key, r.Value)
	}
	k.failed.note(abi.OpKVSet, r.Key, err)
	return nil, err
}

func (k *kv) delete(ctx context.Context, c *Call, r abi.KVRequest) (any, error) {
	if err := checkKV(c, r.Key); err != nil {
		return nil, err
	}
	if c.Input.dryRun() {
		return nil, k.keep(c, r.Key, nil)
	}
	ns, err := k.namespace(ctx, c)
	if err == nil {
		err = forget(ctx, c.Plugin.Services.kv, ns, r.Key)
	}
	k.failed.note(abi.OpKVDelete, r.Key, err)
	return nil, err
}

// forget deletes a key, and the host's own copies of what its value says.
func forget(ctx context.Context, kv storage, ns, key string) error {
	copies, err := retained.Copies(ctx, kv, ns, key)
	if err != nil {
		return err
	}
	for _, key := range append(copies, key) {
		if err := kv.Delete(ctx, ns, key); err != nil {
			return err
		}
	}
	return nil
}

func (k *kv) list(ctx context.Context, c *Call, r abi.KVRequest) (any, error) {
	if c.Plugin.Services.kv == nil {
		return nil, errNoStorage
	}
	if len(r.Key) > abi.MaxKeyBytes || !utf8.ValidString(r.Key) || strings.ContainsFunc(r.Key, unicode.IsControl) {
		return nil, &abi.Error{Code: abi.CodeUsage, Message: "key: not the beginning of a key"}
	}
	var keys []string
	ns, err := k.namespace(ctx, c)
	if err == nil {
		keys, err = c.Plugin.Services.kv.List(ctx, ns, r.Key)
	}
	k.failed.note(abi.OpKVList, r.Key, err)
	if err != nil {
		return nil, err
	}
	return abi.KVResponse{Keys: k.listed(keys, r.Key)}, nil
}

// listed are keys that begin with a prefix, as the dry run has left them.
func (k *kv) listed(keys []string, prefix string) []string {
	if len(k.stored) == 0 {
		return keys
	}
	keys = slices.DeleteFunc(slices.Clone(keys), func(key string) bool { _, ok := k.stored[key]; return ok })
	for key, value := range k.stored {
		if value != nil && strings.HasPrefix(key, prefix) {
			keys = append(keys, key)
		}
	}
	slices.Sort(keys)
	return keys
}

// keep stores a value for the rest of a dry run, in the memory of the call.
func (k *kv) keep(c *Call, key string, value *string) error {
	n := keptBytes(key, value)
	if old, ok := k.stored[key]; ok {
		n -= keptBytes(key, old)
	}
	if !c.Memory.Take(n) {
		return quotaf("", "a dry run stores in the memory of the call, which is used up")
	}
	if k.stored == nil {
		k.stored = make(map[string]*string)
	}
	k.stored[key] = value
	return nil
}

func keptBytes(key string, value *string) int64 {
	n := int64(len(key)) + 2*blockOverhead
	if value != nil {
		n += int64(len(*value))
	}
	return n
}

var errNoStorage = &abi.Error{Code: abi.CodeDenied, Message: "this host has no storage"}

func checkKV(c *Call, key string) error {
	if c.Plugin.Services.kv == nil {
		return errNoStorage
	}
	if err := abi.CheckKey(key); err != nil {
		return &abi.Error{Code: abi.CodeUsage, Message: err.Error()}
	}
	return nil
}
