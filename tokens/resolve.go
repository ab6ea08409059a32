package tokens

import (
	"cmp"
	"slices"
	"strings"
)

// Resolve finds what is known of a model by the name a caller has for it:
//
//	claude-sonnet-4-5                        the provider is inferred
//	anthropic/claude-sonnet-4-5-20250929     or anthropic:...
//	copilot/gpt-4o                           another name for the provider
//	openrouter/anthropic/claude-sonnet-4.5   a gateway, then whose model it is
//	bedrock/us.anthropic.claude-...-v1:0     decorations of many kinds
//
// Case does not matter. A gateway's own entry comes first and what it lacks
// comes from the model's maker. Overrides win over all of that field by field;
// see [Override]. A name that nobody knows is no error: the
// result has that name and no window.
func (c *Catalog) Resolve(name string, overrides ...Override) Model {
	provider, id := c.split(fold(name))
	m, ok := c.resolve(provider, id)
	if !ok {
		m = Model{Provider: provider, ID: id}
		m.Encoding, m.ExactCounts = encodingOf(id)
	}
	m.BindsThinking, m.TokenScale = bindsThinking(id), 1
	if !m.ExactCounts {
		m.TokenScale = tokenScale(id)
	}
	// A provider that the catalog does not have is one to override, too.
	own, rest := "", ""
	if provider == "" {
		own, rest, _ = strings.Cut(id, "/")
	}
	for _, o := range sorted(overrides) {
		if o.Provider == "" {
			o.Provider, o.Model = c.split(fold(o.Model))
		}
		if o.covers(provider, id) || o.covers(m.Provider, m.ID) || rest != "" && o.covers(own, rest) {
			o.apply(&m)
		}
	}
	return m
}

// split takes the provider off a name; the provider is empty where the name
// begins with none that is known.
func (c *Catalog) split(name string) (provider, id string) {
	if i := strings.IndexAny(name, "/:"); i > 0 {
		p := canonical(name[:i])
		if _, ok := c.content().of[p]; ok || slices.Contains(local, p) {
			return p, name[i+1:]
		}
	}
	return "", name
}

func (c *Catalog) resolve(provider, id string) (Model, bool) {
	if id == "" || slices.Contains(local, provider) {
		return Model{}, false
	}
	if provider == "" {
		return c.infer(id)
	}
	m, ok := c.lookup(provider, id)
	if ok && m.ContextWindow != nil && m.MaxOutput != nil {
		return m, true
	}
	maker, known := c.maker(provider, id)
	if !ok {
		return maker, known
	}
	m.fill(maker)
	return c.complete(m), true
}

// fill takes from the model of its maker what the provider that serves it does not say. Prices are each
// provider's own.
func (m *Model) fill(from Model) {
	m.ContextWindow = cmp.Or(m.ContextWindow, from.ContextWindow)
	if m.MaxOutput == nil && from.MaxOutput != nil && *from.MaxOutput <= m.Window() {
		m.MaxOutput = from.MaxOutput
	}
}

// maker finds the model among those that provider passes on.
func (c *Catalog) maker(provider, id string) (Model, bool) {
	if p, rest := c.split(id); p != "" && p != provider {
		return c.resolve(p, rest)
	}
	for _, p := range slices.Concat(c.content().of[provider].Fallbacks, served[provider]) {
		if m, ok := c.lookup(p, id); ok {
			return m, true
		}
	}
	return Model{}, false
}

// infer finds a model by its name alone: in the family that claims the name,
// else wherever it is.
func (c *Catalog) infer(id string) (Model, bool) {
	names := slices.Compact([]string{id, lastPart(id)})
	for _, name := range names {
		for _, p := range c.content().Providers {
			if !p.Family.Matches(name) {
				continue
			}
			if m, ok := c.lookup(p.ID, name); ok {
				return c.complete(m), true
			}
		}
	}
	for _, name := range names {
		if m, ok := c.anywhere(name); ok {
			return m, true
		}
	}
	return Model{}, false
}

// complete gives a model that nobody in charge has a window for the one that
// others have.
func (c *Catalog) complete(m Model) Model {
	if m.ContextWindow == nil {
		if other, ok := c.anywhere(lastPart(m.ID)); ok {
			m.fill(other)
		}
	}
	return m
}

// anywhere finds a model by name at any provider. One that several have is no
// single one's: it gets the window that most of them give it, the smaller of
// two, and no prices.
func (c *Catalog) anywhere(name string) (Model, bool) {
	var at []Model
	for _, s := range spellings(name) {
		if named := c.content().byName()[s]; len(named) > 0 {
			for _, e := range named {
				at = append(at, modelOf(e.Provider, e.Model))
			}
			break
		}
	}
	switch len(at) {
	case 0:
		return Model{}, false
	case 1:
		return at[0], true
	}
	m := Model{ID: name}
	m.Encoding, m.ExactCounts = encodingOf(name)
	m.ContextWindow = commonest(at, func(m Model) *int { return m.ContextWindow })
	m.fill(Model{MaxOutput: commonest(at, func(m Model) *int { return m.MaxOutput })})
	return m, true
}

func commonest(ms []Model, field func(Model) *int) (best *int) {
	votes := make(map[int]int)
	for _, m := range ms {
		if v := field(m); v != nil {
			votes[*v]++
		}
	}
	for v, n := range votes {
		if best == nil || n > votes[*best] || n == votes[*best] && v < *best {
			best = &v
		}
	}
	return best
}
