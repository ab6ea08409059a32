package tokens

import (
	"cmp"
	"context"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/tokens/internal/bpe"
)

// Counter counts tokens in one encoding. It is safe for concurrent use, and
// remembers what it has counted: a session that is counted again costs the
// hashing of its texts.
type Counter struct {
	encoding Encoding
	engine   *bpe.Encoding
	cache    *cache
}

var _ abi.ContextCounter = (*Counter)(nil)

// Options of a [Counter]. The zero value is the default.
type Options struct {
	// CacheEntries is how many texts' counts are remembered, at about 100
	// bytes each whatever the length of the text. 0 is 65,536; negative
	// remembers none.
	CacheEntries int
}

const defaultCacheEntries = 1 << 16

// minRemembered is the least length of a text whose count is remembered, in bytes: shorter ones are counted faster than
// they are found.
const minRemembered = 32

// Count is the number of tokens of something.
type Count struct {
	Tokens int
	// Exact is true where Tokens is the encoding's own count of the texts. It
	// is false where something that is not text was estimated: an image, a
	// document, tool definitions.
	Exact bool
}

// New returns a counter for the encoding; the empty one is [O200k]. The error,
// for an unknown encoding, has [abi.CodeUsage].
func New(e Encoding, opts Options) (*Counter, error) {
	engine, err := e.engine()
	if err != nil {
		return nil, err
	}
	opts.CacheEntries = cmp.Or(opts.CacheEntries, defaultCacheEntries)
	return &Counter{encoding: cmp.Or(e, O200k), engine: engine, cache: newCache(opts.CacheEntries)}, nil
}

// Encoding returns the encoding that is counted in.
func (c *Counter) Encoding() Encoding { return c.encoding }

// Text counts a bare text.
func (c *Counter) Text(s string) int {
	n, _ := c.TextContext(context.Background(), s)
	return n
}

// TextContext implements [abi.ContextCounter]. The context is looked at every
// few dozen microseconds.
func (c *Counter) TextContext(ctx context.Context, s string) (int, error) {
	if s == "" {
		return 0, nil
	}
	if len(s) < minRemembered {
		return c.engine.Count(ctx, s)
	}
	key := c.cache.key(s)
	if n, ok := c.cache.get(key); ok {
		return n, nil
	}
	n, err := c.engine.Count(ctx, s)
	if err != nil {
		return 0, err
	}
	c.cache.put(key, n)
	return n, nil
}
