package tokens

import (
	_ "embed"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/kagewasm/kagewasm/tokens/internal/catalog"
)

// Catalog is what is published about models. It never changes: newer data
// comes with a newer program, and from the operator through [Override].
type Catalog struct {
	content func() *content
	asOf    func() string
}

// content is what a catalog says. It is read when a model is asked for by a name: many
// sessions do not say theirs.
type content struct {
	*catalog.Document
	of     map[string]*catalog.Provider
	byName func() map[string][]entry // by id, by other exact names, by the last part of these
}

// entry is a model at a provider.
type entry struct {
	*catalog.Provider
	*catalog.Model
}

//go:embed catalog.json.gz
var embedded []byte

var defaultCatalog = &Catalog{content: sync.OnceValue(func() *content {
	doc, err := catalog.Read(embedded)
	if err != nil {
		panic("tokens: embedded catalog: " + err.Error())
	}
	p := &content{Document: doc, of: make(map[string]*catalog.Provider)}
	for _, provider := range doc.Providers {
		p.of[provider.ID] = provider
	}
	p.byName = sync.OnceValue(p.names)
	return p
}), asOf: sync.OnceValue(func() string {
	day, err := catalog.AsOf(embedded)
	if err != nil {
		panic("tokens: embedded catalog: " + err.Error())
	}
	return day
})}

// Default returns the catalog that is linked into the program. It is read when it is first
// asked for something, in some milliseconds.
func Default() *Catalog { return defaultCatalog }

func (l *content) names() map[string][]entry {
	byName := make(map[string][]entry)
	for _, p := range l.Providers {
		for _, m := range p.Models {
			names := []string{m.ID}
			if m.Match != nil {
				names = append(names, m.Match.Equal...)
			}
			seen := make(map[string]bool)
			for _, n := range names {
				for _, n := range []string{n, lastPart(n)} {
					if !seen[n] {
						seen[n] = true
						byName[n] = append(byName[n], entry{p, m})
					}
				}
			}
		}
	}
	return byName
}

// AsOf returns the day the catalog's prices hold for, YYYY-MM-DD.
func (c *Catalog) AsOf() string { return c.asOf() }

// Names returns the models' own names at all providers, sorted, without the providers'.
func (c *Catalog) Names() []string {
	seen := make(map[string]bool)
	for _, p := range c.content().Providers {
		for _, m := range p.Models {
			seen[lastPart(m.ID)] = true
		}
	}
	return slices.Sorted(maps.Keys(seen))
}

// Lookup finds a model by its provider's name and its own, with aliases and
// dated or otherwise decorated names resolved. It reports false where the
// provider is not known or has no such model.
func (c *Catalog) Lookup(provider, model string) (Model, bool) {
	m, ok := c.lookup(canonical(fold(provider)), fold(model))
	return m, ok
}

func (c *Catalog) lookup(provider, model string) (Model, bool) {
	p, ok := c.content().of[provider]
	if !ok {
		return Model{}, false
	}
	for _, id := range spellings(model) {
		if e := p.Find(id); e != nil {
			return modelOf(p, e), true
		}
	}
	return Model{}, false
}

func modelOf(p *catalog.Provider, e *catalog.Model) Model {
	m := Model{Provider: p.ID, ID: e.ID, Prices: pricesOf(e.Prices)}
	m.Encoding, m.ExactCounts = encodingOf(e.ID)
	if e.Window > 0 {
		m.ContextWindow = new(e.Window)
	}
	if e.Output > 0 {
		m.MaxOutput = new(e.Output)
	}
	return m
}

func pricesOf(p *catalog.Prices) *Prices {
	if p == nil {
		return nil
	}
	out := &Prices{Rates: ratesOf(p.Rates)}
	for _, t := range p.Tiers {
		out.Tiers = append(out.Tiers, Tier{Above: t.Above, Rates: ratesOf(t.Rates)})
	}
	return out
}

func ratesOf(r catalog.Rates) Rates {
	return Rates{Input: r[0], Output: r[1], CacheRead: r[2], CacheWrite: r[3]}
}

func fold(s string) string { return strings.ToLower(strings.TrimSpace(s)) }

func lastPart(id string) string { return id[strings.LastIndexByte(id, '/')+1:] }
