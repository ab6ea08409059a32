package config

import (
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/yamldoc"
)

// Set is one setting of an agent that comes from elsewhere than the file, for
// one time (FEATURES K26).
type Set struct {
	// Field is its path, such as compaction.upper_threshold.
	Field string
	// Value is what would stand in the file.
	Value string
	// From names where it comes from, such as "--upper".
	From string
}

// ParseSet reads FIELD=VALUE, as flags have it.
func ParseSet(s, from string) (Set, error) {
	name, value, ok := strings.Cut(s, "=")
	if !ok || name == "" {
		return Set{}, &abi.Error{Code: abi.CodeUsage, Op: "config", Message: from + " " + s + ": write FIELD=VALUE, such as compaction.upper_threshold=0.7"}
	}
	return Set{Field: name, Value: value, From: from + " " + name}, nil
}

// With is an agent as it would be with some settings on top of what the file
// says. The configuration itself does not change.
func (c *Config) With(agentPath string, sets ...Set) (*Agent, error) {
	a := c.Agent(agentPath)
	if len(sets) == 0 {
		return a, nil
	}
	said := a.said
	for _, s := range sets {
		n, err := s.read()
		if err != nil {
			return nil, err
		}
		n.mark(a.Path)
		said = inherit(n, said)
	}
	return c.rebuild(a.Path, said)
}

// read makes the nodes that the setting would be in a file.
func (s Set) read() (*node, error) {
	r := &reader{source: source{name: s.From}}
	names := strings.Split(s.Field, ".")
	parents := []*field{agentBlock}
	for _, name := range names[:len(names)-1] {
		if b := parents[len(parents)-1].child(name); b != nil {
			parents = append(parents, b)
		}
	}
	parent := parents[len(parents)-1]
	f := parent.child(names[len(names)-1])
	if len(parents) != len(names) || f == nil || f.own {
		r.fail(yamldoc.Pos{}, "no setting %q%s", s.Field, suggest(s.Field, settingNames()))
		return nil, r.problems.asError()
	}
	n := r.flag(f.like(parent), s.Value)
	if n == nil {
		return nil, r.problems.asError()
	}
	for i, b := range slices.Backward(parents) {
		n.name = names[i]
		n = &node{field: b, kids: []*node{n}}
		r.unify(n)
	}
	n.flagged(s.From)
	return n, r.problems.asError()
}

// flag reads a value that stands alone. Where it stands in its own text says
// nothing.
func (r *reader) flag(f *field, value string) *node {
	n := &node{field: f, value: ""}
	if body := r.parse([]byte(value)); body != nil {
		n = r.value(f, body, 0)
	} else if f.kind != text {
		r.fail(yamldoc.Pos{}, "%s: give %s", f.name, f.kind)
	}
	for i := range r.problems {
		r.problems[i].Line, r.problems[i].Column, r.problems[i].Excerpt = 0, 0, ""
	}
	return n
}

// flagged says that all this comes from a flag.
func (n *node) flagged(from string) {
	n.flag, n.pos, n.at = from, yamldoc.Pos{}, yamldoc.Pos{}
	for _, k := range slices.Concat(n.kids, n.items) {
		k.flagged(from)
	}
}

// rebuild makes an agent anew of all that is said of it.
func (c *Config) rebuild(path string, said *node) (*Agent, error) {
	changed := *c
	changed.agents, changed.refs = maps.Clone(c.agents), maps.Clone(c.refs)
	b := &builder{reader: &reader{source: source{name: "settings"}}, config: &changed}
	a := b.agent(path, said)
	b.check(a)
	p, err := openPrompts(filepath.Dir(c.File), time.Now())
	if err != nil {
		return nil, unreadable(filepath.Dir(c.File), err)
	}
	defer p.close()
	b.write(p.read)
	if err := b.problems.asError(); err != nil {
		return nil, err
	}
	return a, nil
}
