package memory

import (
	"slices"
	"strings"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/abi/guest"
)

const (
	factsPrefix = "facts/"
	indexKey    = "MEMORY.md"
	indexHead   = "# Memory\n\nOne line a note; the notes are in facts/. Edit or delete what you like: notes are never overwritten, and what you delete stays away while its line is here.\n\n"
	// maxIndex keeps the index below what one value may hold, in bytes.
	maxIndex = 900_000
)

// notes is the plugin's storage as this call found it.
type notes struct {
	c     *guest.Call
	keys  []string // of the facts
	index string
	off   bool // there is no storage
}

// openNotes lists what is stored. Without storage there is nothing.
func openNotes(c *guest.Call) *notes {
	n := &notes{c: c}
	var err error
	if n.keys, err = c.KV().List(factsPrefix); err != nil {
		n.off = true
		c.Log(abi.LogWarn, "no storage, facts go to the host alone: %v", err)
		return n
	}
	if n.index, _, err = c.KV().Get(indexKey); err != nil {
		c.Log(abi.LogWarn, "%s: %v", indexKey, err)
	}
	return n
}

// fresh are the facts that have no note and had none, as many as the memory
// has room for.
func (n *notes) fresh(found []fact, most int) []fact {
	if n.off {
		return found
	}
	known := make(map[string]bool, len(n.keys))
	for _, k := range n.keys {
		known[k] = true
	}
	var list []fact
	for _, f := range found {
		if !known[f.key] && !strings.Contains(n.index, f.key) {
			list = append(list, f)
		}
	}
	if room := max(0, most-len(n.keys)); len(list) > room {
		n.c.Log(abi.LogWarn, "%d notes stored, %d new ones left out: delete some, or raise max_stored", len(n.keys), len(list)-room)
		list = list[:room]
	}
	return list
}

// add writes notes, and then their lines in the index: a line without a note
// is one that a person deleted.
func (n *notes) add(fresh []fact) {
	if n.off || len(fresh) == 0 {
		return
	}
	index := n.index
	if index == "" {
		index = indexHead
	} else if !strings.HasSuffix(index, "\n") {
		index += "\n"
	}
	for i := range fresh {
		f := &fresh[i]
		if err := n.c.KV().Set(f.key, f.encode()); err != nil {
			n.c.Log(abi.LogWarn, "%s: %v", f.key, err)
			break // a full store takes no more
		}
		index += "- [" + linkText(f.title) + "](" + f.key + ") " + string(f.kind) + "\n"
	}
	if len(index) > maxIndex {
		n.c.Log(abi.LogWarn, "%s is full", indexKey)
		return
	}
	if err := n.c.KV().Set(indexKey, index); err != nil {
		n.c.Log(abi.LogWarn, "%s: %v", indexKey, err)
	}
}

func linkText(s string) string {
	return strings.NewReplacer("[", "(", "]", ")").Replace(s)
}

// maxRead is how many notes one call reads; see also abi.Limits.HostCalls.
const maxRead = 2000

// read returns the stored notes, without any that cannot be read.
func (n *notes) read() []fact {
	if n.off {
		return nil
	}
	keys := n.keys
	if len(keys) > maxRead {
		keys = n.newest(maxRead)
	}
	var list []fact
	for _, k := range keys {
		note, ok, err := n.c.KV().Get(k)
		if err != nil {
			n.c.Log(abi.LogWarn, "%s: %v", k, err)
		} else if ok {
			list = append(list, decode(k, note))
		}
	}
	return list
}

// newest are the keys that come last in the index, which is in the order of
// time.
func (n *notes) newest(most int) []string {
	line, at := make(map[string]int), 0
	for l := range strings.Lines(n.index) {
		at++
		if _, link, ok := strings.Cut(l, "]("); ok {
			key, _, _ := strings.Cut(link, ")")
			line[key] = at
		}
	}
	keys := slices.Clone(n.keys)
	slices.SortStableFunc(keys, func(a, b string) int { return line[b] - line[a] })
	keys = keys[:most]
	slices.Sort(keys)
	return keys
}
