package config

import (
	"fmt"
	"time"
)

// trust is what a field may be set to in a file that nobody trusts. Such a file may
// have come with somebody's repository. It may narrow what happens: compact earlier,
// keep more or do less. It may not say what runs, where anything is sent, what is
// paid for or what a model is told, nor take a protection away. settings.json says it
// of each field, and a field of which it says nothing is not such a file's to set.
type trust string

const (
	trustNo   trust = "no"   // nothing, nor what stands inside
	trustAny  trust = "any"  // anything
	trustLess trust = "less" // at most the default
	trustAdd  trust = "add"  // items of a list, beside those that always hold
)

// maxUntrusted bounds the patterns of a file that nobody trusts, in instructions of
// their programs together: each character of a session may cost as many steps.
const maxUntrusted = 256

// Widens returns the settings of the file that do more than narrow what happens without them, as
// "compaction.redact (line 3)", in the order of the file. A program that finds a configuration which
// may be somebody else's asks before it uses one with such settings.
func (c *Config) Widens() []string {
	list := c.root.widens("")
	if size := c.root.patternSize(); size > maxUntrusted {
		list = append(list, fmt.Sprintf("patterns of %d steps a character, of %d", size, maxUntrusted))
	}
	return list
}

func (n *node) widens(path string) (list []string) {
	f := n.field
	switch {
	case n.null, n.saysNothing(), f.Untrusted == trustAny:
	case f.Untrusted == trustAdd && n.value == nil:
	case f.Untrusted == trustLess && n.atMost(f.Default):
	case f.Untrusted == "" && f.inner():
		for _, k := range n.kids {
			name := k.name
			if path != "" {
				name = path + "." + name
			}
			list = append(list, k.widens(name)...)
		}
	default:
		list = []string{fmt.Sprintf("%s (line %d)", path, n.pos.Line)}
	}
	return list
}

// inner reports whether the field holds others, of which each is judged.
func (f *field) inner() bool { return f.Kind == block || f.Kind == table && f.Elem.Kind == block }

// saysNothing reports whether an empty text, list or mapping stands there.
func (n *node) saysNothing() bool { return n.value == "" || n.value == nil && len(n.kids) == 0 }

// atMost reports whether a number or a duration is no larger than a default.
func (n *node) atMost(def any) bool {
	switch v := n.value.(type) {
	case int:
		most, ok := def.(int)
		return ok && v <= most
	case time.Duration:
		text, _ := def.(string)
		most, err := time.ParseDuration(text)
		return err == nil && v <= most
	}
	return false
}
