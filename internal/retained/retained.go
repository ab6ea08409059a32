// Package retained names the copies that a host keeps of what plugins retain, in their own
// namespaces: so that a memory that is deleted is gone with its copy.
package retained

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"
	"strings"

	"github.com/kagewasm/kagewasm/abi"
)

// Key is where the copy of a text lies.
func Key(text string) string {
	sum := sha256.Sum256([]byte(text))
	return abi.RetainedPrefix + hex.EncodeToString(sum[:8]) + ".json"
}

// Fact is what a copy holds.
type Fact struct {
	Text    string `json:"text"`
	Session string `json:"session"`
	Agent   string `json:"agent,omitempty"`
	Call    string `json:"call"`
	Time    string `json:"time"`
}

// KV is the storage of plugins.
type KV interface {
	Get(ctx context.Context, ns, key string) (value string, found bool, err error)
	List(ctx context.Context, ns, prefix string) ([]string, error)
}

// Copies are the keys of the copies of what the values of some keys say, for who deletes
// these. A copy's text stands in the value, whatever else does; copies have none themselves.
func Copies(ctx context.Context, kv KV, ns string, deleted ...string) ([]string, error) {
	there, err := kv.List(ctx, ns, abi.RetainedPrefix)
	if err != nil || len(there) == 0 {
		return nil, err
	}
	var values []string
	for _, key := range deleted {
		if strings.HasPrefix(key, abi.RetainedPrefix) {
			continue
		}
		value, found, err := kv.Get(ctx, ns, key)
		if err != nil {
			return nil, err
		}
		if found && value != "" {
			values = append(values, value)
		}
	}
	if len(values) == 0 {
		return nil, nil
	}
	var copies []string
	for _, key := range there {
		value, _, err := kv.Get(ctx, ns, key)
		if err != nil {
			return nil, err
		}
		var f Fact
		says := func(v string) bool { return strings.Contains(v, f.Text) }
		if json.Unmarshal([]byte(value), &f) == nil && f.Text != "" && slices.ContainsFunc(values, says) {
			copies = append(copies, key)
		}
	}
	return copies, nil
}
