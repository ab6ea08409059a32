package tokens_test

import (
	"net/http"
	"os"
	"strings"
	"testing"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/tokens"
	"github.com/kagewasm/kagewasm/tokens/internal/reference"
)

// noNetwork is what the whole package runs with: counting must not download.
type noNetwork struct{}

func (noNetwork) RoundTrip(r *http.Request) (*http.Response, error) {
	panic("network used: " + r.URL.String())
}

func TestMain(m *testing.M) {
	http.DefaultTransport = noNetwork{}
	os.Exit(m.Run())
}

// plain is tiktoken-go's own count.
func plain(e tokens.Encoding, s string) int { return len(reference.IDs(string(e), s)) }

var encodings = []tokens.Encoding{tokens.O200k, tokens.CL100k}

func counter(tb testing.TB, e tokens.Encoding, opts tokens.Options) *tokens.Counter {
	tb.Helper()
	c, err := tokens.New(e, opts)
	if err != nil {
		tb.Fatal(err)
	}
	return c
}

// uncached counts every text again.
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
	"dashes":            "-",
	"rules":             strings.Repeat("-", 150) + "x",
	"line ends":         "\r\n",
	"tabs, spaces":      "\t ",
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
