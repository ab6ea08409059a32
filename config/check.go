package config

import (
	"fmt"
	"maps"
	"slices"

	"github.com/kagewasm/kagewasm/abi"
)

// check looks at what one agent says; what it inherits was looked at above it.
func (b *builder) check(a *Agent) {
	for _, path := range [][]string{{"model"}, {"compaction", "summarize", "model"}, {"compaction", "summarize", "fast_model"}} {
		if n := a.own(path...); n.names() {
			known(b, n, "model", b.config.Models)
		}
	}
	if n := a.own("compaction", "agent"); n.names() {
		known(b, n, "agent", b.config.agents)
	}
	b.checkPlugins(a)
	b.checkThresholds(a)
	if err := a.Policy.Check(); err != nil && b.problems == nil {
		b.fail(a.said.find("compaction").place(), "%s", abi.AsError(err).Message)
	}
}

// own is the node at a path where it is the agent itself that says it.
func (a *Agent) own(path ...string) *node {
	if n := a.said.find(path...); n != nil && n.agent == a.Path {
		return n
	}
	return nil
}

// names reports whether the node names something; an empty text names nothing.
func (n *node) names() bool { return n != nil && n.value != nil && n.value != "" }

// known checks that what a node names is there.
func known[V any](b *builder, n *node, what string, all map[string]V) bool {
	name := n.value.(string)
	if _, ok := all[name]; ok && name != "" {
		return true
	}
	names := slices.DeleteFunc(slices.Collect(maps.Keys(all)), func(s string) bool { return s == "" })
	b.fail(n.at, "no %s %q%s", what, name, suggest(name, names))
	return false
}

// checkPlugins: the plugins are there, may do what they are named for, and at
// most one of them compacts (FEATURES K6), inherited ones included.
func (b *builder) checkPlugins(a *Agent) {
	compactor, observers := a.said.find("compaction", "compactor"), a.said.find("compaction", "observers")
	if n := a.own("compaction", "compactor"); n.names() && known(b, n, "plugin", b.config.Plugins) {
		if p := b.config.Plugins[a.Compactor]; !p.may(abi.RoleCompactor) {
			b.fail(n.at, "plugin %s is no compactor here: its roles are %v", a.Compactor, p.Roles)
		}
	}
	if n := a.own("compaction", "observers"); n != nil {
		for i, item := range n.items {
			name := a.Observers[i]
			if slices.Contains(a.Observers[:i], name) {
				b.fail(item.at, "plugin %s is named twice", name)
			} else if p := b.config.Plugins[name]; known(b, item, "plugin", b.config.Plugins) && !p.may(abi.RoleObserver) {
				b.fail(item.at, "plugin %s is no observer here: its roles are %v", name, p.Roles)
			}
		}
	}
	b.checkOneCompactor(a, compactor, observers)
}

func (b *builder) checkOneCompactor(a *Agent, compactor, observers *node) {
	if a.own("compaction", "compactor") == nil && a.own("compaction", "observers") == nil {
		return
	}
	first, at := a.Compactor, compactor
	for i, item := range observers.list() {
		name := a.Observers[i]
		p := b.config.Plugins[name]
		switch {
		case name == first || !slices.Contains(p.Roles, abi.RoleCompactor):
		case first == "":
			first, at = name, item
		default:
			b.fail(item.at, "agent %s has two compactors, %s (%s) and %s: at most one is allowed; take one out, or give %s the roles [observer]",
				quoted(a.Path), first, b.where(at), name, name)
			return
		}
	}
}

// where says in words where something is said.
func (b *builder) where(n *node) string {
	s := fmt.Sprintf("line %d", n.at.Line)
	if n.agent != "" {
		s += " of agent " + n.agent
	}
	return s
}

func quoted(agent string) string {
	if agent == "" {
		return "at the top of the file"
	}
	return fmt.Sprintf("%q", agent)
}

// checkThresholds: a compaction has to get below where it started (K2), for
// thresholds that come from different places too.
func (b *builder) checkThresholds(a *Agent) {
	upper, lower := a.Policy.When.Thresholds("")
	if lower < upper {
		return
	}
	for _, name := range []string{"upper_threshold", "lower_threshold", "profile"} {
		if n := a.own("compaction", name); n != nil {
			b.fail(n.at, "a compaction would start over %v of the window and get down to %v only: lower_threshold has to be less than upper_threshold, set both", upper, lower)
			return
		}
	}
}
