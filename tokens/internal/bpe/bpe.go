// Package bpe counts the tokens of a text as tiktoken does, in time linear in the text whatever it is.
//
// A text is split into pieces (split.go), as the regular expressions of the encodings do it. How many tokens a short
// one has is remembered (memo.go). Others are looked up (vocabulary.go) or encoded (encode.go), which asks what tokens
// were merged from (origin.go) and what two merge to (merges.go), and falls back to merging pair by pair (pairs.go), a
// window at a time (windows.go). The vocabularies are embedded as genranks writes them.
package bpe

import (
	"context"
	_ "embed"
	"sync"
	"sync/atomic"
)

// Encoding is one of OpenAI's encodings. It is safe for concurrent use.
type Encoding struct {
	split func(*splitter, int) int
	load  func() *vocabulary
	// idle is a walker that nobody uses, which knows many words; walkers are others, which the collector may take.
	idle    atomic.Pointer[walker]
	walkers sync.Pool
}

var (
	//go:embed o200k_base.labels
	o200kLabels []byte
	//go:embed o200k_base.vocabulary
	o200k []byte
	//go:embed cl100k_base.labels
	cl100kLabels []byte
	//go:embed cl100k_base.vocabulary
	cl100k []byte
)

// The encodings. Each loads its vocabulary when it first counts.
var (
	O200k  = newEncoding(loadO200k, (*splitter).o200k)
	CL100k = newEncoding(loadCL100k, (*splitter).cl100k)
)

func loadO200k() *vocabulary  { return readVocabulary(o200kLabels, o200k) }
func loadCL100k() *vocabulary { return readVocabulary(cl100kLabels, cl100k) }

func newEncoding(load func() *vocabulary, split func(*splitter, int) int) *Encoding {
	return &Encoding{split: split, load: sync.OnceValue(load)}
}

// Count returns the number of tokens in text. Special tokens in it are plain text. The only error is the context's own.
func (e *Encoding) Count(ctx context.Context, text string) (n int, err error) {
	w := e.walk(text)
	defer e.done(w)
	for w.next(ctx) {
		known, at := w.recall(w.piece)
		if known == 0 {
			known = w.learn(ctx, at)
		}
		n += known
	}
	return n, w.err
}
