// Package slate is the storage of plugins that are measured or judged: in
// memory, and wiped between calls that are to be compared.
package slate

import (
	"github.com/kagewasm/kagewasm/runtime"
	"github.com/kagewasm/kagewasm/store"
)

// Slate is a storage. No call may run while it is wiped.
type Slate struct{ runtime.KV }

// New makes an empty one.
func New() *Slate {
	s := new(Slate)
	s.Wipe()
	return s
}

// Wipe empties it.
func (s *Slate) Wipe() { s.KV = store.MemoryKV(store.KVOptions{}) }
