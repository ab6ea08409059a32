package config

import (
	"fmt"
	"maps"
	"slices"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/yamldoc"
)

// check looks at what one agent says; what it inherits was looked at above it.
func (b *builder) check(a *Agent) {
	for _, path := range []string{"model", "compaction.summarize.model", "compaction.summarize.fast_model"} {
		known(b, a.own(path), "model", b.config.Models)
	}
	known(b, a.own("compaction.agent"), "agent", b.config.agents)
	b.checkPlugins(a)
	b.checkThresholds(a)
	policy := a.Policy
	policy.Note.Redact = nil // each was checked where it is read, not for all who inherit it
	if err := policy.Check(); err != nil && b.problems == nil {
		var at yamldoc.Pos
		if n := a.said.kid("compaction"); n != nil {
			at = n.pos
		}
		b.fail(at, "%s", abi.AsError(err).Message)
	}
}

// own is the node at a path where it is the agent itself that says it.
func (a *Agent) own(path string) *node {
	if n := a.said.find(path); n != nil && n.agent == a.Path {
		return n
	}
	return nil
}

// known reports whether a node names something that is there, and fails where it
// names something else. An empty text names nothing.
func known[V any](b *builder, n *node, what string, all map[string]V) bool {
	if n == nil || n.value == nil || n.value == "" {
		return false
	}
	name := n.value.(string)
	if _, ok := all[name]; ok {
		return true
	}
	b.fail(n.at, "no %s %q%s", what, name, late(func() string {
		return suggest(name, slices.DeleteFunc(slices.Collect(maps.Keys(all)), func(s string) bool { return s == "" }))
	}))
	return false
}

// checkPlugins: the plugins are there, may do what they are named for, and at
// most one of them compacts, inherited ones included.
func (b *builder) checkPlugins(a *Agent) {
	compactor, observers := a.own("compaction.compactor"), a.own("compaction.observers")
	may := func(n *node, role abi.PluginRole) {
		if !known(b, n, "plugin", b.config.Plugins) {
			return
		}
		if p := b.config.Plugins[n.value.(string)]; !p.may(role) {
			b.fail(n.at, "plugin %s is no %s here: its roles are %v", p.Name, role, p.Roles)
		}
	}
	may(compactor, abi.RoleCompactor)
	for i, item := range observers.all() {
		if slices.Contains(a.Observers[:i], a.Observers[i]) {
			b.fail(item.at, "plugin %s is named twice", a.Observers[i])
		} else {
			may(item, abi.RoleObserver)
		}
	}
	if compactor != nil || observers != nil {
		b.checkOneCompactor(a)
	}
}

func (b *builder) checkOneCompactor(a *Agent) {
	first, at := a.Compactor, a.said.find("compaction.compactor")
	for i, item := range a.said.find("compaction.observers").all() {
		name := a.Observers[i]
		switch p := b.config.Plugins[name]; {
		case name == first || !slices.Contains(p.Roles, abi.RoleCompactor):
		case first == "":
			first, at = name, item
		default:
			b.fail(item.at, "agent %s has two compactors, %s (%s) and %s: "+
				"at most one is allowed; take one out, or give %s the roles [observer]",
				quoted(a.Path), first, where(at), name, name)
			return
		}
	}
}

// where says in words where something is said.
func where(n *node) string {
	if n.at.Line == 0 {
		return "set on top of the file"
	}
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

// checkThresholds: a compaction has to get below where it started, for
// thresholds that come from different places too.
func (b *builder) checkThresholds(a *Agent) {
	upper, lower := a.Policy.When.Thresholds("")
	if lower < upper {
		return
	}
	var at *node
	for _, name := range []string{"upper_threshold", "lower_threshold", "profile"} {
		if n := a.own("compaction." + name); n != nil && (at == nil || n.flag != "" && at.flag == "") {
			at = n // what is set on top is what can be wrong, where the file is right
		}
	}
	if at != nil {
		b.fail(at.at, "a compaction would start over %v of the window and get down to %v only: "+
			"lower_threshold has to be less than upper_threshold, set both", upper, lower)
	}
}
