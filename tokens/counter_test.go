package tokens_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/tokens"
)

func TestTextKnownCounts(t *testing.T) {
	for _, tc := range []struct {
		text          string
		cl100k, o200k int
		why           string
	}{
		{"", 0, 0, "nothing is nothing"},
		{"tiktoken is great!", 6, 6, "OpenAI's cookbook"},
		{"antidisestablishmentarianism", 6, 6, "OpenAI's cookbook, a comparison of encodings"},
		{"2 + 2 = 4", 7, 7, "OpenAI's cookbook, a comparison of encodings"},
		{"お誕生日おめでとう", 9, 8, "OpenAI's cookbook, a comparison of encodings"},
		{"hello world", 2, 2, "two words of the vocabulary"},
		{"<|endoftext|>", 7, 7, "a special token is plain text, not one token"},
	} {
		t.Run(fmt.Sprintf("%q", tc.text), func(t *testing.T) {
			if got := counter(t, tokens.CL100k, uncached).Text(tc.text); got != tc.cl100k {
				t.Errorf("%s: cl100k counts %q as %d, want %d", tc.why, tc.text, got, tc.cl100k)
			}
			if got := counter(t, tokens.O200k, uncached).Text(tc.text); got != tc.o200k {
				t.Errorf("%s: o200k counts %q as %d, want %d", tc.why, tc.text, got, tc.o200k)
			}
		})
	}
}

func TestNew(t *testing.T) {
	_, err := tokens.New("p50k_base", tokens.Options{})
	if abi.CodeOf(err) != abi.CodeUsage {
		t.Errorf("an encoding that is not there: %v, want code %s", err, abi.CodeUsage)
	}
	if got := counter(t, "", tokens.Options{}).Encoding(); got != tokens.O200k {
		t.Errorf("no encoding: %q, want the default", got)
	}
}

func TestCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	c := counter(t, tokens.O200k, tokens.Options{})
	if _, err := c.TextContext(ctx, "one two"); !errors.Is(err, context.Canceled) {
		t.Errorf("err = %v, want the context's", err)
	}
	m := user("one two three")
	if _, err := c.MeasureMessage(ctx, &m); !errors.Is(err, context.Canceled) {
		t.Errorf("message: err = %v, want the context's", err)
	}
	if _, err := c.Tools(ctx, []byte(`[{"name":"x"}]`)); !errors.Is(err, context.Canceled) {
		t.Errorf("tools: err = %v, want the context's", err)
	}
	if got, want := c.Text("one two"), plain(tokens.O200k, "one two"); got != want {
		t.Errorf("after a count that was given up: %d, want %d", got, want)
	}
}

func TestCacheIsBounded(t *testing.T) {
	const entries = 64
	c := counter(t, tokens.O200k, tokens.Options{CacheEntries: entries})
	want := c.Text("kept")
	for i := range 10 * entries {
		c.Text(strings.Repeat("x ", i))
		if got := c.Text("kept"); got != want {
			t.Fatalf("a cached count of %d became %d", want, got)
		}
	}
	if got := c.Cached(); got > entries {
		t.Errorf("%d counts are cached, over %d", got, entries)
	}
}

func TestCounterIsConcurrent(t *testing.T) {
	texts := make([]string, 50)
	want := make([]int, len(texts))
	for i := range texts {
		texts[i] = repeat("The quick brown fox isn't lazy. 12345\n\n", 20*i)
		want[i] = plain(tokens.O200k, texts[i])
	}
	c := counter(t, tokens.O200k, tokens.Options{CacheEntries: 20})
	var wg sync.WaitGroup
	for g := range 8 {
		wg.Go(func() {
			for i := range 200 {
				k := (i*7 + g) % len(texts)
				if got := c.Text(texts[k]); got != want[k] {
					t.Errorf("text %d: %d, want %d", k, got, want[k])
					return
				}
			}
		})
	}
	wg.Wait()
}

// A count from the cache costs no allocation, whatever the length of the text.
func TestCachedCountIsCheap(t *testing.T) {
	c := counter(t, tokens.O200k, tokens.Options{})
	text := repeat("The quick brown fox. ", 1<<16)
	c.Text(text)
	if n := testing.AllocsPerRun(100, func() { c.Text(text) }); n > 0 {
		t.Errorf("%v allocations", n)
	}
}
