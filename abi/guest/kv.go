package guest

import "github.com/kagewasm/kagewasm/abi"

// KV is the storage of a plugin: text under keys like "facts/x.md"; see
// [abi.KVRequest] for their rules. It outlasts the call; the sessions of an
// agent share it, other agents have their own. Errors are *abi.Error: CodeDenied
// without the capability kv, CodeQuota where it is full, CodeUsage for a bad key.
type KV struct{ c *Call }

// Get returns the value under key and whether there is one.
func (kv KV) Get(key string) (value string, found bool, err error) {
	var resp abi.KVResponse
	err = kv.c.do(abi.OpKVGet, abi.KVRequest{Key: key}, &resp)
	return resp.Value, resp.Found, err
}

// Set stores value under key, in place of what was there.
func (kv KV) Set(key, value string) error {
	return kv.c.do(abi.OpKVSet, abi.KVRequest{Key: key, Value: value}, nil)
}

// Swap stores value under key where the key holds expect now; "" also means no
// value. Otherwise the error is CodeConflict.
func (kv KV) Swap(key, expect, value string) error {
	return kv.c.do(abi.OpKVSet, abi.KVRequest{Key: key, Value: value, Expect: &expect}, nil)
}

// maxUpdates is how often Update tries.
const maxUpdates = 16

// Update stores what change makes of the value under key, which is "" where
// there is none. What others store at the same time is not lost: change is
// called again with what stands there now, CodeConflict after many times. Where
// it leaves the value as it is nothing is stored.
func (kv KV) Update(key string, change func(value string) string) error {
	var err error
	for range maxUpdates {
		var old string
		if old, _, err = kv.Get(key); err != nil {
			return err
		}
		value := change(old)
		if value == old {
			return nil
		}
		err = kv.Swap(key, old, value)
		if abi.CodeOf(err) != abi.CodeConflict {
			return err
		}
	}
	return err
}

// Delete removes key. A key that is not there is no error.
func (kv KV) Delete(key string) error {
	return kv.c.do(abi.OpKVDelete, abi.KVRequest{Key: key}, nil)
}

// List returns the keys that begin with prefix, sorted.
func (kv KV) List(prefix string) ([]string, error) {
	var resp abi.KVResponse
	err := kv.c.do(abi.OpKVList, abi.KVRequest{Key: prefix}, &resp)
	return resp.Keys, err
}
