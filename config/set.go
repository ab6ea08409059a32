package config

import (
	"maps"
	"slices"
	"strings"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/lists"
	"github.com/kagewasm/kagewasm/internal/yamldoc"
)

// With returns an agent as it would be with some settings on top of what the file says, each
// FIELD=VALUE, as flags --set have them: compaction.upper_threshold=0.7. They are checked as if they
// stood in the file. The configuration does not change. The error of a setting of another form is of
// code usage.
func (c *Config) With(agentPath string, sets ...string) (*Agent, error) {
	for _, s := range sets {
		if i := strings.IndexByte(s, '='); i <= 0 {
			return nil, &abi.Error{Code: abi.CodeUsage, Op: "config",
				Message: "--set " + s + ": write FIELD=VALUE, such as compaction.upper_threshold=0.7"}
		}
	}
	a := c.Agent(agentPath)
	if len(sets) == 0 {
		return a, nil
	}
	said := a.said
	for _, s := range sets {
		path, value, _ := strings.Cut(s, "=")
		n, err := readSet(path, value)
		if err != nil {
			return nil, err
		}
		n.mark(a.Path, "--set "+path)
		said = inherit(n, said)
	}
	return c.rebuild(a.Path, said)
}

// readSet makes the nodes that a setting would be in a file.
func readSet(path, value string) (*node, error) {
	r := &reader{source: source{name: "--set " + path}}
	parents, names := []*field{agentBlock()}, strings.Split(path, ".")
	f := agentBlock().at(path)
	if f == nil || f.Own {
		known := lists.Map(agentSettings(), func(s setting) string { return s.path })
		r.fail(yamldoc.Pos{}, "no setting %q%s", path, suggest(path, known))
		return nil, r.problems.asError()
	}
	for _, name := range names[:len(names)-1] {
		parents = append(parents, parents[len(parents)-1].child(name))
	}
	n := r.flag(f.like(parents[len(parents)-1]), value)
	if n == nil {
		return nil, r.problems.asError()
	}
	for i, b := range slices.Backward(parents) {
		n.name = names[i]
		n = &node{field: b, kids: []*node{n}}
		r.unify(n)
	}
	return n, r.problems.asError()
}

// flag reads a value that stands alone. Where it stands in its own text says
// nothing.
func (r *reader) flag(f *field, value string) *node {
	n := &node{field: f, value: ""}
	if body := r.parse([]byte(value)); body != nil {
		n = r.value(f, body, 0)
	} else if f.Kind != text {
		r.fail(yamldoc.Pos{}, "%s: give %s", f.Name, f.Kind)
	}
	for i := range r.problems {
		r.problems[i].Line, r.problems[i].Column, r.problems[i].Excerpt = 0, 0, ""
	}
	return n
}

// rebuild makes an agent again, of all that is said of it.
func (c *Config) rebuild(path string, said *node) (*Agent, error) {
	changed := *c
	changed.agents, changed.prompts = maps.Clone(c.agents), maps.Clone(c.prompts)
	if c.met != nil {
		changed.Plugins = c.met
	}
	b := &builder{reader: &reader{source: source{}}, config: &changed}
	a := b.agent(path, said)
	b.check(a)
	for i := range b.problems {
		if p := &b.problems[i]; p.Line > 0 { // it is in the file then
			p.File, p.Excerpt = c.source.name, c.source.excerpt(yamldoc.Pos{Line: p.Line, Column: p.Column})
		}
	}
	f, err := openFolder(c.File)
	if err != nil {
		return nil, unreadable(c.File, err)
	}
	defer f.close()
	b.write(f.prompt)
	if err := b.problems.asError(); err != nil {
		return nil, err
	}
	return a, nil
}
