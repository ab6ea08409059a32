package config

import (
	"cmp"
	"path/filepath"
	"strings"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/yamldoc"
)

// builder makes a Config of what was read, and collects what is wrong with it
// as a whole.
type builder struct {
	*reader
	config *Config
	order  []*Agent // parents before those below them
}

func newBuilder(r *reader, path string) *builder {
	return &builder{reader: r, config: &Config{
		File: path, source: r.source, Models: make(map[string]Model), Plugins: make(map[string]Plugin),
		agents: make(map[string]*Agent), prompts: make(map[string]string),
	}}
}

func (b *builder) build(n *node) {
	b.config.root = n
	dir := filepath.Dir(b.config.File)
	for _, k := range n.kid("overrides").all() {
		var m Model
		m.targets().bind(k, "")
		b.config.Overrides = append(b.config.Overrides, m.override(m.Provider))
	}
	for _, k := range n.kid("models").all() {
		m := Model{Alias: k.name}
		m.targets().bind(k, "")
		b.config.Models[k.name] = m
		b.config.Overrides = append(b.config.Overrides, m.unpriced())
	}
	for _, k := range n.kid("plugins").all() {
		p := Plugin{Name: k.name}
		p.targets().bind(k, "")
		if !filepath.IsAbs(p.Path) && !abi.ValidName(p.Path) { // which is a name
			p.Path = filepath.Join(dir, filepath.FromSlash(p.Path))
		}
		b.config.Plugins[k.name] = p
	}
	b.walk("", n, nil)
	for _, a := range b.order {
		b.check(a)
	}
}

// walk adds an agent and those below it. under is what it inherits.
func (b *builder) walk(path string, said, under *node) {
	said.mark(path, "")
	a := b.agent(path, inherit(said, under))
	for _, k := range append(said.kid("agents").all(), said.kid("subagents").all()...) {
		b.walk(strings.TrimPrefix(path+"/"+k.name, "/"), k, a.said)
	}
}

// agent adds an agent by all that is said of it.
func (b *builder) agent(path string, said *node) *Agent {
	a := &Agent{Path: path, said: said}
	a.targets().bind(said, "")
	a.Window = cmp.Or(a.Context, b.config.Models[a.Model].Window)
	b.config.agents[path] = a
	b.order = append(b.order, a)
	return a
}

// write settles who writes each agent's summaries, and reads the prompts.
func (b *builder) write(read func(ref string) (string, error)) {
	for _, a := range b.order {
		n := a.said.find("compaction.agent")
		a.settle(b.config.agents[a.helper], n != nil && n.agent == "" && n.flag == "")
		if !a.Policy.Summarize.Off {
			a.Policy.Summarize.Prompt = b.prompt(a.Writer, read)
		}
	}
}

// prompt reads the prompt of a writer. What is wrong with one is said once.
func (b *builder) prompt(w Writer, read func(ref string) (string, error)) string {
	text, ok := b.config.prompts[w.Prompt]
	if !ok {
		var err error
		if text, err = read(w.Prompt); err != nil {
			b.fail(b.config.agents[w.Agent].promptAt(w.Prompt), "%v", err)
		}
		b.config.prompts[w.Prompt] = text
	}
	return text
}

// promptAt is where the agent, or one above it, names a prompt.
func (a *Agent) promptAt(ref string) yamldoc.Pos {
	for _, path := range []string{"prompt", "compaction.summarize.prompt"} {
		if n := a.said.find(path); n != nil && n.value == ref {
			return n.at
		}
	}
	return yamldoc.Pos{}
}
