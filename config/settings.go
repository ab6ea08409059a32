package config

import (
	"iter"
	"strings"
)

// settings yields everything that can be set of an agent, by its path, in the
// order of the documentation.
func settings() iter.Seq2[string, *field] {
	return func(yield func(string, *field) bool) { agentBlock.leaves("", yield) }
}

func (f *field) leaves(path string, yield func(string, *field) bool) bool {
	for _, c := range f.settable() {
		switch {
		case c.own:
		case c.kind == block:
			if !c.leaves(path+c.name+".", yield) {
				return false
			}
		case !yield(path+c.name, c):
			return false
		}
	}
	return true
}

func settingNames() []string {
	var names []string
	for name := range settings() {
		names = append(names, name)
	}
	return names
}

// path finds what is said under a path of settings.
func (n *node) path(name string) *node { return n.find(strings.Split(name, ".")...) }
