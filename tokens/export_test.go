package tokens

import (
	"iter"

	"github.com/kagewasm/kagewasm/tokens/internal/catalog"
)

// Chunks cuts s as a counter does, but at the first certain boundary after min
// bytes.
func Chunks(e Encoding, s string, min int) (chunks []string, certain bool) {
	v, err := e.vocabulary()
	if err != nil {
		panic(err)
	}
	certain = true
	for s != "" {
		n, ok := v.bounds.chunk(s, min)
		chunks, s, certain = append(chunks, s[:n]), s[n:], certain && ok
	}
	return chunks, certain
}

// Pattern is the splitting pattern of an encoding.
func Pattern(e Encoding) string {
	return map[Encoding]string{O200k: o200kPattern, CL100k: cl100kPattern}[e]
}

// ReadRanks reads a vocabulary.
var ReadRanks = readRanks

// Load makes the encoder of an encoding, as the first text does that is counted.
func Load(e Encoding) {
	if e == CL100k {
		loadOnce(e, cl100kPattern, cl100kRanks)()
	} else {
		loadOnce(e, o200kPattern, o200kRanks)()
	}
}

// Cached is how many counts c remembers.
func (c *Counter) Cached() int {
	c.cache.mu.Lock()
	defer c.cache.mu.Unlock()
	return len(c.cache.young) + len(c.cache.old)
}

// Sources says where the catalog comes from.
func (c *Catalog) Sources() []catalog.Source { return c.doc.Sources }

// Models yields every model of the catalog, by provider.
func (c *Catalog) Models() iter.Seq[Model] {
	return func(yield func(Model) bool) {
		for _, p := range c.doc.Providers {
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

	MaxPiece = maxPiece
	MinChunk = minChunk
)
