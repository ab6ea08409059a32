package tokens

import (
	"cmp"
	"fmt"
	"sync"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/pkoukk/tiktoken-go"
)

// Encoding names a vocabulary and the way text is split for it.
type Encoding string

const (
	// O200k is the encoding of OpenAI's models since gpt-4o, and the estimate
	// for everybody else's.
	O200k Encoding = "o200k_base"
	// CL100k is the encoding of gpt-4 and gpt-3.5.
	CL100k Encoding = "cl100k_base"
)

// encoder counts a text that is known to be small and to hold no long piece.
// Implementations are safe for concurrent use and never change.
type encoder interface {
	count(s string) int
}

// vocabulary is what belongs to an encoding. The ranks take 0.05 to 0.15 s and
// 11 to 22 MB to load, so they are loaded with the first text that is counted,
// once in a process.
type vocabulary struct {
	bounds *boundaries
	load   func() encoder
}

var vocabularies = map[Encoding]vocabulary{
	O200k:  {&o200kBounds, loadOnce(O200k, o200kPattern, o200kRanks)},
	CL100k: {&cl100kBounds, loadOnce(CL100k, cl100kPattern, cl100kRanks)},
}

func (e Encoding) vocabulary() (vocabulary, error) {
	e = cmp.Or(e, O200k)
	v, ok := vocabularies[e]
	if !ok {
		return v, &abi.Error{Code: abi.CodeUsage, Op: "tokens", Message: fmt.Sprintf("unknown encoding %q", string(e)),
			Hint: fmt.Sprintf("use %s or %s", O200k, CL100k)}
	}
	return v, nil
}

// loadOnce panics in the function it returns where the ranks that are linked
// into the program cannot be read: there is nothing a caller could do.
func loadOnce(e Encoding, pattern string, gz []byte) func() encoder {
	return sync.OnceValue(func() encoder {
		enc, err := newTiktoken(e, pattern, gz)
		if err != nil {
			panic(fmt.Sprintf("tokens: embedded ranks of %s: %v", e, err))
		}
		return enc
	})
}

// The patterns by which OpenAI splits text before it merges bytes.
const (
	o200kPattern = `[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?` +
		`|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?` +
		`|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+`
	cl100kPattern = `(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}` +
		`| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+`
)

// tiktokenEncoder counts with tiktoken-go. It has no special tokens, and was
// built without the package's registry, which would download.
type tiktokenEncoder struct{ bpe *tiktoken.Tiktoken }

func newTiktoken(e Encoding, pattern string, gz []byte) (encoder, error) {
	ranks, err := readRanks(gz)
	if err != nil {
		return nil, err
	}
	core, err := tiktoken.NewCoreBPE(ranks, nil, pattern)
	if err != nil {
		return nil, err
	}
	enc := &tiktoken.Encoding{Name: string(e), PatStr: pattern, MergeableRanks: ranks}
	return tiktokenEncoder{tiktoken.NewTiktoken(core, enc, nil)}, nil
}

func (t tiktokenEncoder) count(s string) int { return len(t.bpe.EncodeOrdinary(s)) }
