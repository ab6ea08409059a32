package tokens

import (
	"cmp"
	"context"

	"github.com/kagewasm/kagewasm/abi"
)

// Counter counts tokens in one encoding. It is safe for concurrent use, and
// remembers what it has counted: a session that is counted again costs the
// hashing of its texts.
type Counter struct {
	encoding Encoding
	bounds   *boundaries
	load     func() encoder
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

// Count is the number of tokens of something.
type Count struct {
	Tokens int
	// Exact is true where Tokens is the encoding's own count of the texts. It
	// is false where a text had to be cut inside a piece, once in 512 bytes;
	// such a count is an estimate, as a rule from above, and off by at most
	// two tokens a cut in all that was measured. It is false, too, where
	// something that is not text was estimated: an image, a document.
	Exact bool
}

// New returns a counter for the encoding; the empty one is [O200k]. The error,
// for an unknown encoding, has [abi.CodeUsage].
func New(e Encoding, opts Options) (*Counter, error) {
	v, err := e.vocabulary()
	if err != nil {
		return nil, err
	}
	e = cmp.Or(e, O200k)
	opts.CacheEntries = cmp.Or(opts.CacheEntries, defaultCacheEntries)
	return &Counter{encoding: e, bounds: v.bounds, load: v.load, cache: newCache(opts.CacheEntries)}, nil
}

// Encoding is the encoding that is counted in.
func (c *Counter) Encoding() Encoding { return c.encoding }

// Text counts a bare text.
func (c *Counter) Text(s string) int {
	n, _ := c.Measure(context.Background(), s)
	return n.Tokens
}

// TextContext implements [abi.ContextCounter].
func (c *Counter) TextContext(ctx context.Context, s string) (int, error) {
	n, err := c.Measure(ctx, s)
	return n.Tokens, err
}

// Measure counts a bare text and says whether the count is exact. The only
// error is the context's own, looked at every few kilobytes.
func (c *Counter) Measure(ctx context.Context, s string) (Count, error) {
	if s == "" {
		return Count{Exact: true}, nil
	}
	key := c.cache.key(s)
	if n, ok := c.cache.get(key); ok {
		return n, nil
	}
	n := Count{Exact: true}
	enc := c.load()
	for s != "" {
		if err := ctx.Err(); err != nil {
			return Count{}, err
		}
		end, certain := c.bounds.chunk(s, minChunk)
		n.Tokens += enc.count(s[:end])
		n.Exact = n.Exact && certain
		s = s[end:]
	}
	c.cache.put(key, n)
	return n, nil
}
