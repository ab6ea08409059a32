package rank_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/kagewasm/kagewasm/internal/features"
	"github.com/kagewasm/kagewasm/strategies/rank"
)

// largeWords makes a conversation of about 500,000 tokens, or 380,000 words: lines
// of a person and pages of an assistant, the words as frequent as words are.
const largeWords = 380_000

var largeQueries = []string{
	"word3 word17 word40 word900 word2500 word11000",
	"When did word8 meet word77 about the word4001 of word15000?",
	"word1 word2 word5 word9 word12 word30 word60 word120",
	"word19999",
}

func largeConversation() (texts []rank.Text) {
	rng := rand.New(rand.NewPCG(1, 2))
	frequency := rand.NewZipf(rng, 1.1, 8, 20_000)
	for n := 0; n < largeWords; {
		length := 30
		if len(texts)%2 == 1 {
			length = 350
		}
		var body strings.Builder
		for i := range length {
			fmt.Fprintf(&body, "word%d ", frequency.Uint64())
			if i%14 == 13 {
				body.WriteString(". ")
			}
		}
		texts = append(texts, said([]string{"user", "assistant"}[len(texts)%2], fmt.Sprint(len(texts)/60), body.String()))
		n += length
	}
	return texts
}

// BenchmarkSearchLarge searches 500,000 tokens, of which there is an index.
func BenchmarkSearchLarge(b *testing.B) {
	ix, opts := indexOf(largeConversation()...), rank.Conversation()
	opts.Limit, opts.Passages = 20, true
	n := 0
	for b.Loop() {
		ix.Search(largeQueries[n%len(largeQueries)], opts)
		n++
	}
}

// TestSearchIsNoScan: a search of a large index takes a small part of the time in
// which the texts are looked through once.
func TestSearchIsNoScan(t *testing.T) {
	features.Proves(t, "N9")
	texts := largeConversation()
	ix, opts := indexOf(texts...), rank.Conversation()
	opts.Limit, opts.Passages = 20, true
	scan, search := time.Hour, time.Hour
	for range 3 {
		scan = min(scan, took(func() {
			for i := range texts {
				rank.Terms(texts[i].Body, func([]byte, int, int) bool { return true })
			}
		}))
		search = min(search, took(func() {
			for _, q := range largeQueries {
				ix.Search(q, opts)
			}
		})/time.Duration(len(largeQueries)))
	}
	t.Logf("a search %v, a scan of the texts %v", search, scan)
	if search > scan/4 {
		t.Errorf("a search takes %v, and a scan of the texts %v", search, scan)
	}
}

func took(f func()) time.Duration {
	start := time.Now()
	f()
	return time.Since(start)
}
