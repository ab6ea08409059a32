package tokens_test

import (
	"errors"
	"net/http"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/tokens"
	"github.com/pkoukk/tiktoken-go"
	loader "github.com/pkoukk/tiktoken-go-loader"
	"pgregory.net/rapid"
)

// noNetwork is what the whole package runs with: counting must not download.
type noNetwork struct{}

func (noNetwork) RoundTrip(r *http.Request) (*http.Response, error) {
	panic("network used: " + r.URL.String())
}

func TestMain(m *testing.M) {
	http.DefaultTransport = noNetwork{}
	tiktoken.SetBpeLoader(downloader{})
	os.Exit(m.Run())
}

// downloader stands for tiktoken-go's own loader, which downloads. The
// reference counts of the tests go through it, by names that it allows.
type downloader struct{}

func (downloader) LoadTiktokenBpe(url string) (map[string]int, error) {
	if !reference.loading {
		return nil, errors.New("tiktoken-go's global loader was used")
	}
	return loader.NewOfflineLoader().LoadTiktokenBpe(url)
}

var reference struct {
	mu      sync.Mutex
	loading bool
	enc     map[tokens.Encoding]*tiktoken.Tiktoken
}

// plain is tiktoken-go's own count, through its own registry.
func plain(tb rapid.TB, e tokens.Encoding, s string) int {
	tb.Helper()
	reference.mu.Lock()
	enc := reference.enc[e]
	if enc == nil {
		var err error
		reference.loading = true
		if enc, err = tiktoken.GetEncoding(string(e)); err != nil {
			tb.Fatal(err)
		}
		reference.loading = false
		if reference.enc == nil {
			reference.enc = make(map[tokens.Encoding]*tiktoken.Tiktoken)
		}
		reference.enc[e] = enc
	}
	reference.mu.Unlock()
	return len(enc.EncodeOrdinary(s))
}

var encodings = []tokens.Encoding{tokens.O200k, tokens.CL100k}

func counter(tb testing.TB, e tokens.Encoding, opts tokens.Options) *tokens.Counter {
	tb.Helper()
	c, err := tokens.New(e, opts)
	if err != nil {
		tb.Fatal(err)
	}
	return c
}

// uncached counts every text anew.
var uncached = tokens.Options{CacheEntries: -1}

func user(text string) abi.Message {
	return abi.Message{Role: abi.RoleUser, Content: abi.Text(text)}
}

// adversarial are texts on which a careless counter takes super-linear time or
// memory, each repeated to some size.
var adversarial = map[string]string{
	"letters":           "a",
	"capitals":          "A",
	"mixed case":        "aA",
	"spaces":            " ",
	"tabs":              "\t",
	"newlines":          "\n",
	"spaces, newlines":  "  \n",
	"line separators":   "\u2028",
	"digits":            "7",
	"apostrophes":       "'",
	"contractions":      "'s",
	"word, apostrophe":  "a'",
	"punctuation":       "=",
	"slashes":           "/\n",
	"dots, newlines":    ".\n",
	"han":               "漢",
	"thai":              "กำ",
	"emoji":             "😀",
	"joined emoji":      "👩\u200d👩\u200d👧",
	"combining marks":   "\u0301",
	"letter with marks": "e\u0301\u0301",
	"dots with marks":   "..\u0301",
	"special token":     "<|endoftext|>",
	"invalid utf-8":     "\xff",
	"nul":               "\x00",
	"base64":            "aGVsbG8gd29ybGQK",
	"hex":               "deadBEEF0123",
	"lone surrogates":   "\xed\xa0\x80",
	"prose":             "The quick brown fox isn't lazy. ",
}

func repeat(s string, size int) string { return strings.Repeat(s, size/len(s)+1)[:size] }
