package tokens

import (
	"iter"

	"github.com/kagewasm/kagewasm/tokens/internal/catalog"
)

// Cached is how many counts c remembers.
func (c *Counter) Cached() int {
	c.cache.mu.Lock()
	defer c.cache.mu.Unlock()
	return len(c.cache.young) + len(c.cache.old)
}

// Sources says where the catalog comes from.
func (c *Catalog) Sources() []catalog.Source { return c.content().Sources }

// Models yields every model of the catalog, by provider.
func (c *Catalog) Models() iter.Seq[Model] {
	return func(yield func(Model) bool) {
		for _, p := range c.content().Providers {
			for _, e := range p.Models {
				if !yield(modelOf(p, e)) {
					return
				}
			}
		}
	}
}

const (
	MessageTokens  = messageTokens
	NameTokens     = nameTokens
	ToolCallTokens = toolCallTokens
	ToolsTokens    = toolsTokens
	ImageTokens    = imageTokens
)
